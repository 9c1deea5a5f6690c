// Tables that fold: waiting jobs, gangs, queues.

const MOST_ROWS = 200;

// A row for each object, by key; only the first MOST_ROWS.
class KeyedTable {
  // `head`: the columns; `Row`: the class of a row, made from a key, with an `element`.
  constructor(className, head, Row) {
    this.Row = Row;
    this.summary = make("summary");
    this.note = make("p", { hidden: true });
    this.body = make("tbody");
    this.rest = make("p");
    const columns = head.map((text) => make("th", { scope: "col", textContent: text }));
    this.table = make("table", {}, make("thead", {}, make("tr", {}, ...columns)), this.body);
    this.element = make("details", { className, open: true }, this.summary, this.note, make("div", { className: "scroll" }, this.table), this.rest);
    this.rows = new Map();
  }

  // `entries`: [key, object] in their order; `draw(row, object, key)`.
  draw(summary, entries, draw) {
    setText(this.summary, summary);
    const shown = entries.slice(0, MOST_ROWS);
    this.table.hidden = shown.length === 0;
    setText(this.rest, entries.length > shown.length ? `and ${entries.length - shown.length} more: find them by name` : "");
    const rows = new Map();
    for (const [key, object] of shown) {
      const row = this.rows.get(key) ?? new this.Row(key);
      draw(row, object, key);
      rows.set(key, row);
    }
    this.rows = rows;
    arrange(this.body, [...rows.values()].map((row) => row.element));
  }
}

// A button, and a text in each of the other columns.
class TableRow {
  constructor(columns) {
    this.button = make("button", { type: "button" });
    this.cells = Array.from({ length: columns - 1 }, () => make("td"));
    this.element = make("tr", {}, make("th", { scope: "row" }, this.button), ...this.cells);
  }

  setTexts(name, texts) {
    setText(this.button, name);
    texts.forEach((text, at) => setText(this.cells[at], text));
  }
}

const WAITING_HEAD = ["Job", "GPUs", "Waits for", "Why"];

class WaitingRow extends TableRow {
  constructor(key) {
    super(WAITING_HEAD.length);
    this.button.dataset.pod = key;
  }

  draw(pod, time, totals) {
    const since = pod.since === undefined ? "" : durationText(time - pod.since);
    this.setTexts(pod.name, [gpusText(pod), since, whyItWaits(pod, totals)]);
    this.button.className = sensitivityOf(pod);
    setGang(this.button, pod);
  }
}

class WaitingTable extends KeyedTable {
  constructor() {
    super("waiting", WAITING_HEAD, WaitingRow);
  }

  show(waiting, time, totals) {
    const summary = waiting.length === 0 ? "No job waits" : countText(waiting.length, "job waits", "jobs wait");
    this.draw(summary, waiting, (row, pod) => row.draw(pod, time, totals));
  }
}

const RUNNING_HEAD = ["Job", "GPUs", "Node", "State", "CPU", "Memory", "Progress"];

class RunningRow extends TableRow {
  constructor(key) {
    super(RUNNING_HEAD.length);
    this.button.dataset.pod = key;
  }

  draw(pod, time) {
    this.setTexts(pod.name, [gpusText(pod), pod.node, pod.state, amountText(pod, "cpu", cpuText), amountText(pod, "memory", memoryText), progressText(pod, time)]);
    this.button.className = sensitivityOf(pod);
    setGang(this.button, pod);
  }
}

// Jobs on nodes that the user may not see.
class RunningTable extends KeyedTable {
  constructor() {
    super("running", RUNNING_HEAD, RunningRow);
  }

  show(running, time) {
    this.element.hidden = running.length === 0;
    this.draw(countText(running.length, "job runs on a node that is not shown", "jobs run on nodes that are not shown"), running, (row, pod) => row.draw(pod, time));
  }
}

const GANG_HEAD = ["Gang", "Members", "Nodes", "Waits for"];

