"""GPU reservations: a large job gets its turn, and pods that end in time run before it.

A stand-in node agent reports how long trainings still take.
"""

import contextlib
import itertools
import json
import os
import pathlib
import subprocess
import time
import unittest

import failures
import fungible
from cluster import ClusterTest, pod, wait_for
from stand_in_agent import StandInAgent

GPUS = 8  # of each node
ANNOTATION = "synergy.io/gpu-reservation"
LONGEST_RUN = "synergy.io/longest-run"
GUARDS = {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true", "karpenter.sh/do-not-disrupt": "true"}
HOUR = 3600
PLANNING = 5  # seconds between two looks of the controller


def on(*nodes, **spec):
    """Returns the spec of a pod that may go to these nodes only."""
    name = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": list(nodes)}]}
    terms = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [name]}}
    return {"affinity": {"nodeAffinity": terms}, **spec}


def gpu_pod(name, gpus, *nodes, **spec):
    return pod(name, gpus, "1", "10G", **on(*nodes, **spec))


def cores(text):
    return float(text[:-1]) / 1000 if text.endswith("m") else float(text)


class ReservationsTest(ClusterTest):
    settings = "reservations: {enabled: true}\n"
    controller = "{enabled: true, after: 1s, autoscaler: true}"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        nodes = sorted(n["metadata"]["name"] for n in cls.cluster.get("nodes")["items"]
                       if n["status"]["allocatable"].get("nvidia.com/gpu") == str(GPUS))
        cls.nodes, cls.other_nodes = nodes[:2], nodes[2:5]
        cls.agent = cls.enterClassContext(StandInAgent(cls.cluster, cls.nodes[0]))
        cls.enterClassContext(cls.cluster.controller(progress=cls.agent.settings(), profiling="{enabled: false}",
                                                     reservations=cls.controller))

    def setUp(self):
        super().setUp()
        self.agent.reports.clear()
        self.train()

    def train(self):
        """On the first node four GPUs are in use for another hour, on the second six for an unknown
        time; a job of eight GPUs waits."""
        self.first, self.second = self.nodes
        self.cluster.create(gpu_pod("train-a", 4, self.first), gpu_pod("train-b", 6, self.second))
        self.await_bound("train-a", "train-b")
        self.agent.report("train-a", format="tqdm", remaining=HOUR * 10**9)
        self.cluster.create(gpu_pod("large", 8, *self.nodes))

    def await_bound(self, *names):
        wait_for(f"{names} to be bound", lambda: set(names) <= set(self.cluster.bound()))

    def condition(self, name):
        """Returns why kube-scheduler has no node for the pod."""
        conditions = self.cluster.pods()[name]["status"].get("conditions", [])
        return next((c.get("message", "") for c in conditions if c["type"] == "PodScheduled"), "")

    def reservation(self, name):
        text = self.cluster.pods()[name]["metadata"].get("annotations", {}).get(ANNOTATION)
        return json.loads(text) if text else None

    def await_guarded(self, *nodes):
        """Waits until exactly these nodes are kept from scale-down, by both annotations."""
        def guards(node):
            return {key: value for key, value in (node["metadata"].get("annotations") or {}).items() if key in GUARDS}
        wait_for(f"{nodes} to be kept from scale-down", lambda: {
            node["metadata"]["name"]: found for node in self.cluster.get("nodes")["items"] if (found := guards(node))
        } == dict.fromkeys(nodes, GUARDS))

    def explained(self, name):
        program = pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy"
        return subprocess.run([program, "explain", "pod", name], env=self.cluster.environment, check=True, text=True,
                              capture_output=True).stdout


