// One run, or the cluster: totals, waiting jobs, and the nodes in groups that fold.

const GROUP_SIZE = 64; // nodes

// Groups nodes by zone and rack, and splits large groups, so that an unfolded one stays small.
function groupsOf(nodes) {
  const byGroup = new Map();
  for (const name of [...nodes.keys()].sort()) {
    const group = nodes.get(name).group ?? "";
    if (!byGroup.has(group)) byGroup.set(group, []);
    byGroup.get(group).push(name);
  }
  const groups = [];
  for (const [group, names] of byGroup) {
    for (let from = 0; from < names.length; from += GROUP_SIZE) {
      const part = names.slice(from, from + GROUP_SIZE);
      const ends = part.length > 1 ? `${part[0]} to ${part[part.length - 1]}` : part[0];
      groups.push({ name: group && names.length <= GROUP_SIZE ? group : group ? `${group}: ${ends}` : ends, nodes: part });
    }
  }
  return groups;
}

const GPU_MEMBERS = ["gpus", "slices", "turns"];
const MEMBERS = [...GPU_MEMBERS, "cpu", "memory"];

function noAmounts() {
  return { gpus: 0, slices: 0, turns: 0, cpu: 0, memory: 0 };
}

function noTotals() {
  return { taken: noAmounts(), all: noAmounts(), freeGpus: 0, mostFreeGpus: 0 };
}

function addTotals(sum, totals) {
  for (const member of MEMBERS) {
    sum.taken[member] += totals.taken[member];
    sum.all[member] += totals.all[member];
  }
  sum.freeGpus += totals.freeGpus;
  sum.mostFreeGpus = Math.max(sum.mostFreeGpus, totals.mostFreeGpus);
}

// Returns the totals of one node.
function totalsOf(map, name) {
  const totals = noTotals();
  const node = map.nodes.get(name);
  for (const member of GPU_MEMBERS) totals.all[member] = gpusOf(node, member);
  for (const member of ["cpu", "memory"]) {
    totals.all[member] = node.allocatable[member];
    totals.taken[member] = node.others[member];
  }
  for (const pod of map.podsOf.get(name)?.values() ?? []) {
    for (const member of GPU_MEMBERS) totals.taken[member] += pod[member] ?? 0;
    totals.taken.cpu += pod.allocation.cpu;
    totals.taken.memory += pod.allocation.memory;
  }
  totals.freeGpus = node.schedulable ? Math.max(node.allocatable.gpus - totals.taken.gpus, 0) : 0;
  totals.mostFreeGpus = totals.freeGpus;
  return totals;
}

function totalsText({ taken, all }) {
  const part = (member) => percentText(taken[member] / Math.max(all[member], 1e-9));
  const offered = GPU_MEMBERS.filter((member) => member === "gpus" || all[member] > 0);
  const gpus = offered.map((member) => `${taken[member]} of ${gpusText({ [member]: all[member] })}`);
  return `${gpus.join(", ")}, ${part("cpu")} of the CPU, ${part("memory")} of the memory allocated`;
}

