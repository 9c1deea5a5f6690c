"""Used by every cluster test: a running cluster of scripts/cluster.sh, its pods, and an extender
beside it.

The test's environment names two folders: the cluster's state (SYNERGY_TEST_STATE), which includes
the port that synergy-scheduler calls, and our programs (SYNERGY_BIN).
"""

import contextlib
import functools
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import time
import unittest
import urllib.parse
import urllib.request

from api import MERGE_PATCH, PODS, Api, ApiError

ROOT = pathlib.Path(__file__).resolve().parents[3]
GPU = "nvidia.com/gpu"


def wait_for(what, check, seconds=300):
    """Calls `check` until it returns something true, and returns that. `seconds` only limits how
    long a failing test waits.

    The first calls come often, because most events come soon; later there are five a second. Calls
    take at most half of the time: other tests need the CPU. A program that does not answer in time
    may answer later.
    """
    began = time.monotonic()
    while True:
        started = time.monotonic()
        found, trouble = None, ""
        try:
            found = check()
        except (OSError, http.client.HTTPException) as error:
            trouble = f" (the last time, it failed: {error!r})"
        if found:
            return found
        now = time.monotonic()
        if now > began + seconds:
            raise AssertionError(f"waited {seconds} s in vain for {what}{trouble}")
        time.sleep(max(0.02, min(0.2, (now - began) / 8), now - started))


