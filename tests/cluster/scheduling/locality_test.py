"""The distance between the pods of a gang, on a real control plane: one node, then one rack, then
any nodes.

Node a is in one rack, nodes b and c are in another. Each has a pod on half of its GPUs, so a gang
of two pods that need half a node each fits on no node.
"""

import datetime
import re
import signal
import time
import unittest

import failures
from cluster import ClusterTest, pod, wait_for
from gangs_test import gang, on

HALF = 4  # GPUs
PART = {"synergy.test/part": "locality"}
RACK = "synergy.test/rack"
WAIT = 5  # seconds for each tier, if waits are to end by themselves
UNTIL = re.compile(r"waits for room within one (node|rack) until ([0-9T:.-]+)Z")


def moment(text):
    return datetime.datetime.fromisoformat(text.rstrip("Z") + "+00:00").timestamp()


def waiting(seconds):
    return f"locality: {{nodeWait: {seconds}s, rackWait: {seconds}s, rackLabel: {RACK}}}\n"


class ThreeNodesTest(ClusterTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.nodes = sorted(node["metadata"]["name"] for node in cls.cluster.get("nodes")["items"]
                           if node["status"]["allocatable"].get("nvidia.com/gpu") == str(2 * HALF))[:3]
        for node, rack in zip(cls.nodes, ("one", "two", "two")):
            cls.cluster.patch("node", node, {"metadata": {"labels": {RACK: rack, **PART}}})
            cls.addClassCleanup(cls.cluster.patch, "node", node,
                                {"metadata": {"labels": {RACK: None, **dict.fromkeys(PART)}}})

    def setUp(self):
        super().setUp()
        self.a, self.b, self.c = self.nodes
        self.cluster.create(*[pod(f"on-{node}", HALF, "1", "10G", **on(node)) for node in self.nodes])
        wait_for("the nodes to be half full", lambda: len(self.cluster.bound()) == 3)

    def fill(self, node):
        self.cluster.create(pod(f"more-on-{node}", HALF, "1", "10G", **on(node)))
        wait_for("a node to be full", lambda: f"more-on-{node}" in self.cluster.bound())

    def create(self, name, labels=None):
        pods = gang(name, 2, HALF, nodeSelector=PART)
        for each in pods:
            each["metadata"]["labels"].update(labels or {})
        self.cluster.create(*pods)

    def places(self, name):
        """Returns the nodes of both pods, once both are bound."""
        names = {f"{name}-0", f"{name}-1"}
        wait_for(f"{name} to run", lambda: names <= set(self.cluster.bound()))
        return sorted(node for each, node in self.cluster.bound().items() if each in names)

    def waited(self, name):
        """Returns the seconds from the pod's creation to its bind, by the clocks of the API server
        and of kube-scheduler, both of which are the machine's."""
        pods = self.cluster.pods()
        created = min(moment(pods[f"{name}-{number}"]["metadata"]["creationTimestamp"]) for number in (0, 1))
        scheduled = [condition["lastTransitionTime"] for number in (0, 1)
                     for condition in pods[f"{name}-{number}"]["status"]["conditions"]
                     if condition["type"] == "PodScheduled"]
        return max(map(moment, scheduled)) - created

    def waits(self, name):
        """Returns tier -> the latest time at which the wait for it ends, by the events."""
        found = [(moment(until), tier) for number in (0, 1) for message in self.cluster.events(f"{name}-{number}")
                 for tier, until in UNTIL.findall(message)]
        return {tier: until for until, tier in sorted(found)}

    def wait_for_node(self, name):
        wait_for("an event that says what it waits for", lambda: "node" in self.waits(name))


class WaitsThatEndTest(ThreeNodesTest):
    settings = waiting(WAIT)

    def test_without_a_free_node_it_waits_for_a_rack_despite_a_restart(self):
        self.create("near")
        self.wait_for_node("near")
        until = self.waits("near")["node"]
        # The check comes so late that a wait that had begun again would end seconds later.
        wait_for("half of the wait", lambda: time.time() > until - WAIT / 2)
        self.extender.end(signal.SIGKILL)
        self.extender.start()
        self.assertEqual(self.places("near"), [self.b, self.c])
        self.assertGreaterEqual(self.waited("near"), WAIT - 1)  # whole seconds
        self.assertLessEqual(self.waits("near")["node"], until + 1, "it has begun to wait anew")  # whole seconds

    def test_without_room_in_a_rack_it_goes_anywhere_in_the_end(self):
        self.fill(self.b)
        self.create("far")
        self.assertEqual(self.places("far"), [self.a, self.c])
        # kube-scheduler may skip the seconds in which the gang waits for the rack.
        self.assertIn("node", self.waits("far"))
        self.assertGreaterEqual(self.waited("far"), 2 * WAIT - 1)


class WaitsThatLastTest(ThreeNodesTest):
    settings = waiting(300)

    def test_a_gang_that_loses_nothing_is_spread_at_once(self):
        self.create("light", {"synergy.io/tensor-skew": "0.05"})
        self.places("light")
        self.assertEqual(self.waits("light"), {})

    def test_nothing_is_held_while_it_waits_and_a_node_that_becomes_free_is_taken(self):
        self.create("patient")
        self.wait_for_node("patient")
        self.assertEqual(self.extender.metric("synergy_extender_gangs_waiting_for_locality"), 1)
        self.assertEqual(self.extender.metric("synergy_extender_held_gangs"), 0)
        self.fill(self.c)
        self.cluster.delete("pod", f"on-{self.b}")
        self.assertEqual(self.places("patient"), [self.b, self.b])

    def test_the_profile_has_the_spread_cost(self):
        self.enterContext(self.cluster.controller())
        self.addCleanup(self.cluster.delete, "tp", "light")
        profile = {"apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile", "metadata": {"name": "light"},
                   "spec": {"gpus": HALF, "spreadSpeed": {"nodes": 0.98, "racks": 0.99},
                            "points": [{"cpu": 1, "memory": "10G", "throughput": 1}]}}
        with self.assertRaisesRegex(AssertionError, "must be at most nodes"):
            self.cluster.create(profile)
        profile["spec"]["spreadSpeed"]["racks"] = 0.97
        self.cluster.create(profile)
        wait_for("the profile to be used", lambda: any(
            condition["type"] == "Valid" and condition["status"] == "True"
            for condition in self.cluster.get("trainingprofiles", "light").get("status", {}).get("conditions", [])))
        self.create("told", {"synergy.io/profile": "light"})
        self.assertEqual(self.cluster.pods()["told-0"]["metadata"]["annotations"]["synergy.io/spread-cost"],
                         "nodes=0.98,racks=0.97")
        self.places("told")
        self.assertEqual(self.waits("told"), {})


if __name__ == "__main__":
    failures.main()
