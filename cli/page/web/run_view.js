// One run, or the cluster: how much is taken, who waits, and the nodes in groups that fold.

const GROUP_SIZE = 64; // nodes
const MOST_WAITING = 200; // rows

// Nodes by zone and rack; large groups in parts, so that what is unfolded stays small.
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

const MEMBERS = ["gpus", "cpu", "memory"];

function noTotals() {
  return { taken: { gpus: 0, cpu: 0, memory: 0 }, all: { gpus: 0, cpu: 0, memory: 0 }, freeGpus: 0, mostFreeGpus: 0 };
}

function addTotals(sum, totals) {
  for (const member of MEMBERS) {
    sum.taken[member] += totals.taken[member];
    sum.all[member] += totals.all[member];
  }
  sum.freeGpus += totals.freeGpus;
  sum.mostFreeGpus = Math.max(sum.mostFreeGpus, totals.mostFreeGpus);
}

function totalsOf(map, names) {
  const totals = noTotals();
  for (const name of names) {
    const node = map.nodes.get(name);
    let gpus = 0;
    totals.taken.cpu += node.others.cpu;
    totals.taken.memory += node.others.memory;
    for (const pod of map.podsOf.get(name)?.values() ?? []) {
      gpus += pod.gpus;
      totals.taken.cpu += pod.allocation.cpu;
      totals.taken.memory += pod.allocation.memory;
    }
    totals.taken.gpus += gpus;
    for (const member of MEMBERS) totals.all[member] += node.allocatable[member];
    const free = node.schedulable ? Math.max(node.allocatable.gpus - gpus, 0) : 0;
    totals.freeGpus += free;
    totals.mostFreeGpus = Math.max(totals.mostFreeGpus, free);
  }
  return totals;
}

function totalsText({ taken, all }) {
  const part = (member) => percentText(taken[member] / Math.max(all[member], 1e-9));
  return `${taken.gpus} of ${countText(all.gpus, "GPU", "GPUs")}, ${part("cpu")} of the CPU, ${part("memory")} of the memory allocated`;
}

