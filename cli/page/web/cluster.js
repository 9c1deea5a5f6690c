// The live cluster, refreshed repeatedly. After the first answer only changes are requested.

const REFRESH = 3000; // ms

async function ask(path) {
  const answer = await fetch(path, { cache: "no-store" });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

function startCluster() {
  const details = new Details();
  const now = () => Date.now() / 1000;
  let map;
  let version;
  let view;

  const draw = () => {
    if (map) tellFound(view.draw(map, now(), wanted()));
  };
  const redraw = oncePerFrame(draw);

  const explain = async (key) => {
    const pod = map.pods.get(key);
    const gang = gangText(pod.gang, map.gangs.get(pod.gang), map.membersOf.get(pod.gang) ?? new Map());
    details.show(pod.name, [...podFacts(pod, now()), ["Gang", gang], ["Why", pod.node ? "" : view.why(pod)]]);
    const told = details.expectText();
    try {
      told(await (await ask(`explain?namespace=${encodeURIComponent(pod.namespace)}&name=${encodeURIComponent(pod.name)}`)).text());
    } catch (error) {
      told(`No explanation: ${error.message}`);
    }
  };

  const tellOfJob = (key) => {
    const workload = map.workloads.get(key);
    details.show(workload.name, workloadFacts(workload, map.queues.get(workload.queue)));
  };

  const refresh = async () => {
    try {
      const news = await (await ask(version === undefined ? "state" : `state?since=${version}`)).json();
      if (news.state) map = new ClusterMap(news.state);
      else for (const patch of news.patches) map.patch(patch);
      version = news.version;
      setText(view.figures, `As of ${new Date().toLocaleTimeString()}.`);
      draw();
    } catch (error) {
      setText(view.figures, `The data shown are old: ${error.message}`);
    }
    setTimeout(refresh, REFRESH);
  };

  setText(document.querySelector("#find-form label"), "Find a job, gang, profile or node");
  for (const item of document.querySelectorAll("#legend .now")) item.hidden = false;
  view = new RunView(make("h2", { textContent: "The cluster now" }), { onPod: explain, onWorkload: tellOfJob }, redraw);
  document.getElementById("runs").append(view.element);
  find.addEventListener("input", redraw);
  refresh();
}