class EnabledTest(ReservationsTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.create(fungible.SENSITIVE)
        cls.addClassCleanup(cls.cluster.delete, "trainingprofiles")
        wait_for("the profile to be judged",
                 lambda: cls.cluster.get("trainingprofile", "sensitive").get("status", {}).get("demand"))

    def await_refused(self, name):
        self.cluster.create(gpu_pod(name, 3, *self.nodes))
        wait_for(f"{name} to be told why it waits",
                 lambda: "are reserved for default/large until" in self.condition(name))
        self.assertIn("this pod has no known end", self.condition(name))

    def test_a_large_job_gets_its_node_and_short_pods_run_before_it(self):
        reserved = wait_for("a reservation", lambda: self.reservation("large"))
        self.assertEqual(reserved["places"], [
            {"node": self.first, "gpus": GPUS, "milliCpu": 1000, "memory": 10 * 10**9}])
        self.assertEqual(reserved["waitsFor"], ["default/train-a"])
        text = f"on {self.first}, when default/train-a is done"
        wait_for("its event", lambda: any(text in event for event in self.cluster.events("large")))
        self.assertRegex(self.explained("large"), rf"\n  starts about .* {text}")
        wait_for("the extender to know it", lambda: self.extender.metric("synergy_extender_gpu_reservations") == 1)
        self.await_guarded(self.first)

        self.await_refused("endless")
        self.assertIn("GPUs are reserved for a job that has waited for long", self.explained("endless"))
        # Two GPUs of the other node are not reserved.
        self.cluster.create(gpu_pod("small", 2, *self.nodes))
        self.cluster.create(gpu_pod("short", 3, *self.nodes, activeDeadlineSeconds=600))
        self.await_bound("small", "short")
        self.assertEqual((self.cluster.bound()["small"], self.cluster.bound()["short"]), (self.second, self.first))

        # The trainings end; the pod without a known end does not take the large job's place.
        self.cluster.delete("pods", "train-a", "short")
        self.await_bound("large")
        self.assertEqual(self.cluster.bound()["large"], self.first)
        self.assertNotIn("endless", self.cluster.bound())
        wait_for("the reservation to be removed", lambda: self.reservation("large") is None)
        self.await_guarded()

    def test_a_job_for_which_an_autoscaler_makes_nodes_has_no_reservation(self):
        # A controller that ended has left a guard; the administrator's own one is another's.
        for node, manager in ((self.second, "synergy"), (self.other_nodes[0], "kubectl")):
            self.assertEqual("", self.cluster.complaint("PATCH", "node", node, {"metadata": {"annotations": GUARDS}},
                                                        manager=manager))
        self.addCleanup(self.cluster.patch, "node", self.other_nodes[0],
                        {"metadata": {"annotations": dict.fromkeys(GUARDS)}})
        wait_for("a reservation", lambda: self.reservation("large"))
        self.await_guarded(self.first, self.other_nodes[0])
        large = self.cluster.pods()["large"]["metadata"]
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.cluster.create({
            "apiVersion": "v1", "kind": "Event", "metadata": {"name": f"large.{large['uid']}"},
            "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": "large",
                               "uid": large["uid"]},
            "reason": "TriggeredScaleUp", "message": "pod triggered scale-up: [{gpu 1->2 (max: 9)}]", "type": "Normal",
            "source": {"component": "cluster-autoscaler"}, "firstTimestamp": now, "lastTimestamp": now, "count": 1})
        wait_for("the reservation to be removed", lambda: self.reservation("large") is None)
        self.await_guarded(self.other_nodes[0])
        wait_for("its event", lambda: any("an autoscaler makes nodes for it" in event
                                          for event in self.cluster.events("large")))
        self.assertIn("only set or remove the annotations",
                      self.cluster.complaint("PATCH", "node", self.first, {"metadata": {"labels": {"forged": "true"}}},
                                             user="synergy-controller"))

    def cores_of(self, *names):
        pods = self.cluster.pods()
        return sum(cores(pods[name]["spec"]["containers"][0]["resources"]["requests"]["cpu"]) for name in names)

    def test_the_tuner_makes_room_for_cpu_before_the_start(self):
        """Two trainings that stay have 9 of 24 cores each. The job needs 12: 6 more than are free once
        train-a is done."""
        self.cluster.delete("pods", "large", wait=True)
        on_first = {"nodeSelector": {"kubernetes.io/hostname": self.first}}
        for name in ("stays-1", "stays-2"):
            self.cluster.create(fungible.pod(name, "sensitive", **on_first))
            self.await_bound(name)
        self.assertEqual(self.cores_of("stays-1", "stays-2"), 18)
        half = gpu_pod("half", 4, self.first)
        half["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "12"
        self.cluster.create(half)
        reserved = wait_for("a reservation", lambda: self.reservation("half"))
        self.assertEqual(reserved["places"], [
            {"node": self.first, "gpus": 4, "milliCpu": 12000, "memory": 10 * 10**9}])
        self.assertEqual(self.cores_of("stays-1", "stays-2"), 18, "the start is an hour away")

        self.agent.report("train-a", format="tqdm", remaining=60 * 10**9)
        wait_for("the room to be made", lambda: self.cores_of("stays-1", "stays-2") <= 12)
        self.assertNotIn("half", self.cluster.bound())
        self.assertIn("train-a", self.cluster.bound())
        for name in ("stays-1", "stays-2"):
            floor = json.loads(self.cluster.pods()[name]["metadata"]["annotations"]["synergy.io/floor"])["cpu"]
            self.assertGreaterEqual(self.cores_of(name), cores(floor))
        wait_for("its event", lambda: any("room for default/half, which starts soon" in event for name in (
            "stays-1", "stays-2") for event in self.cluster.events(name)))
        self.cluster.delete("pods", "train-a")
        self.await_bound("half")
        self.assertNotIn("Insufficient cpu", self.condition("half"))

    def nightly(self, name, *nodes):
        item = gpu_pod(name, 3, *nodes)
        item["metadata"]["labels"] = {"synergy.io/workload": "nightly"}
        return item

    def train_each_night(self, week):
        """Trains five times elsewhere, each time for longer than the controller looks away."""
        names = [f"nightly-{week}-{day}" for day in range(5)]
        self.cluster.create(*(self.nightly(name, *self.other_nodes) for name in names))
        wait_for("them to run", lambda: all(
            self.cluster.pods()[name]["status"].get("phase") == "Running" for name in names))
        time.sleep(PLANNING + 1)
        for name in names:
            self.cluster.end_pod(name, "Succeeded")

    def test_refused_pods_run_if_their_workload_is_short_or_the_large_job_is_gone(self):
        wait_for("the extender to know the reservation",
                 lambda: self.extender.metric("synergy_extender_gpu_reservations") == 1)
        self.await_refused("endless")
        self.cluster.create(self.nightly("tonight", *self.nodes))
        weeks = itertools.count()

        def is_learnt():
            # A controller that is late misses some of them. It needs four.
            self.train_each_night(next(weeks))
            with contextlib.suppress(AssertionError):
                wait_for("tonight's one to be bound", lambda: "tonight" in self.cluster.bound(), 2 * PLANNING)
            return "tonight" in self.cluster.bound()
        wait_for("the workload to be known as a short one", is_learnt)
        self.assertEqual(self.cluster.bound()["tonight"], self.first)
        self.assertLess(int(self.cluster.pods()["tonight"]["metadata"]["annotations"][LONGEST_RUN]), HOUR // 2)
        # Another workload's pods are as unknown as before.
        self.assertNotIn("endless", self.cluster.bound())

        self.cluster.delete("pods", "large", "tonight")
        self.await_bound("endless")
        self.assertEqual(self.cluster.bound()["endless"], self.first)


class DisabledTest(ReservationsTest):
    settings = ""
    controller = "{enabled: false}"

    def test_pods_take_the_gpus_that_are_free(self):
        wait_for("the large job to wait", lambda: "Insufficient nvidia.com/gpu" in self.condition("large"))
        self.cluster.create(gpu_pod("endless", 3, *self.nodes))
        self.await_bound("endless")
        self.assertEqual(self.cluster.bound()["endless"], self.first)
        self.assertIsNone(self.reservation("large"))


if __name__ == "__main__":
    failures.main()
