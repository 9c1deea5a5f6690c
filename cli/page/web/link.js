// What the page shows, in the fragment of its address, so that a link leads to it:
// #at=7140&runs=0,2&find=bert.

const LINK_DELAY = 400; // ms; browsers limit how often an address may change

class Link {
  // `follow(values)`: the user has opened another fragment.
  constructor(follow) {
    window.addEventListener("hashchange", () => follow(this.values));
  }

  get values() {
    return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  }

  // Puts the values that are not empty into the address, unless others follow at once.
  put(values) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
      history.replaceState(null, "", `#${new URLSearchParams(given)}`);
    }, LINK_DELAY);
  }
}
