// Elements of the page. Text is always inserted as text, never parsed as HTML.

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

// Arranges the elements in this order without moving those that are in place, so that focus stays.
function arrange(list, elements) {
  const focused = document.activeElement;
  const wanted = new Set(elements);
  for (const child of [...list.children]) {
    if (!wanted.has(child)) child.remove();
  }
  let place = list.firstElementChild;
  for (const element of elements) {
    if (element === place) place = place.nextElementSibling;
    else list.insertBefore(element, place);
  }
  if (focused !== document.activeElement && list.contains(focused)) focused.focus({ preventScroll: true });
}

const percent = (part) => `${(100 * Math.min(Math.max(part, 0), 1)).toFixed(2)}%`;

// Shows the part of a node that each pod takes: one element with a gradient.
function fillBar(bar, parts, whole) {
  const stops = [];
  let from = 0;
  for (const { amount, kind } of parts) {
    const to = from + amount / Math.max(whole, 1e-9);
    // Gaps of one pixel, so that pods can be distinguished.
    stops.push(`var(--${kind}) ${percent(from)} calc(${percent(to)} - 1px)`, `var(--gap) calc(${percent(to)} - 1px) ${percent(to)}`);
    from = to;
  }
  stops.push(`var(--free) ${percent(from)} 100%`);
  bar.style.backgroundImage = `linear-gradient(to right, ${stops.join(", ")})`;
}

// Width of the bar in fair shares of the pod.
const SHARES = 3;

// A pod's allocation of CPU or memory, beside its fair share and its demand. Screen readers read
// the pod's text instead.
class Bullet {
  constructor(what, member, text) {
    this.member = member;
    this.text = text;
    this.bar = make("span", { className: "bullet" });
    this.amount = make("span", { className: "amount" });
    this.element = make("span", { className: "measure" }, make("span", { className: "what", textContent: what }), this.bar, this.amount);
    this.element.setAttribute("aria-hidden", "true");
  }

  draw(pod) {
    this.element.hidden = !pod.demand;
    if (!pod.demand) return;
    const allocation = pod.allocation[this.member];
    const demand = pod.demand[this.member];
    const share = pod.fairShare[this.member] || 1;
    this.bar.style.setProperty("--allocation", percent(allocation / share / SHARES));
    this.bar.style.setProperty("--demand", percent(demand / share / SHARES));
    setText(this.amount, `${this.text(allocation)} of ${this.text(demand)}`);
  }
}

// Marks the button with the pod's gang, so that the gang's members can be found.
function setGang(button, pod) {
  if (pod.gang) button.dataset.gang = pod.gang;
  else delete button.dataset.gang;
}

// Returns whether another pod has its turn on the pod's GPU.
const isSuspended = (pod) => pod.state === "suspended";

// One pod of a node.
class PodBox {
  constructor(key) {
    this.name = make("span", { className: "name" });
    this.gpus = make("span", { className: "gpus" });
    this.words = hidden("");
    this.bullets = [new Bullet("CPU", "cpu", cpuText), new Bullet("memory", "memory", memoryText)];
    this.done = make("span", { className: "done" });
    this.progress = make("span", { className: "progress" });
    this.button = make("button", { type: "button", tabIndex: -1 }, this.name, this.gpus, this.words, ...this.bullets.map((bullet) => bullet.element), this.done, this.progress);
    this.button.dataset.pod = key;
    this.element = make("li", {}, this.button);
  }

  draw(pod) {
    if (this.pod === pod) return;
    this.pod = pod;
    setText(this.name, pod.name);
    setText(this.gpus, gpusText(pod));
    setText(this.words, `, ${sensitivityText(pod)}${isSuspended(pod) ? "; suspended" : ""}; CPU ${amountText(pod, "cpu", cpuText)}; memory ${amountText(pod, "memory", memoryText)}${pod.gang ? `; gang ${pod.gang}` : ""}; `);
    this.button.className = `pod ${sensitivityOf(pod)}${isSuspended(pod) ? " suspended" : ""}`;
    setGang(this.button, pod);
    this.done.hidden = pod.done === undefined;
    this.done.style.setProperty("--part", percent(pod.done ?? 0));
    for (const bullet of this.bullets) bullet.draw(pod);
  }

  // Updates what changes with time.
  tick(time) {
    const text = progressText(this.pod, time);
    this.progress.hidden = text === "";
    setText(this.progress, text);
  }
}

// Returns how many whole GPUs, or slices or turns of them, the node offers.
const gpusOf = (node, member) => (member === "gpus" ? node.allocatable.gpus : node[member] ?? 0);

const sameParts = (a, b) => a.length === b.length && a.every((one, at) => one === b[at]);

// A node: how much of it is allocated, and its pods.
class NodeBox {
  constructor(name) {
    this.title = make("h4", { textContent: name });
    this.rows = ["GPUs", "slices", "turns", "CPU", "memory"].map((what) => {
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
    this.drawGpus(0, "gpus");
    this.drawGpus(1, "slices");
    this.drawGpus(2, "turns");
    this.drawRow(3, node.allocatable.cpu, (pod) => pod.allocation.cpu, cpuText, node.others.cpu);
    this.drawRow(4, node.allocatable.memory, (pod) => pod.allocation.memory, memoryText, node.others.memory);
    this.drawPods(pods);
  }

  // Draws whole GPUs, or slices or turns of them, if the node offers these.
  drawGpus(row, member) {
    const offered = gpusOf(this.node, member);
    this.rows[row].element.hidden = offered === 0;
    this.drawRow(row, offered, (pod) => pod[member] ?? 0, String);
  }

  // `amountOf(pod)`: what a pod takes of the whole; `others`: what pods without GPUs take.
  drawRow(row, whole, amountOf, text, others = 0) {
    const parts = this.pods.map((pod) => ({ amount: amountOf(pod), kind: sensitivityOf(pod) })).filter(({ amount }) => amount > 0);
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
    this.boxes = boxes;
    arrange(this.list, [...boxes.values()].map((box) => box.element));
  }

  tick(time) {
    for (const box of this.boxes.values()) box.tick(time);
  }
}