// Those of one profile side by side.
function inOrder(pods = new Map()) {
  const rank = ([key, pod]) => [pod.profile ?? "", pod.name, key].join("\n");
  return [...pods].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

// The oldest first.
function bySince(pods) {
  return [...pods].sort(([a, one], [b, other]) => (one.since ?? 0) - (other.since ?? 0) || (a < b ? -1 : 1));
}

class GroupView {
  constructor(group, open) {
    this.names = group.nodes;
    this.title = make("span", { className: "group-name", textContent: group.name });
    this.totals = make("span", { className: "group-totals" });
    this.list = make("ul", { className: "nodes" });
    this.list.setAttribute("aria-label", `nodes of ${group.name}`);
    this.element = make("details", { open }, make("summary", {}, this.title, this.totals), this.list);
    this.boxes = new Map();
  }

  // `isShown(name)`: whether the user looks for that node. Folded groups draw their summary only.
  draw(map, totals, isShown) {
    const nodes = this.names.filter(isShown);
    this.element.hidden = nodes.length === 0;
    if (this.element.hidden) return;
    setText(this.totals, totalsText(totals));
    if (!this.element.open) return;
    const elements = nodes.map((name) => {
      if (!this.boxes.has(name)) this.boxes.set(name, new NodeBox(name));
      const box = this.boxes.get(name);
      box.draw(name, map.nodes.get(name), inOrder(map.podsOf.get(name)));
      return box.element;
    });
    if (!sameParts([...this.list.children], elements)) this.list.replaceChildren(...elements);
  }
}

class WaitingRow {
  constructor(key) {
    this.button = make("button", { type: "button" });
    this.button.dataset.pod = key;
    this.cells = [make("td"), make("td"), make("td")];
    this.element = make("tr", {}, make("th", { scope: "row" }, this.button), ...this.cells);
  }

  draw(pod, time, totals) {
    setText(this.button, pod.name);
    this.button.className = sensitivityOf(pod);
    const since = pod.since === undefined ? "" : durationText(time - pod.since);
    [String(pod.gpus), since, whyItWaits(pod, totals)].forEach((text, at) => setText(this.cells[at], text));
  }
}

class WaitingTable {
  constructor() {
    this.summary = make("summary");
    this.body = make("tbody");
    this.rest = make("p");
    const head = ["Job", "GPUs", "Waits for", "Why"].map((text) => make("th", { scope: "col", textContent: text }));
    this.table = make("table", {}, make("thead", {}, make("tr", {}, ...head)), this.body);
    this.element = make("details", { className: "waiting", open: true }, this.summary, make("div", { className: "scroll" }, this.table), this.rest);
    this.rows = new Map();
  }

  draw(waiting, time, totals) {
    setText(this.summary, waiting.length === 0 ? "Nobody waits" : `${countText(waiting.length, "job waits", "jobs wait")}`);
    const shown = waiting.slice(0, MOST_WAITING);
    this.table.hidden = shown.length === 0;
    setText(this.rest, waiting.length > shown.length ? `and ${waiting.length - shown.length} more: find them by name` : "");
    const rows = new Map();
    for (const [key, pod] of shown) {
      const row = this.rows.get(key) ?? new WaitingRow(key);
      row.draw(pod, time, totals);
      rows.set(key, row);
    }
    this.rows = rows;
    const elements = [...rows.values()].map((row) => row.element);
    if (!sameParts([...this.body.children], elements)) this.body.replaceChildren(...elements);
  }
}

// Where the arrow keys lead from a pod's button.
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
  // `heading`: an element; `onPod(key)`: somebody asks for more about it.
  constructor(heading, onPod, redraw) {
    this.redraw = redraw;
    this.figures = make("p", { className: "figures" });
    this.totals = make("p", { className: "totals" });
    this.waiting = new WaitingTable();
    this.map = make("div", { className: "map" });
    this.map.setAttribute("role", "group");
    this.map.setAttribute("aria-label", "Nodes");
    this.element = make("section", { className: "run" }, heading, this.figures, this.totals, this.waiting.element, make("h3", { textContent: "Nodes" }), this.map);
    this.groups = [];
    this.element.addEventListener("click", (event) => {
      const button = event.target.closest("button[data-pod]");
      if (button) onPod(button.dataset.pod);
    });
    this.map.addEventListener("keydown", (event) => this.move(event));
    this.map.addEventListener("focusin", (event) => this.keep(event.target));
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

  // One of the pods is what Tab leads to: the one that had the focus last.
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

  // `wanted`: what the user looks for, in lower case; empty: everything. Returns how much of that
  // there is.
  draw(map, time, wanted) {
    this.makeGroups(map);
    const has = (text) => text?.toLowerCase().includes(wanted);
    const matches = (pod) => has(pod.name) || has(pod.profile) || has(pod.namespace);
    const isShown = (name) => !wanted || has(name) || [...(map.podsOf.get(name)?.values() ?? [])].some(matches);
    const nodes = wanted ? [...map.nodes.keys()].filter(isShown).length : map.nodes.size;
    const sum = noTotals();
    for (const group of this.groups) {
      if (wanted !== this.wanted && wanted && nodes <= GROUP_SIZE) group.element.open = true;
      const totals = totalsOf(map, group.names);
      addTotals(sum, totals);
      group.draw(map, totals, isShown);
    }
    this.wanted = wanted;
    this.why = (pod) => whyItWaits(pod, sum);
    setText(this.totals, `${totalsText(sum)}.`);
    const waiting = bySince(map.waiting).filter(([, pod]) => !wanted || matches(pod));
    this.waiting.draw(waiting, time, sum);
    this.keepOneInTabOrder();
    return { nodes, waiting: waiting.length };
  }

  keepOneInTabOrder() {
    if (this.current?.isConnected && this.current.closest("details").open) return;
    const first = this.map.querySelector("details[open]:not([hidden]) button.pod");
    if (first) this.keep(first);
  }
}
