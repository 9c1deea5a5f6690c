// The page: reads its data and puts the parts together.

function figuresText(figures) {
  return [
    `mean completion time ${durationText(figures.meanCompletion)}`,
    `95 % within ${durationText(figures.p95Completion)}`,
    `mean wait ${durationText(figures.meanWait)}`,
    `makespan ${durationText(figures.makespan)}`,
    `${percentText(figures.gpuUtilisation)} of the GPUs and ${percentText(figures.cpuUtilisation)} of the CPU allocated on average`,
  ].join(", ");
}

// Calls `draw` once a frame, however often it is asked for.
function oncePerFrame(draw) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      draw();
    });
  };
}

const find = document.getElementById("find");
const found = document.getElementById("found");
document.getElementById("find-form").addEventListener("submit", (event) => event.preventDefault());

function wanted() {
  return find.value.trim().toLowerCase();
}

function tellFound({ nodes, waiting }) {
  setText(found, wanted() ? `${countText(nodes, "node", "nodes")}, ${waiting} waiting` : "");
}

// A heading that lets the user choose one of the runs.
function runHeading(runs, chosen, choose) {
  if (runs.length === 1) return make("h2", { textContent: runs[0].name });
  const options = runs.map((run, at) => make("option", { value: String(at), textContent: run.name, selected: at === chosen }));
  const select = make("select", {}, ...options);
  select.addEventListener("change", () => choose(Number(select.value)));
  return make("h2", {}, make("label", {}, hidden("Run "), select));
}

function startSimulation({ runs }) {
  const details = new Details();
  let player;
  const redraw = oncePerFrame(() => player?.show());
  const views = runs.slice(0, 2).map((_, at) => {
    const shown = { timeline: new Timeline(runs[at]) };
    const choose = (index) => {
      shown.run = runs[index];
      shown.timeline = new Timeline(shown.run);
      setText(shown.view.figures, figuresText(shown.run.figures));
      player?.stretch();
    };
    const onPod = (key) => {
      const pod = shown.timeline.map.pods.get(key);
      const fared = runs.map((run) => [`With ${run.name}`, jobText(run.jobs[pod.job])]);
      const waits = pod.node ? "" : shown.view.why(pod);
      details.show(pod.name, [...podFacts(pod, player.time), ["Why", waits], ...fared]);
    };
    shown.view = new RunView(runHeading(runs, at, choose), { onPod }, redraw);
    choose(at);
    document.getElementById("runs").append(shown.view.element);
    return shown;
  });
  const draw = (time) => {
    const counts = views.map((shown) => shown.view.draw(shown.timeline.goTo(time), time, wanted()));
    tellFound(counts[0]);
  };
  player = new Player(() => views.map((shown) => shown.timeline), draw);
  find.addEventListener("input", redraw);
}

const page = JSON.parse(document.getElementById("data").textContent);
if (page.kind === "cluster") startCluster();
else startSimulation(page);
