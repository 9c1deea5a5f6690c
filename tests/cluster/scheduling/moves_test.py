"""Moves: a job that waits for more GPUs of one node than are free there gets them, because one
running job that checkpoints goes to other GPUs.

Two nodes have eight GPUs each; pods that stay have four of each. On the other four of each node, a
Job has two. A pod waits for four.
"""

import json
import unittest

import failures
from api import MERGE_PATCH
from cluster import ClusterTest, pod, wait_for
from gang_preemption_test import RIGHTS

GPUS = 8  # of each node
HOUR = 3600
MOVES = "{enabled: true, after: 2s, restartCost: 30s}"
IGNORES = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}
LOOKS = 15  # seconds: three looks of the controller


def on(*nodes):
    """Returns the spec of a pod that may go to these nodes only."""
    name = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": list(nodes)}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [name]}}}}


class MovesTest(ClusterTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.addClassCleanup(cls.cluster.delete, "clusterrole,clusterrolebinding", "gang-preemption")
        cls.cluster.create(*RIGHTS)
        cls.nodes = sorted(n["metadata"]["name"] for n in cls.cluster.get("nodes")["items"]
                           if n["status"]["allocatable"].get("nvidia.com/gpu") == str(GPUS))[:2]
        cls.enterClassContext(cls.cluster.controller(moves=MOVES))

    def setUp(self):
        super().setUp()
        self.addCleanup(self.cluster.delete, "jobs,poddisruptionbudgets", wait=True)
        self.cluster.create(*[pod(f"stays-{number}", 4, "1", "10G", **on(node))
                              for number, node in enumerate(self.nodes)])
        self.await_bound("stays-0", "stays-1")

    def end_evicted(self):
        """Ends pods that are being deleted, as a kubelet does. Those of Jobs have a finalizer."""
        for name, item in self.cluster.pods().items():
            if item["metadata"].get("deletionTimestamp") and item["status"].get("phase") == "Running":
                path = self.cluster.api.kind("pod").path("default", name)
                self.cluster.called("PATCH", path + "/status", {"status": {"phase": "Failed"}}, MERGE_PATCH,
                                    absent=True)

    def await_that(self, what, check, seconds=300):
        """Waits for that, with kubelets that end evicted pods."""
        def checked():
            self.end_evicted()
            return check()
        return wait_for(what, checked, seconds)

    def await_bound(self, *prefixes, seconds=300):
        self.await_that(f"{prefixes} to be bound", lambda: all(self.node_of(prefix) for prefix in prefixes), seconds)

    def node_of(self, prefix):
        return next((node for name, node in self.cluster.bound().items() if name.startswith(prefix)), None)

    def train(self, name, moves=True, policy=True):
        """Runs a Job with two GPUs that ends within an hour."""
        template = {"metadata": {"annotations": {"synergy.io/checkpoint": "true",
                                                 **({"synergy.io/moves": "true"} if moves else {})},
                                 "labels": {"job": name}},
                    "spec": {**pod(name, 2, "1", "10G", **on(*self.nodes))["spec"], "activeDeadlineSeconds": HOUR}}
        spec = {"backoffLimit": 0, "template": template, **({"podFailurePolicy": IGNORES} if policy else {})}
        self.cluster.create({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": spec})
        wait_for(f"{name} to run", lambda: any(each["status"].get("phase") == "Running" for each in self.cluster.get(
            "pods", labelSelector=f"job={name}")["items"]))

    def fragment(self, **how):
        """Runs the Jobs "left" and "right", each on a node of its own."""
        first, second = self.nodes
        self.cluster.create(pod("in-the-way", 4, "1", "10G", **on(second)))
        self.await_bound("in-the-way")
        self.train("left", **how)
        self.assertEqual(self.node_of("left"), first)
        self.cluster.create(pod("also-in-the-way", 2, "1", "10G", **on(first)))
        self.await_bound("also-in-the-way")
        self.cluster.delete("pods", "in-the-way", wait=True)
        self.train("right", **how)
        self.assertEqual(self.node_of("right"), second)
        self.cluster.delete("pods", "also-in-the-way", wait=True)

    def wait_for_four(self):
        self.cluster.create(pod("big", 4, "1", "10G", **on(*self.nodes)))

    def names(self):
        return {name for name in self.cluster.pods() if name.startswith(("left", "right"))}

    def moved(self):
        """Returns how many moves there were, by outcome."""
        return {outcome: self.cluster.controller_metric(f'synergy_moves_total{{outcome="{outcome}"}}')
                for outcome in ("moved", "in_vain", "refused", "waiter_gone")}

    def record(self):
        maps = self.cluster.get("configmaps", namespace="synergy-system")["items"]
        return next((json.loads(each["data"]["moves.json"])["moves"]
                     for each in maps if each["metadata"]["name"] == "synergy-moves"), [])

    def test_a_job_of_four_gpus_starts_after_one_move(self):
        self.fragment()
        before, counted, recorded = self.names(), self.moved(), len(self.record())
        self.wait_for_four()
        self.await_bound("big")
        self.await_that("the moved job to run again", lambda: len(self.names() - before) == 1 and len(
            self.names()) == 2 and self.node_of("left") == self.node_of("right"))
        emptied = self.node_of("big")
        other = next(node for node in self.nodes if node != emptied)
        self.assertEqual(self.node_of("left"), other)
        gone = before - self.names()
        self.assertEqual(len(gone), 1, "exactly one pod moved")
        moved, = {name.rpartition("-")[0] for name in gone}
        for name in ("left", "right"):
            status = self.cluster.get("job", name)["status"]
            self.assertEqual(status.get("failed", 0), 0, f"{name} counts a failure")
            wait_for(f"{name} to count its pod", lambda: self.cluster.get("job", name)["status"].get("active") == 1)
        wait_for("the move to be counted", lambda: self.moved()["moved"] == counted["moved"] + 1)
        text = f"moves so that default/big gets 4 GPUs on {emptied}; its new pods have room on {other}"
        for name in (moved, *gone):
            wait_for(f"an event about {name}", lambda: any(text in event for event in self.cluster.events(name)))
        wait_for("an event for the waiter", lambda: any(
            f"default/{moved} moves to {other}, so that this job gets 4 GPUs on {emptied}" in event
            for event in self.cluster.events("big")))
        self.assertEqual(len(self.record()), recorded + 1)
        self.assertEqual(self.record()[-1]["job"], f"default/{moved}")

    def assert_stays(self):
        before = self.names()
        self.wait_for_four()
        with self.assertRaises(AssertionError):
            self.await_that("nothing", lambda: self.names() != before or "big" in self.cluster.bound(), LOOKS)
        self.assertEqual(self.names(), before)
        self.assertNotIn("synergy.io/hold", self.cluster.pods()["big"]["metadata"].get("annotations", {}))

    def test_nothing_moves_without_opt_in(self):
        self.fragment(moves=False)
        self.assert_stays()

    def test_a_job_whose_evicted_pods_count_as_failures_never_moves(self):
        self.fragment(policy=False)
        refused = self.moved()["refused"]
        self.assert_stays()
        wait_for("the controller to have looked at it", lambda: self.moved()["refused"] > refused)

    def test_a_disruption_budget_is_respected(self):
        self.fragment()
        self.cluster.create(*[{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
                               "spec": {"selector": {"matchLabels": {"job": name}}, "minAvailable": 1}}
                              for name in ("left", "right")])
        wait_for("the budgets to be in force", lambda: all(
            each.get("status", {}).get("currentHealthy") == 1
            for each in self.cluster.get("poddisruptionbudgets")["items"]))
        self.assert_stays()
        self.cluster.delete("poddisruptionbudget", "left")
        before = {name for name in self.names() if name.startswith("right")}
        self.await_bound("big")
        self.assertEqual({name for name in self.names() if name.startswith("right")}, before)

    def test_a_controller_killed_during_a_move_loses_nothing(self):
        self.fragment()
        before, recorded = self.names(), len(self.record())
        self.wait_for_four()
        wait_for("a move to be recorded", lambda: len(self.record()) > recorded)
        self.cluster.script("restart", "synergy-controller", "KILL")
        self.await_bound("big", seconds=240)
        self.await_that("the moved job to run again", lambda: len(self.names()) == 2 and self.node_of(
            "left") is not None and self.node_of("left") == self.node_of("right"))
        self.assertEqual(len(before - self.names()), 1, "exactly one pod moved")


if __name__ == "__main__":
    failures.main()