// Returns where the members are: "2 on n1, 1 on n2".
function placesText(members) {
  const counts = new Map();
  for (const pod of members.values()) {
    if (pod.node) counts.set(pod.node, (counts.get(pod.node) ?? 0) + 1);
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([node, count]) => `${count} on ${node}`).join(", ");
}

// Joins the time when the gang starts, Synergy's reasons (Synergy counts the members), and the
// reason of the members' scheduler.
function whyGangWaits(gang, members) {
  const waiting = [...members.values()].filter((pod) => !pod.node);
  const first = (member) => waiting.find((pod) => pod[member])?.[member];
  return [first("starts"), gang.problem, gang.waits, first("why")].filter(Boolean).join("; ");
}

class GangRow extends TableRow {
  constructor(key) {
    super(GANG_HEAD.length);
    this.button.dataset.choose = key;
  }

  draw(key, gang, members, chosen) {
    this.setTexts(key, [membersText(gang), placesText(members), whyGangWaits(gang, members)]);
    this.button.setAttribute("aria-pressed", String(key === chosen));
  }
}

class GangTable extends KeyedTable {
  constructor() {
    super("gangs", GANG_HEAD, GangRow);
  }

  // Shows gangs that wait first.
  show(map, chosen, isShown) {
    const rank = ([key, gang]) => `${gang.problem || gang.waits ? 0 : 1}${key}`;
    const gangs = [...map.gangs].filter(([key]) => isShown(key)).sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
    const waiting = gangs.filter(([, gang]) => gang.problem || gang.waits).length;
    const draw = (row, gang, key) => row.draw(key, gang, map.membersOf.get(key) ?? new Map(), chosen);
    this.draw(`${countText(gangs.length, "gang", "gangs")}, ${countText(waiting, "waits", "wait")}`, gangs, draw);
  }
}

const QUEUE_HEAD = ["Job", "Place", "GPUs", "State", "Band", "GPU time", "Fair-share delay", "Fragmentation delay", "Lost turns", "Why"];

class QueueRow extends TableRow {
  constructor(key) {
    super(QUEUE_HEAD.length);
    this.button.dataset.workload = key;
  }

  draw(workload) {
    const members = ["place", "gpus", "state", "band", "gpuTime", "fairShareDelay", "fragmentationDelay", "lostTurns", "why"];
    this.setTexts(workload.name, members.map((member) => String(workload[member] ?? "-")));
  }
}

class QueueTable extends KeyedTable {
  constructor() {
    super("queue", QUEUE_HEAD, QueueRow);
  }

  // `workloads`: [key, workload] of this queue, in their order.
  show(queue, workloads) {
    this.note.hidden = !queue.problem;
    setText(this.note, queue.problem ? `not ordered: ${queue.problem}` : "");
    this.draw(`${queue.title}; ${queue.running} with quota, ${queue.waiting} waiting`, workloads, (row, workload) => row.draw(workload));
  }
}

// Gangs and queues, if there are any.
class MoreTables {
  constructor() {
    this.element = make("div");
    this.gangs = new GangTable();
    this.queues = new Map();
  }

  // `has(text)`: whether the text matches the user's search.
  draw(map, chosen, has) {
    const tables = [];
    if (map.gangs.size > 0) {
      const isShown = (key) => has(key) || [...(map.membersOf.get(key)?.values() ?? [])].some((pod) => has(pod.name) || has(pod.node));
      this.gangs.show(map, chosen, isShown);
      tables.push(this.gangs.element);
    }
    const queued = new Map([...map.queues.keys()].sort().map((name) => [name, []]));
    for (const [key, workload] of map.workloads) {
      if (has(workload.name) || has(workload.queue)) queued.get(workload.queue)?.push([key, workload]);
    }
    const queues = new Map();
    for (const [name, workloads] of queued) {
      const table = this.queues.get(name) ?? new QueueTable();
      table.show(map.queues.get(name), workloads.sort(([, a], [, b]) => a.order - b.order));
      queues.set(name, table);
      tables.push(table.element);
    }
    this.queues = queues;
    arrange(this.element, tables);
  }
}