// Sorts pods so that those with the same profile are side by side.
function inOrder(pods = new Map()) {
  const rank = ([key, pod]) => [pod.profile ?? "", pod.name, key].join("\n");
  return [...pods].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

// Sorts pods by the start of their wait, the longest wait first.
function bySince(pods) {
  return [...pods].sort(([a, one], [b, other]) => (one.since ?? 0) - (other.since ?? 0) || (a < b ? -1 : 1));
}

class GroupView {
  constructor(group, open) {
    this.names = group.nodes;
    this.title = make("span", { className: "group-name", textContent: group.name });
    this.totals = make("span", { className: "group-totals" });
    this.chosen = make("span", { className: "group-chosen" });
    this.list = make("ul", { className: "nodes" });
    this.list.setAttribute("aria-label", `nodes of ${group.name}`);
    this.element = make("details", { open }, make("summary", {}, this.title, this.totals, this.chosen), this.list);
    this.boxes = new Map();
  }

  // `isShown(name)`: whether the user looks for that node; `chosen`: a gang, and how many of its
  // members are on each node. Folded groups draw only their summary.
  draw(map, time, totals, isShown, chosen) {
    const nodes = this.names.filter(isShown);
    this.element.hidden = nodes.length === 0;
    if (this.element.hidden) return;
    setText(this.totals, totalsText(totals));
    const members = this.names.reduce((sum, name) => sum + (chosen.on.get(name) ?? 0), 0);
    setText(this.chosen, members > 0 ? `${members} of gang ${chosen.gang}` : "");
    if (!this.element.open) return;
    const elements = nodes.map((name) => {
      if (!this.boxes.has(name)) this.boxes.set(name, new NodeBox(name));
      const box = this.boxes.get(name);
      box.draw(name, map.nodes.get(name), inOrder(map.podsOf.get(name)));
      box.tick(time);
      return box.element;
    });
    if (!sameParts([...this.list.children], elements)) this.list.replaceChildren(...elements);
  }
}

// Returns the button that an arrow key leads to from a pod's button.
function neighbour(buttons, button, key) {
  const at = buttons.indexOf(button);
  switch (key) {
    case "ArrowDown":
      return buttons[at + 1];
    case "ArrowUp":
      return buttons[at - 1];
    case "Home":
      return buttons[0];
    case "End":
      return buttons[buttons.length - 1];
    case "ArrowRight":
      return buttons.slice(at + 1).find((other) => other.closest(".node") !== button.closest(".node"));
    case "ArrowLeft": {
      const before = buttons.slice(0, at).findLast((other) => other.closest(".node") !== button.closest(".node"));
      return before && buttons.find((other) => other.closest(".node") === before.closest(".node"));
    }
    default:
      return undefined;
  }
}

class RunView {
  // `heading`: an element; `onPod(key)`, `onWorkload(key)`: the user requests its details.
  constructor(heading, { onPod, onWorkload }, redraw) {
    this.redraw = redraw;
    this.figures = make("p", { className: "figures" });
    this.notes = make("ul", { className: "notes" });
    this.totals = make("p", { className: "totals" });
    this.waiting = new WaitingTable();
    this.running = new RunningTable();
    this.more = new MoreTables();
    this.nodes = make("h3", { textContent: "Nodes" });
    this.heat = new HeatMap((name) => this.goToNode(name));
    this.map = make("div", { className: "map" });
    this.map.setAttribute("role", "group");
    this.map.setAttribute("aria-label", "Nodes");
    this.element = make("section", { className: "run" }, heading, this.figures, this.notes, this.totals, this.waiting.element, this.running.element, this.more.element, this.nodes, this.heat.element, this.map);
    this.groups = [];
    this.element.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      const { pod, choose, workload, gang } = button.dataset;
      if (choose) this.choose(choose === this.chosen ? undefined : choose);
      if (gang) this.choose(gang);
      if (pod) onPod(pod);
      if (workload) onWorkload(workload);
    });
    this.map.addEventListener("keydown", (event) => this.move(event));
    this.map.addEventListener("focusin", (event) => this.keep(event.target));
  }

  // Marks the gang's members until another gang is chosen, or none.
  choose(gang) {
    this.chosen = gang;
    this.redraw();
  }

  // Returns the chosen gang, if it still exists, and how many of its members are on each node.
  chosenOn(map) {
    const on = new Map();
    if (!map.gangs.has(this.chosen)) this.chosen = undefined;
    for (const { node } of map.membersOf.get(this.chosen)?.values() ?? []) on.set(node, (on.get(node) ?? 0) + 1);
    return { gang: this.chosen, on };
  }

  markChosen() {
    for (const button of this.element.querySelectorAll("button.of-chosen")) button.classList.toggle("of-chosen", button.dataset.gang === this.chosen);
    if (this.chosen === undefined) return;
    for (const button of this.element.querySelectorAll("button[data-gang]")) button.classList.toggle("of-chosen", button.dataset.gang === this.chosen);
  }

  // Unfolds the group of that node, and leads to it.
  goToNode(name) {
    const group = this.groups.find(({ names }) => names.includes(name));
    group.element.hidden = false;
    group.element.open = true;
    this.redraw();
    requestAnimationFrame(() => requestAnimationFrame(() => {
      const box = group.boxes.get(name)?.element;
      box?.scrollIntoView({ block: "center" });
      box?.querySelector("button.pod")?.focus({ preventScroll: true });
    }));
  }

  move(event) {
    const button = event.target.closest("button.pod");
    if (!button) return;
    const next = neighbour(this.buttons(), button, event.key);
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  buttons() {
    return [...this.map.querySelectorAll("details[open]:not([hidden]) button.pod")];
  }

  // Tab leads to only one of the pods, the one that had the focus last.
  keep(button) {
    if (!button.matches("button.pod")) return;
    if (this.current) this.current.tabIndex = -1;
    this.current = button;
    button.tabIndex = 0;
  }

  makeGroups(map) {
    if (map === this.drawn?.map && map.nodeSets === this.drawn.nodeSets) return;
    this.drawn = { map, nodeSets: map.nodeSets };
    const open = new Set(this.groups.filter((group) => group.element.open).map((group) => group.names[0]));
    this.groups = groupsOf(map.nodes).map((group, at) => new GroupView(group, open.has(group.nodes[0]) || at === 0));
    for (const group of this.groups) group.element.addEventListener("toggle", this.redraw);
    this.map.replaceChildren(...this.groups.map((group) => group.element));
  }

  // `wanted`: what the user looks for, in lower case; empty: everything. Returns how many nodes and
  // waiting pods match.
  draw(map, time, wanted) {
    this.makeGroups(map);
    const has = (text) => text?.toLowerCase().includes(wanted);
    const matches = (pod) => has(pod.name) || has(pod.profile) || has(pod.namespace) || has(pod.gang);
    const isShown = (name) => !wanted || has(name) || [...(map.podsOf.get(name)?.values() ?? [])].some(matches);
    const nodes = wanted ? [...map.nodes.keys()].filter(isShown).length : map.nodes.size;
    const sum = noTotals();
    const chosen = this.chosenOn(map);
    const each = [];
    for (const group of this.groups) {
      if (wanted !== this.wanted && wanted && nodes <= GROUP_SIZE) group.element.open = true;
      const totals = noTotals();
      for (const name of group.names) {
        const ofNode = totalsOf(map, name);
        addTotals(totals, ofNode);
        each.push({ name, totals: ofNode, isShown: isShown(name) });
      }
      addTotals(sum, totals);
      group.draw(map, time, totals, isShown, chosen);
    }
    this.heat.draw(each);
    this.wanted = wanted;
    this.why = (pod) => whyItWaits(pod, sum);
    this.nodes.hidden = map.nodes.size === 0;
    setText(this.totals, map.nodes.size === 0 ? "" : `${totalsText(sum)}.`);
    const waiting = bySince(map.waiting).filter(([, pod]) => !wanted || matches(pod));
    this.waiting.show(waiting, time, sum);
    const unseen = [...map.podsOf].filter(([node]) => !map.nodes.has(node)).flatMap(([, pods]) => [...pods]);
    this.running.show(unseen.filter(([, pod]) => !wanted || matches(pod)).sort(([, a], [, b]) => (a.name < b.name ? -1 : 1)), time);
    this.more.draw(map, this.chosen, (text) => !wanted || has(text));
    this.drawNotes(map.notes);
    this.markChosen();
    this.keepOneInTabOrder();
    return { nodes, waiting: waiting.length };
  }

  drawNotes(notes) {
    const texts = [...notes.values()].map((note) => note.text);
    if (sameParts(texts, [...this.notes.children].map((note) => note.textContent))) return;
    this.notes.replaceChildren(...texts.map((text) => make("li", { textContent: text })));
  }

  keepOneInTabOrder() {
    if (this.current?.isConnected && this.current.closest("details").open) return;
    const first = this.map.querySelector("details[open]:not([hidden]) button.pod");
    if (first) this.keep(first);
  }
}
