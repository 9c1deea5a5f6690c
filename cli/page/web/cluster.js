// The live cluster, refreshed repeatedly. After the first answer only changes are requested.

const REFRESH = 3000; // ms

// Only this variable holds the token, until the page is closed or loaded again.
let token = "";

async function ask(path, parameters = {}) {
  const query = new URLSearchParams(parameters).toString();
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const answer = await fetch(query ? `${path}?${query}` : path, { cache: "no-store", headers });
  if (!answer.ok) throw Object.assign(new Error(await answer.text()), { status: answer.status });
  return answer;
}

// Asks for a token, or for a namespace whose pods the user may see.
class EntryForm {
  constructor(onEnter) {
    this.form = document.getElementById("enter");
    this.why = document.getElementById("enter-why");
    this.token = document.getElementById("token");
    this.namespace = document.getElementById("namespace");
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.token.value) token = this.token.value.trim();
      this.token.value = "";
      this.form.hidden = true;
      onEnter(this.namespace.value.trim());
    });
  }

  show(status, why) {
    const unknown = status === 401;
    setText(this.why, unknown && !token ? "" : why);
    document.getElementById("enter-token").hidden = !unknown;
    this.form.hidden = false;
    (unknown ? this.token : this.namespace).focus();
  }
}

function startCluster() {
  const details = new Details();
  const now = () => Date.now() / 1000;
  const heading = make("h2");
  const link = new Link(({ find: text = "" }) => {
    find.value = text;
    redraw();
  });
  let { namespace = "" } = link.values;
  let map;
  let version;
  let view;

  const draw = () => {
    if (map) tellFound(view.draw(map, now(), wanted()));
  };
  const keepLink = () => link.put({ namespace, find: find.value });
  const redraw = oncePerFrame(draw);

  const explain = async (key) => {
    const pod = map.pods.get(key);
    const gang = gangText(pod.gang, map.gangs.get(pod.gang), map.membersOf.get(pod.gang) ?? new Map());
    details.show(pod.name, [...podFacts(pod, now()), ["Gang", gang], ["Why", pod.node ? "" : view.why(pod)]]);
    const told = details.expectText();
    try {
      told(await (await ask("explain", { namespace: pod.namespace, name: pod.name })).text());
    } catch (error) {
      told(`No explanation: ${error.message}`);
    }
  };

  const nameCluster = () => setText(heading, namespace ? `Namespace ${namespace} now` : "The cluster now");

  const tellOfJob = (key) => {
    const workload = map.workloads.get(key);
    details.show(workload.name, workloadFacts(workload, map.queues.get(workload.queue)));
  };

  const refresh = async () => {
    try {
      const news = await (await ask("state", { ...(namespace && { namespace }), ...(version !== undefined && { since: version }) })).json();
      if (news.state) map = new ClusterMap(news.state);
      else for (const patch of news.patches) map.patch(patch);
      version = news.version;
      setText(view.figures, `As of ${new Date().toLocaleTimeString()}.`);
      draw();
    } catch (error) {
      if (error.status === 401 || error.status === 403) {
        leave(error);
        return;
      }
      setText(view.figures, `The data shown are old: ${error.message}`);
    }
    setTimeout(refresh, REFRESH);
  };

  // Removes from the page what the user may no longer see.
  const leave = ({ status, message }) => {
    map = new ClusterMap({});
    version = undefined;
    draw();
    setText(view.figures, "");
    entry.show(status, message);
  };

  const entry = new EntryForm((wanted) => {
    namespace = wanted;
    keepLink();
    nameCluster();
    refresh();
  });

  setText(document.querySelector("#find-form label"), "Find a job, gang, profile or node");
  for (const item of document.querySelectorAll("#legend .now")) item.hidden = false;
  view = new RunView(heading, { onPod: explain, onWorkload: tellOfJob }, redraw);
  document.getElementById("runs").append(view.element);
  nameCluster();
  find.value = link.values.find ?? "";
  find.addEventListener("input", () => {
    keepLink();
    redraw();
  });
  refresh();
}
