// The dialog about one pod. The browser keeps focus in it, and restores focus afterwards.

class Details {
  constructor() {
    this.dialog = document.getElementById("details");
    this.name = document.getElementById("details-name");
    this.facts = document.getElementById("details-facts");
    this.text = document.getElementById("details-text");
  }

  // `facts`: [term, text]; entries without a text are left out.
  show(name, facts) {
    setText(this.name, name);
    this.text.hidden = true;
    this.facts.replaceChildren(...facts.filter(([, text]) => text).flatMap(([term, text]) => [
      make("dt", { textContent: term }),
      make("dd", { textContent: text }),
    ]));
    this.dialog.showModal();
  }

  // Returns a function that shows a text that arrives later, unless another pod is shown by then.
  expectText() {
    const shown = {};
    this.shown = shown;
    return (text) => {
      if (this.shown !== shown) return;
      this.text.textContent = text;
      this.text.hidden = false;
    };
  }
}

function podFacts(pod, time) {
  return [
    ["State", pod.node ? `${pod.state} on ${pod.node}` : pod.state],
    ["Namespace", pod.namespace],
    ["GPUs", gpusText(pod)],
    ["Profile", pod.profile ? `${pod.profile} (${sensitivityText(pod)})` : sensitivityText(pod)],
    ["CPU", amountText(pod, "cpu", cpuText)],
    ["Memory", amountText(pod, "memory", memoryText)],
    ["Progress", progressText(pod, time)],
    ["Waits for", pod.since === undefined ? "" : durationText(time - pod.since)],
  ];
}

// Texts about a gang, and about a job in a queue.
function gangText(key, gang, members) {
  return gang ? [key, membersText(gang), whyGangWaits(gang, members)].filter(Boolean).join("; ") : "";
}

function workloadFacts(workload, queue) {
  const band = workload.band && `${workload.band}: ${workload.why}`;
  return [
    ["State", workload.state],
    ["Kind", workload.kind],
    ["GPUs", String(workload.gpus)],
    ["Queue", queue?.title],
    ["Place", workload.place && `${workload.place} of ${queue?.waiting} that wait`],
    ["Band", band],
    ["GPU time so far", workload.gpuTime],
    ["Fair-share delay", workload.fairShareDelay],
    ["Fragmentation delay", workload.fragmentationDelay],
    ["Lost turns", workload.lostTurns === undefined ? "" : String(workload.lostTurns)],
    ["Pods without a node", workload.unplaced],
  ];
}

// How a job fared in a run, until its end.
function jobText(job) {
  if (!job) return "";
  const came = `submitted at ${durationText(job.submitted)}`;
  if (job.started === undefined) return `${came}, never ran`;
  const waited = `${came}, waited ${durationText(job.started - job.submitted)}`;
  if (job.finished === undefined) return `${waited}, not finished`;
  return `${waited}, finished at ${durationText(job.finished)}: ${durationText(job.finished - job.submitted)} in total`;
}
