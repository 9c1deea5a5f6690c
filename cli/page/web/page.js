// The page: reads its data and puts the parts together.

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
class RunHeading {
  constructor(runs, choose) {
    this.element = make("h2");
    if (runs.length === 1) {
      setText(this.element, runs[0].name);
      return;
    }
    const options = runs.map((run, at) => make("option", { value: String(at), textContent: run.name }));
    this.select = make("select", {}, ...options);
    this.select.addEventListener("change", () => choose(Number(this.select.value)));
    this.element.append(make("label", {}, hidden("Run "), this.select));
  }

  show(index) {
    if (this.select) this.select.value = String(index);
  }
}

// Returns which runs are shown: those that the link names, else the first two.
function runsOfLink(text, runs) {
  const first = runs.slice(0, 2).map((_, at) => at);
  const named = (text ?? "").split(",").map(Number);
  return named.length === first.length && named.every((index) => runs[index]) ? named : first;
}

function startSimulation({ runs }) {
  const details = new Details();
  const comparison = new Comparison();
  let player;
  const redraw = oncePerFrame(() => player?.show());
  const views = runs.slice(0, 2).map(() => {
    const shown = {};
    shown.choose = (index) => {
      shown.index = index;
      shown.run = runs[index];
      shown.timeline = new Timeline(shown.run);
      heading.show(index);
    };
    const heading = new RunHeading(runs, (index) => {
      shown.choose(index);
      compare();
      player.stretch();
    });
    const onPod = (key) => {
      const pod = shown.timeline.map.pods.get(key);
      const fared = runs.map((run) => [`With ${run.name}`, jobText(run.jobs[pod.job])]);
      const waits = pod.node ? "" : shown.view.why(pod);
      details.show(pod.name, [...podFacts(pod, player.time), ["Why", waits], ...fared]);
    };
    shown.view = new RunView(heading.element, { onPod }, redraw);
    document.getElementById("runs").append(shown.view.element);
    return shown;
  });
  const compare = () => comparison.show(views.map((shown) => shown.run));
  const draw = (time) => {
    const counts = views.map((shown) => shown.view.draw(shown.timeline.goTo(time), time, wanted()));
    tellFound(counts[0]);
    link.put({ at: String(Math.round(time * 1000) / 1000), runs: views.map((shown) => shown.index).join(","), find: find.value });
  };
  const follow = (values) => {
    runsOfLink(values.runs, runs).forEach((index, at) => views[at].choose(index));
    compare();
    find.value = values.find ?? "";
    player ??= new Player(() => views.map((shown) => shown.timeline), draw);
    const at = Number.parseFloat(values.at);
    player.stretch((begin, end) => (Number.isFinite(at) ? at : tellingTime(views.map((shown) => shown.run), begin, end)));
  };
  const link = new Link(follow);
  find.addEventListener("input", redraw);
  follow(link.values);
}

const page = JSON.parse(document.getElementById("data").textContent);
if (page.kind === "cluster") startCluster();
else startSimulation(page);
