// The moment at which a page of simulated runs opens.

const PARTS = 400; // of the time from the first change to the last one

// Returns the mean GPUs that jobs wait for, and those in use, in each part of that time.
function gpusOver(run, begin, end) {
  const waiting = new Float64Array(PARTS);
  const used = new Float64Array(PARTS);
  const pods = new Map();
  const now = { waiting: 0, used: 0 };
  const add = ({ node, gpus }, sign) => {
    now[node ? "used" : "waiting"] += sign * gpus;
  };
  const apply = (changes = {}) => {
    for (const [key, change] of Object.entries(changes)) {
      const before = pods.get(key);
      if (before) add(before, -1);
      pods.delete(key);
      if (change === null) continue;
      const { node = before?.node, gpus = before?.gpus ?? 0 } = change;
      pods.set(key, { node, gpus });
      add({ node, gpus }, 1);
    }
  };
  const place = (time) => ((time - begin) / (end - begin)) * PARTS;
  apply(run.state.pods);
  run.changes.forEach(([time, patch], index) => {
    apply(patch.pods);
    const to = place(run.changes[index + 1]?.[0] ?? end);
    for (let from = place(time); from < to; ) {
      const part = Math.min(Math.floor(from), PARTS - 1);
      const until = part === PARTS - 1 ? to : Math.min(part + 1, to);
      waiting[part] += now.waiting * (until - from);
      used[part] += now.used * (until - from);
      from = until;
    }
  });
  return { waiting, used };
}

// Returns when the runs differ most in the GPUs that jobs wait for; among equals, when jobs wait
// for the most GPUs, and then when the most are in use.
function tellingTime(runs, begin, end) {
  if (begin >= end) return begin;
  const means = runs.map((run) => gpusOver(run, begin, end));
  let best = [-1];
  let telling = 0;
  for (let part = 0; part < PARTS; part += 1) {
    const waiting = means.map((mean) => mean.waiting[part]);
    const most = Math.max(...waiting);
    const rank = [most - Math.min(...waiting), most, Math.max(...means.map((mean) => mean.used[part]))];
    const differs = rank.findIndex((value, at) => value !== best[at]);
    if (differs < 0 || rank[differs] < best[differs]) continue;
    best = rank;
    telling = part;
  }
  return begin + ((telling + 0.5) / PARTS) * (end - begin);
}
