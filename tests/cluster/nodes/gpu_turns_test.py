"""Turns on a GPU on a real kubelet: the node agent suspends and resumes training containers by the
plans in their pods' annotations. The test acts as the controller."""

import contextlib
import datetime
import http.client
import json
import os
import pathlib
import signal
import ssl
import subprocess
import threading
import unittest

import failures
import tiers
from api import PODS
from cluster import Cluster, free_port, wait_for
from node_agent import Agent
from trainers import load_image

PATIENCE = 480  # in seconds, on a busy machine
TURNS = "nvidia.com/gpu.turns"
GROUPS = pathlib.Path("/sys/fs/cgroup")


def sharing_pod(name):
    """Returns a managed pod, as the webhook creates it, that takes turns on a GPU."""
    amounts = json.dumps({"cpu": "50m", "memory": "64Mi"})
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "annotations": {f"synergy.io/{key}": value for key, value in (
            ("container", "train"), ("demand", amounts), ("floor", amounts))}},
        "spec": {
            "restartPolicy": "Never", "terminationGracePeriodSeconds": 5,
            "nodeSelector": {"synergy.test/node": "real"},
            "containers": [{
                "name": "train", "image": "synergy.test/trainer:1", "imagePullPolicy": "Never",
                "args": ["--workers", "1", "--cpu-per-iteration", "1", "--gpu-step", "20"],
                "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {TURNS: "1"}}}],
        },
    }


class Controller:
    """Renews the plan once a second inside a `with` block, as the leading controller does."""

    def __init__(self, state, port):
        self.port = port
        self.context = ssl.create_default_context(cafile=str(state / "pki/ca.crt"))
        self.context.load_cert_chain(state / "pki/webhook.crt", state / "pki/webhook.key")
        self.leads = threading.Event()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def report(self, renew=False):
        connection = http.client.HTTPSConnection("localhost", self.port, context=self.context, timeout=10)
        with contextlib.closing(connection):
            connection.request("GET", "/progress", headers={"Synergy-Turns": "renew"} if renew else {})
            return json.loads(connection.getresponse().read())

    def turn(self, pod):
        """Returns what the agent reports of the pod's turns; None before the agent serves and knows
        the pod."""
        with contextlib.suppress(OSError, http.client.HTTPException):
            return next((found["turn"] for found in self.report().get("pods", []) if found["name"] == pod), None)
        return None

    def run(self):
        while not self.ended.wait(1):
            # Tests kill the agent.
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                if self.leads.is_set():
                    self.report(renew=True)

    def __enter__(self):
        self.leads.set()
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


@unittest.skipUnless((GROUPS / "freezer").is_dir(), "control groups v1")
class GpuTurnsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        load_image(cls.cluster)

    def setUp(self):
        self.cluster.clear()
        for node in self.cluster.get("nodes", labelSelector="synergy.test/node=real")["items"]:
            name = node["metadata"]["name"]
            self.cluster.patch("node", name, {"status": {"capacity": {TURNS: "4"}, "allocatable": {TURNS: "4"}}},
                               "status")
            self.addCleanup(self.cluster.patch, "node", name,
                            {"status": {"capacity": {TURNS: None}, "allocatable": {TURNS: None}}}, "status")
        port = free_port()
        pki = self.cluster.state / "pki"
        self.agent = Agent(
            self.cluster, self.cluster.folder,
            f"shutdownGrace: 1s\nturns: {{enabled: true}}\nprogressListen: 127.0.0.1:{port}\n"
            f"tlsCertificateFile: {pki}/webhook.crt\ntlsKeyFile: {pki}/webhook.key\n"
            f"clientCaFile: {pki}/ca.crt\nclientName: localhost\npodResourcesSocket: ''\n")
        self.forget_unclean_end()
        self.controller = self.enterContext(Controller(self.cluster.state, port))
        self.cluster.create(sharing_pod("first"), sharing_pod("second"))
        for pod in ("first", "second"):
            wait_for(f"{pod} to run", lambda pod=pod: self.status(pod).get("state", {}).get("running"), PATIENCE)
        self.addCleanup(lambda: self.agent.process and self.agent.process.poll() is None and self.agent.process.kill())

    def forget_unclean_end(self):
        (self.cluster.folder / "node-agent-state/suspends").unlink(missing_ok=True)

    def status(self, pod):
        return self.cluster.get("pod", pod)["status"].get("containerStatuses", [{}])[0]

    def group(self, pod, of_container=True):
        found = self.cluster.get("pod", pod)
        group = f"synergy-test-{self.cluster.instance()}/node-1/kubepods/burstable/pod{found['metadata']['uid']}"
        if of_container:
            group += "/" + found["status"]["containerStatuses"][0]["containerID"].removeprefix("containerd://")
        return group

    def freezer(self, pod):
        return GROUPS / "freezer" / self.group(pod) / "freezer.state"

    def await_state(self, file, state):
        wait_for(f"{file} to be {state}", lambda: file.read_text(encoding="utf-8").strip() == state, PATIENCE)

    def plan(self, cycle, **runs):
        """Writes the pods' turns as the controller does, in seconds from now."""
        uids = {pod: self.cluster.get("pod", pod)["metadata"]["uid"] for pod in runs}
        epoch = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        for pod, (begin, end) in runs.items():
            turn = {"epoch": epoch, "cycleMs": cycle * 1000, "runsMs": [[begin * 1000, end * 1000]],
                    "with": [uid for name, uid in uids.items() if name != pod]}
            self.cluster.called("PATCH", f"{PODS}/{pod}?fieldManager=synergy",
                                {"metadata": {"annotations": {"synergy.io/turn": json.dumps(turn)}}},
                                "application/strategic-merge-patch+json", "application/json", "synergy-controller")

    def suspend_second(self):
        """Plans a long turn for the first pod. Returns the freezer file of the second."""
        file = self.freezer("second")
        self.plan(110, first=(0, 105), second=(105, 110))
        self.await_state(file, "FROZEN")
        return file

    def assert_unharmed(self):
        for pod in ("first", "second"):
            self.assertEqual(self.status(pod)["restartCount"], 0)
            self.assertIn("running", self.status(pod)["state"])

    @contextlib.contextmanager
    def thawer(self):
        """Runs the second process, which resumes pods if the guardian is killed."""
        process = subprocess.Popen([str(pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy-node-agent"), "--thaw",
                                    "--config", str(self.agent.config)])
        try:
            yield
        finally:
            process.terminate()
            self.assertEqual(process.wait(PATIENCE), 0)

    def test_two_pods_have_a_gpu_one_after_the_other(self):
        self.agent.start()
        files = {pod: self.freezer(pod) for pod in ("first", "second")}
        used = GROUPS / "cpuacct" / self.group("second") / "cpuacct.usage"
        self.suspend_second()
        before = used.read_text(encoding="utf-8")
        self.assertEqual(files["first"].read_text(encoding="utf-8").strip(), "THAWED")
        pod_freezer = GROUPS / "freezer" / self.group("second", of_container=False) / "freezer.state"
        self.assertEqual(pod_freezer.read_text(encoding="utf-8").strip(), "THAWED")
        wait_for("the agent to report it", lambda: (self.controller.turn("second") or {}).get("suspended"))
        self.assertEqual(used.read_text(encoding="utf-8"), before)
        self.plan(24, first=(0, 12), second=(12, 24))
        self.await_state(files["first"], "FROZEN")
        self.await_state(files["second"], "THAWED")
        wait_for("the second to go on", lambda: used.read_text(encoding="utf-8") != before, PATIENCE)
        self.await_state(files["second"], "FROZEN")
        self.await_state(files["first"], "THAWED")
        self.assertGreater(self.agent.metric("synergy_node_agent_suspended_seconds_total"), 10)

        # A pod that is deleted while it is suspended ends like any other.
        self.cluster.kubectl("delete", "pod", "second", "--wait=false")
        wait_for("it to end", lambda: "second" not in self.cluster.pods(), PATIENCE)
        self.await_state(files["first"], "THAWED")
        self.assertEqual(self.status("first")["restartCount"], 0)
        self.assertEqual(self.agent.end(), 0)

    def test_nothing_stays_suspended_whatever_is_killed(self):
        self.agent.start()
        file = self.suspend_second()
        os.kill(self.agent.child(), signal.SIGKILL)
        self.assertEqual(self.agent.process.wait(PATIENCE), 128 + signal.SIGKILL)
        self.assertEqual(file.read_text(encoding="utf-8").strip(), "THAWED")

        # The next agent suspends nothing for a while.
        self.agent.start()
        refusal = wait_for("the agent to refuse",
                           lambda: (self.controller.turn("second") or {}).get("refusal"), PATIENCE)
        self.assertIn("was killed a short time ago", refusal)
        self.assertEqual(file.read_text(encoding="utf-8").strip(), "THAWED")
        self.assertEqual(self.agent.end(), 0)

        for with_agent in (False, True):
            self.forget_unclean_end()
            self.agent.start()
            self.suspend_second()
            child = self.agent.child()
            if with_agent:
                os.kill(child, signal.SIGSTOP)
            self.agent.process.kill()
            self.agent.process.wait()
            if with_agent:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            self.assertEqual(file.read_text(encoding="utf-8").strip(), "FROZEN")
            with self.thawer():
                self.await_state(file, "THAWED")

        self.forget_unclean_end()
        self.agent.start()
        self.suspend_second()
        self.assertEqual(self.agent.end(), 0)
        self.assertEqual(file.read_text(encoding="utf-8").strip(), "THAWED")
        self.assert_unharmed()

    @tiers.long
    def test_without_a_controller_all_run(self):
        self.agent.start()
        file = self.suspend_second()
        self.controller.leads.clear()
        # The limit is before the end of the first pod's turn, 105 s after it began.
        wait_for("the second to run", lambda: file.read_text(encoding="utf-8").strip() == "THAWED", 80)
        self.assertEqual(self.agent.end(), 0)
        self.assert_unharmed()


if __name__ == "__main__":
    failures.main()
