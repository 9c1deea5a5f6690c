// Elements of the page. Text comes in as text alone: nothing is ever read as HTML.

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function hidden(text) {
  return make("span", { className: "hidden", textContent: text });
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const percent = (part) => `${(100 * Math.min(Math.max(part, 0), 1)).toFixed(2)}%`;

// What of a node is taken, pod by pod: one element with a gradient.
function fillBar(bar, parts, whole) {
  const stops = [];
  let from = 0;
  for (const { amount, kind } of parts) {
    const to = from + amount / Math.max(whole, 1e-9);
    // A hair's breadth apart, so that pods can be told from each other.
    stops.push(`var(--${kind}) ${percent(from)} calc(${percent(to)} - 1px)`, `var(--gap) calc(${percent(to)} - 1px) ${percent(to)}`);
    from = to;
  }
  stops.push(`var(--free) ${percent(from)} 100%`);
  bar.style.backgroundImage = `linear-gradient(to right, ${stops.join(", ")})`;
}

// A pod's allocation in units of its fair share, up to three of them, as wide as the whole bar.
const SHARES = 3;

function fillBullet(bullet, pod, member) {
  const share = pod.fairShare[member] || 1;
  bullet.style.setProperty("--allocation", percent(pod.allocation[member] / share / SHARES));
  bullet.style.setProperty("--demand", percent(pod.demand[member] / share / SHARES));
}

// One pod of a node.
class PodBox {
  constructor(key) {
    this.name = make("span", { className: "name" });
    this.gpus = make("span", { className: "gpus" });
    this.words = hidden("");
    this.cpu = make("span", { className: "bullet" });
    this.memory = make("span", { className: "bullet" });
    this.button = make("button", { type: "button", tabIndex: -1 }, this.name, this.gpus, this.words, this.cpu, this.memory);
    this.button.dataset.pod = key;
    this.element = make("li", {}, this.button);
  }

  draw(pod) {
    if (this.pod === pod) return;
    this.pod = pod;
    setText(this.name, pod.name);
    setText(this.gpus, countText(pod.gpus, "GPU", "GPUs"));
    setText(this.words, `, ${sensitivityText(pod)}; CPU ${amountText(pod, "cpu", cpuText)}; memory ${amountText(pod, "memory", memoryText)}`);
    this.button.className = `pod ${sensitivityOf(pod)}`;
    for (const bullet of [this.cpu, this.memory]) bullet.hidden = !pod.demand;
    if (!pod.demand) return;
    fillBullet(this.cpu, pod, "cpu");
    fillBullet(this.memory, pod, "memory");
  }
}

const sameParts = (a, b) => a.length === b.length && a.every((one, at) => one === b[at]);

// A node: what is taken of it, and who is there.
class NodeBox {
  constructor(name) {
    this.title = make("h4", { textContent: name });
    this.rows = ["GPUs", "CPU", "memory"].map((what) => {
      const bar = make("span", { className: "bar" });
      const text = make("span", { className: "amount" });
      return { bar, text, element: make("p", {}, make("span", { className: "what", textContent: what }), bar, text) };
    });
    this.list = make("ul", { className: "pods" });
    this.list.setAttribute("aria-label", `jobs on ${name}`);
    this.element = make("li", { className: "node" }, this.title, ...this.rows.map((row) => row.element), this.list);
    this.boxes = new Map();
    this.pods = [];
  }

  // `pods`: [key, pod], in the order in which they are shown.
  draw(name, node, pods) {
    const objects = pods.map(([, pod]) => pod);
    if (this.node === node && sameParts(this.pods, objects)) return;
    this.node = node;
    this.pods = objects;
    setText(this.title, node.schedulable ? name : `${name} (cordoned)`);
    this.drawRow(0, "gpus", 0, String);
    this.drawRow(1, "cpu", node.others.cpu, cpuText);
    this.drawRow(2, "memory", node.others.memory, memoryText);
    this.drawPods(pods);
  }

  drawRow(row, member, others, text) {
    const whole = this.node.allocatable[member];
    const parts = this.pods.map((pod) => ({
      amount: member === "gpus" ? pod.gpus : pod.allocation[member],
      kind: sensitivityOf(pod),
    }));
    if (others > 0) parts.push({ amount: others, kind: "others" });
    fillBar(this.rows[row].bar, parts, whole);
    const taken = parts.reduce((sum, part) => sum + part.amount, 0);
    setText(this.rows[row].text, `${text(taken)} of ${text(whole)}`);
  }

  drawPods(pods) {
    const boxes = new Map();
    for (const [key, pod] of pods) {
      const box = this.boxes.get(key) ?? new PodBox(key);
      box.draw(pod);
      boxes.set(key, box);
    }
    for (const [key, box] of this.boxes) {
      if (!boxes.has(key)) box.element.remove();
    }
    this.boxes = boxes;
    // In their order, without touching those that stand where they should: focus stays.
    let place = this.list.firstElementChild;
    for (const box of boxes.values()) {
      if (box.element === place) place = place.nextElementSibling;
      else this.list.insertBefore(box.element, place);
    }
  }
}
