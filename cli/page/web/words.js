// Texts for amounts, times and pods.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

// Rounds to at most that number of decimal places, without trailing zeros.
function short(value, digits) {
  return String(Number(value.toFixed(digits)));
}

function memoryText(bytes) {
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${short(value, value < 10 ? 1 : 0)} ${UNITS[unit]}`;
}

function cpuText(cores) {
  return short(cores, cores < 10 ? 2 : 1);
}

// Formats in at most two units, the largest ones: "1 d 3 h", "12 s".
function durationText(seconds) {
  if (seconds < 60) return `${short(Math.max(seconds, 0), seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

// Formats in one unit, like the command line: "90s", "45m", "30h", "9d".
function shortText(seconds) {
  const whole = Math.max(Math.floor(seconds), 0);
  if (whole < 120) return `${whole}s`;
  if (whole < 7200) return `${Math.floor(whole / 60)}m`;
  if (whole < 172800) return `${Math.floor(whole / 3600)}h`;
  return `${Math.floor(whole / 86400)}d`;
}

function percentText(part) {
  return `${short(100 * part, 0)} %`;
}

function countText(count, one, many) {
  return `${count} ${count === 1 ? one : many}`;
}

// "2 GPUs", or "1 slice", "1 turn" of a pod that shares GPUs
function gpusText({ gpus, slices, turns }) {
  if (slices !== undefined) return countText(slices, "slice", "slices");
  if (turns !== undefined) return countText(turns, "turn", "turns");
  return countText(gpus, "GPU", "GPUs");
}

// A workload is sensitive if it becomes faster with more than its fair share (docs/glossary.md).
function sensitivityOf(pod) {
  if (!pod.demand) return "unknown";
  const more = pod.demand.cpu > pod.fairShare.cpu || pod.demand.memory > pod.fairShare.memory;
  return more ? "sensitive" : "insensitive";
}

function sensitivityText(pod) {
  return pod.demand ? sensitivityOf(pod) : "no profile";
}

// "CPU 6, fair share 3, demand 9"
function amountText(pod, member, text) {
  const allocated = pod.allocation ? text(pod.allocation[member]) : "none yet";
  if (!pod.demand) return allocated;
  return `${allocated}, fair share ${text(pod.fairShare[member])}, demand ${text(pod.demand[member])}`;
}

// "12.3/s, 37 %, 51s left", or the part of it that the training reports.
function progressText(pod, time) {
  const parts = [];
  if (pod.rate !== undefined) parts.push(`${Number(pod.rate.toPrecision(3))}/s`);
  if (pod.busy !== undefined) parts.push(`~${pod.busy.toFixed(2)} busy`);
  if (pod.done !== undefined) parts.push(percentText(pod.done));
  if (pod.ends !== undefined) parts.push(`${shortText(pod.ends - time)} left`);
  if (pod.silent !== undefined) parts.push(`${shortText(time - pod.silent)} ago`);
  return parts.join(", ");
}

// "3 of 8 members exist, 2 run"
function membersText(gang) {
  if (gang.there === undefined) return "";
  return `${gang.there} of ${countText(gang.size, "member exists", "members exist")}, ${gang.running} run`;
}

// Returns when a pod starts, if GPUs are reserved for it, and why it waits. If its scheduler
// reports nothing, the reason follows from the free GPUs.
function whyItWaits(pod, totals) {
  if (pod.starts || pod.why) return [pod.starts, pod.why].filter(Boolean).join("; ");
  if (totals.all.gpus === 0 || pod.gpus === 0) return "not reported";
  const asked = countText(pod.gpus, "GPU", "GPUs");
  if (totals.freeGpus < pod.gpus) return `requests ${asked}; ${totals.freeGpus} free in total`;
  if (totals.mostFreeGpus < pod.gpus) {
    return `requests ${asked}; ${totals.freeGpus} free in total, at most ${totals.mostFreeGpus} on one node`;
  }
  return `requests ${asked}; a node has ${totals.mostFreeGpus} free: it waits for its turn, or for CPU or memory`;
}