def script(state, *arguments):
    """Runs scripts/cluster.sh for the cluster in the folder `state`."""
    command = [str(ROOT / "scripts/cluster.sh"), "--state", str(state), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def metric(text, line):
    """Returns the value of the metric `line` (name and labels) in this text; 0 if the text does not
    have it."""
    return next((float(found.rsplit(" ", 1)[1]) for found in text.splitlines() if found.startswith(line + " ")), 0.0)


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def write_whole(file, text):
    """Replaces the file at once, so that no reader sees an incomplete one."""
    new = file.with_name(file.name + ".new")
    new.write_text(text, encoding="utf-8")
    new.rename(file)


@contextlib.contextmanager
def own_cluster(folder, instance, *options):
    """Yields a cluster that only this test uses, in that folder, started with these options of
    `up`. The cluster has a port for its extender."""
    folder.mkdir(parents=True, exist_ok=True)
    state = folder / "cluster"
    # Remove what an interrupted run has left.
    script(state, "down")
    port = free_port()
    (folder / "extender-port").write_text(str(port), encoding="utf-8")
    try:
        script(state, "up", "--instance", str(instance), "--extender", f"http://127.0.0.1:{port}", *options)
        yield Cluster(folder)
    finally:
        script(state, "down")


class Cluster:
    def __init__(self, folder=None):
        self.folder = folder or pathlib.Path(os.environ["SYNERGY_TEST_STATE"])
        self.state = self.folder / "cluster"
        self.port = int((self.folder / "extender-port").read_text(encoding="utf-8"))
        self.cleared = 0  # the API server's version at the end of clear()
        exports = self.script("env").splitlines()
        self.environment = dict(os.environ)
        for line in exports:
            name, _, value = line.removeprefix("export ").partition("=")
            self.environment[name] = value

    def instance(self):
        """Returns the number of this cluster among those that can exist side by side on this
        machine. The names of its control groups contain the number."""
        return re.search(r"^INSTANCE=(\d+)$", (self.state / "settings").read_text(encoding="utf-8"), re.M).group(1)

    def script(self, *arguments):
        return script(self.state, *arguments)

    def pid_of(self, component):
        """Returns the process of one of the cluster's components, such as containerd-1."""
        status = json.loads(self.script("status", "--output", "json"))
        return next(c["pid"] for c in status["components"] if c["component"] == component)

    @contextlib.contextmanager
    def controller(self, **sections):
        """Runs synergy-controller, within the `with` block, with other values in sections of its
        configuration, such as tuner="{round: 2s}"."""
        config, original = self.state / "synergy-controller.yaml", self.state / "synergy-controller.usual.yaml"
        # A killed test may have left the original file.
        if not original.exists():
            shutil.copy(config, original)
        usual = original.read_text(encoding="utf-8")
        kept = [line for line in usual.splitlines() if line.partition(":")[0] not in sections]
        config.write_text("\n".join(kept + [f"{name}: {value}" for name, value in sections.items()]) + "\n",
                          encoding="utf-8")
        try:
            self.script("restart", "synergy-controller")
            yield
        finally:
            config.write_text(usual, encoding="utf-8")
            self.script("stop", "synergy-controller")

    def controller_metric(self, line):
        """Returns the value of the controller's metric with this name and these labels; 0 if there
        is none."""
        with urllib.request.urlopen(self.environment["SYNERGY_CONTROLLER_URL"] + "/metrics", timeout=10) as answer:
            return metric(answer.read().decode(), line)

    def progress(self):
        """Returns the controller's answer to a reader of progress. The cluster has issued the
        controller's certificate itself."""
        token = self.kubectl("create", "token", "synergy-controller-progress", "--namespace=synergy-system",
                             "--audience=progress.synergy.io").strip()
        request = urllib.request.Request(self.environment["SYNERGY_PROGRESS_URL"], headers={"Synergy-Token": token})
        context = ssl.create_default_context(cafile=str(self.state / "pki/ca.crt"))
        with urllib.request.urlopen(request, timeout=10, context=context) as answer:
            return json.load(answer).get("pods") or []

    def kubectl(self, *arguments, stdin=None, check=True):
        command = [self.environment.get("SYNERGY_KUBECTL", "kubectl"), *arguments]
        done = subprocess.run(command, input=stdin, env=self.environment, text=True, capture_output=True, check=False)
        if check and done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    @functools.cached_property
    def api(self):
        return Api(self)

    def get(self, kinds, name=None, *, namespace="default", **query):
        """Returns an object, or all objects of these kinds ("nodes,pods") as `items`. The query's
        names are the API's, as in labelSelector.

        It does not use kubectl, which takes at least a fifth of a second of CPU each time: tests
        poll often.
        """
        query = urllib.parse.urlencode(query)
        found = [self.called("GET", self.api.kind(kind).path(namespace, name) + (query and f"?{query}"))
                 for kind in kinds.split(",")]
        if name:
            return found[0]
        # Objects in a list do not state their kind.
        return {"items": [{"apiVersion": of_kind["apiVersion"], "kind": of_kind["kind"].removesuffix("List"), **item}
                          for of_kind in found for item in of_kind["items"]]}

    def create(self, *objects):
        """Creates the objects; returns them as the API server has them."""
        created = []
        for item in objects:
            path = self.api.kind(item["kind"]).path(item["metadata"].get("namespace", "default"))
            created.append(self.called("POST", path + "?fieldValidation=Strict", item))
        return created

    def patch(self, kind, name, change, subresource="", namespace="default"):
        """Changes an object by a JSON merge patch; returns the result."""
        path = self.api.kind(kind).path(namespace, name) + (subresource and f"/{subresource}")
        return self.called("PATCH", path, change, MERGE_PATCH)

    def end_pod(self, name, phase, **status):
        """Ends a pod of a simulated node as a kubelet does. First waits until the pod runs: kwok,
        like a kubelet, would overwrite an earlier end."""
        wait_for(f"{name} to run", lambda: self.get("pod", name)["status"].get("phase") == "Running")
        self.patch("pod", name, {"status": {"phase": phase, **status}}, "status")

    def delete(self, kinds, *names, namespace="default", wait=False):
        """Deletes these objects of a kind without a grace period. Without names, deletes all
        objects of these kinds ("jobs,pods"). Ignores objects that do not exist.

        `wait`: waits until the objects and everything that they own are gone.
        """
        policy = "Foreground" if wait else "Background"
        paths = [self.api.kind(kind).path(namespace, name) for kind in kinds.split(",") for name in names or (None,)]
        for path in paths:
            self.called("DELETE", f"{path}?gracePeriodSeconds=0&propagationPolicy={policy}", absent=True)
        if wait:
            wait_for(f"{kinds} {' '.join(names)} to be gone",
                     lambda: not any((found := self.called("GET", path, absent=True)) and found.get("items", True)
                                     for path in paths))

    def complaint(self, method, kind, name=None, body=None, *, subresource="", manager=None, content_type=None,
                  **caller):
        """Returns the message of the API server's refusal, or an empty text if it accepts the call.
        A patch is a merge patch. `caller`: a user or a token."""
        query = ({"fieldValidation": "Strict"} if method == "POST" else {"gracePeriodSeconds": 0} if method == "DELETE"
                 else {})
        query |= {"fieldManager": manager} if manager else {}
        path = self.api.kind(kind).path(name=name) + (subresource and f"/{subresource}") + "?" + urllib.parse.urlencode(
            query)
        content_type = content_type or (MERGE_PATCH if method == "PATCH" else "application/json")
        try:
            self.api.call(method, path, body, content_type, **caller)
        except ApiError as error:
            if not error.status:
                raise
            return str(error)
        return ""

    def called(self, *call, absent=False, **options):
        """Makes a call, and repeats it once if there is no answer, as after a restart of the API
        server. Raises ConnectionError if there is none then. Also repeats a deletion that takes
        longer than the API server's time limit, as that of many pods on a busy machine.

        `absent`: returns None if the object does not exist.
        """
        for again in (True, False):
            try:
                return self.api.call(*call, **options)
            except ApiError as error:
                if absent and error.status == 404:
                    return None
                if error.status == 409 and call[0] == "POST" and not again:
                    # The first call has created it.
                    return self.api.call("GET", f"{call[1].partition('?')[0]}/{call[2]['metadata']['name']}")
                if error.status == 504 and call[0] == "DELETE" and again:
                    continue
                if error.status:
                    raise AssertionError(f"{call[0]} {call[1]}: {error}") from error
                if not again:
                    raise ConnectionError(f"{call[0]} {call[1]}: {error}") from error
        return None

    def pods(self):
        return {pod["metadata"]["name"]: pod for pod in self.get("pods")["items"]}

    def bound(self):
        """Returns pod name -> node name, for pods that are bound."""
        return {name: pod["spec"]["nodeName"] for name, pod in self.pods().items() if pod["spec"].get("nodeName")}

    def clear(self):
        self.called("DELETE", PODS + "?gracePeriodSeconds=0")
        empty = wait_for("all pods to be gone", lambda: not (found := self.called("GET", PODS))["items"] and found)
        self.cleared = int(empty["metadata"]["resourceVersion"])

    def events(self, pod):
        """Returns the messages of events about pods of that name since the last clear(). Earlier
        events may be about pods of other tests with the same name."""
        items = self.get("events", fieldSelector=f"involvedObject.name={pod}")["items"]
        return [event["message"]
                for event in items if event.get("message") and int(event["metadata"]["resourceVersion"]) > self.cleared]


def pod(name, gpus=1, cpu="3", memory="60G", demand=None, scheduler="synergy-scheduler", **spec):
    requests = {"cpu": cpu, "memory": memory}
    limits = {}
    if gpus:
        requests[GPU] = limits[GPU] = str(gpus)
    metadata = {"name": name}
    if demand:
        metadata["annotations"] = {"synergy.io/demand": json.dumps(demand)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {
            "schedulerName": scheduler,
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 0,
            "containers": [{
                "name": "train",
                "image": "synergy.test/busybox:1",
                "imagePullPolicy": "IfNotPresent",
                "resources": {"requests": requests, "limits": limits},
            }],
            **spec,
        },
    }


class Extender:
    """Runs synergy-extender as a process."""

    def __init__(self, cluster, recording=None, shipped=False, shadow=False, settings=""):
        self.cluster = cluster
        self.settings = settings  # lines of the extender's configuration
        self.shadow = shadow
        self.shipped = shipped  # with the headroom of the shipped configuration
        self.recording = recording
        self.process = None
        self.log = open(cluster.folder / "extender.log", "ab")
        self.kubeconfig = cluster.state / "synergy-extender.kubeconfig"

    def start(self, ready=True):
        program = pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy-extender"
        config = self.cluster.folder / "extender.yaml"
        settings = "" if self.shipped else "nodeHeadroom: {cpu: 0, memory: 0}\n"
        if self.shadow:
            settings += "shadow: true\n"
        settings += self.settings
        if self.recording:
            settings += f"recordFile: {self.recording}\n"
        config.write_text(settings, encoding="utf-8")
        command = [str(program), "--kubeconfig", str(self.kubeconfig), "--listen", f"127.0.0.1:{self.cluster.port}",
                   "--log-level", "debug", "--config", str(config)]
        self.process = subprocess.Popen(command, stderr=self.log)
        if ready:
            wait_for("the extender to be ready", self.is_ready)

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.cluster.port}{path}", timeout=10) as answer:
            return answer.read().decode()

    def is_ready(self):
        if self.process.poll() is not None:
            raise AssertionError(f"the extender ended with {self.process.returncode}; see {self.log.name}")
        try:
            return self.get("/readyz")
        except OSError:
            return False

    def metric(self, line):
        """Returns the value of the metric with this name and these labels; 0 if there is none."""
        return metric(self.get("/metrics"), line)

    def end(self, how=signal.SIGTERM):
        """Ends the process, and returns its exit status. Resumes a frozen process first."""
        if self.process.poll() is None:
            self.process.send_signal(how)
            self.process.send_signal(signal.SIGCONT)
        code = self.process.wait(timeout=30)
        return code


class ClusterTest(unittest.TestCase):
    """A test on the shared cluster, which starts without pods and with an extender."""

    recording = None  # the file to which the extender records, if any
    shadow = False
    settings = ""  # lines of the extender's configuration

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()

    def setUp(self):
        self.cluster.clear()
        self.extender = Extender(self.cluster, self.recording, shadow=self.shadow, settings=self.settings)
        self.addCleanup(self.extender.log.close)
        # Registered before the start: an extender that is left running would occupy the port in all
        # later tests.
        self.addCleanup(self.stop)
        self.extender.start()

    def stop(self):
        self.assertEqual(self.extender.end(), 0, "the extender has to end cleanly on SIGTERM")
