// The strip that compares the figures of the runs that are shown.

const FIGURES = [
  { name: "Mean completion time", member: "meanCompletion", text: durationText },
  { name: "95 % complete within", member: "p95Completion", text: durationText },
  { name: "Mean wait", member: "meanWait", text: durationText },
  { name: "Makespan", member: "makespan", text: durationText },
  { name: "GPUs allocated", member: "gpuUtilisation", text: percentText, most: 1 },
  { name: "CPU allocated", member: "cpuUtilisation", text: percentText, most: 1 },
];

// "26 % less", from the first value to the second. Values that look the same have no difference.
function differenceText([first, second], text) {
  const part = Math.abs(second - first) / first;
  if (text(first) === text(second) || percentText(part) === "0 %") return "no difference";
  return Number.isFinite(part) ? `${percentText(part)} ${second < first ? "less" : "more"}` : "";
}

class Comparison {
  constructor() {
    this.element = document.getElementById("comparison");
    this.element.hidden = false;
  }

  show(runs) {
    this.element.replaceChildren(...FIGURES.map((figure) => {
      const values = runs.map((run) => run.figures[figure.member]);
      const whole = figure.most ?? Math.max(...values);
      const rows = runs.map((run, at) => {
        const bar = make("span", { className: "part" });
        bar.style.setProperty("--part", percent(values[at] / Math.max(whole, 1e-9)));
        const name = make("span", { className: "what", textContent: run.name });
        return make("p", {}, name, make("span", { className: "amount", textContent: figure.text(values[at]) }), bar);
      });
      const difference = runs.length > 1 ? [make("p", { className: "difference", textContent: differenceText(values, figure.text) })] : [];
      return make("li", {}, make("h2", { textContent: figure.name }), ...rows, ...difference);
    }));
  }
}
