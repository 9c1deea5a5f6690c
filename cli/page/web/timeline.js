// A cluster's map at one time, and its changes. docs/internals/page.md has the format.

// Applies a JSON Merge Patch (RFC 7386) to a copy of the object.
function merged(object, patch) {
  const result = { ...object };
  for (const [member, value] of Object.entries(patch)) {
    if (value === null) delete result[member];
    else if (typeof value === "object" && !Array.isArray(value)) result[member] = merged(result[member], value);
    else result[member] = value;
  }
  return result;
}

// Nodes and pods by key, the pods of each node and of each gang, and those that wait; gangs, queues
// and their workloads by key. A change replaces the object, so that views detect it by identity.
class ClusterMap {
  constructor(state) {
    this.nodes = new Map();
    this.pods = new Map();
    this.podsOf = new Map(); // by node: pods by key
    this.waiting = new Map();
    this.gangs = new Map();
    this.membersOf = new Map(); // by gang: pods by key
    this.queues = new Map();
    this.workloads = new Map();
    this.notes = new Map();
    this.nodeSets = 0; // grows whenever a node comes or goes
    this.patch(state);
  }

  // Applies a patch, and returns what takeBack() needs to undo it.
  patch({ nodes = {}, pods = {}, ...others }) {
    const before = { nodes: [], pods: [] };
    for (const [name, change] of Object.entries(nodes)) {
      const old = this.nodes.get(name);
      before.nodes.push([name, old]);
      this.setNode(name, change === null ? undefined : merged(old, change));
    }
    for (const [key, change] of Object.entries(pods)) {
      const old = this.pods.get(key);
      before.pods.push([key, old]);
      this.setPod(key, change === null ? undefined : merged(old, change));
    }
    // Only the live cluster has these, and it never goes back in time.
    for (const [kind, objects] of Object.entries(others)) {
      for (const [key, change] of Object.entries(objects)) {
        if (change === null) this[kind]?.delete(key);
        else this[kind]?.set(key, merged(this[kind].get(key), change));
      }
    }
    return before;
  }

  takeBack(before) {
    for (const [name, node] of before.nodes) this.setNode(name, node);
    for (const [key, pod] of before.pods) this.setPod(key, pod);
  }

  setNode(name, node) {
    if (this.nodes.has(name) !== Boolean(node)) this.nodeSets += 1;
    if (node) this.nodes.set(name, node);
    else this.nodes.delete(name);
  }

  setPod(key, pod) {
    const old = this.pods.get(key);
    if (old) {
      this.placeOf(old).delete(key);
      this.membersOf.get(old.gang)?.delete(key);
    }
    if (pod) {
      this.pods.set(key, pod);
      this.placeOf(pod).set(key, pod);
      if (pod.gang) {
        if (!this.membersOf.has(pod.gang)) this.membersOf.set(pod.gang, new Map());
        this.membersOf.get(pod.gang).set(key, pod);
      }
    } else {
      this.pods.delete(key);
    }
  }

  placeOf(pod) {
    if (!pod.node) return this.waiting;
    if (!this.podsOf.has(pod.node)) this.podsOf.set(pod.node, new Map());
    return this.podsOf.get(pod.node);
  }
}

// Goes to any time of a run: forwards by applying its changes, backwards by undoing them.
class Timeline {
  constructor(run) {
    this.changes = run.changes; // [time, patch]
    this.map = new ClusterMap(run.state);
    this.before = []; // undo data of each applied change
  }

  get begin() {
    return this.changes.length > 0 ? this.changes[0][0] : 0;
  }

  get end() {
    return this.changes.length > 0 ? this.changes[this.changes.length - 1][0] : 0;
  }

  // Returns the number of changes up to and including that time.
  changesUntil(time) {
    let low = 0;
    let high = this.changes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.changes[middle][0] <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Return the times of the neighbouring changes; undefined if there is none.
  nextChange(time) {
    return this.changes[this.changesUntil(time)]?.[0];
  }

  previousChange(time) {
    let at = this.changesUntil(time) - 1;
    while (at >= 0 && this.changes[at][0] >= time) at -= 1;
    return this.changes[at]?.[0];
  }

  goTo(time) {
    const until = this.changesUntil(time);
    while (this.before.length > until) this.map.takeBack(this.before.pop());
    while (this.before.length < until) this.before.push(this.map.patch(this.changes[this.before.length][1]));
    return this.map;
  }
}
