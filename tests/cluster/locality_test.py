"""How near each other the pods of a gang are, on a real control plane: a node, then a rack, then anywhere.

Three nodes, a in one rack, b and c in another, each with a pod on half of its GPUs: a gang of two halves fits on no node.
"""

import datetime
import re
import signal
import unittest

from cluster import ClusterTest, pod, wait_for
from gangs_test import gang, on

HALF = 4  # GPUs
PART = {"synergy.test/part": "locality"}
RACK = "synergy.test/rack"
WAIT = 8  # seconds, for each tier
UNTIL = re.compile(r"waits for room within one (node|rack) until ([0-9T:.-]+)Z")


def moment(text):
    return datetime.datetime.fromisoformat(text.rstrip("Z")).timestamp()


class LocalityTest(ClusterTest):
    settings = f"locality: {{nodeWait: {WAIT}s, rackWait: {WAIT}s, rackLabel: {RACK}}}\n"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.nodes = sorted(node["metadata"]["name"] for node in cls.cluster.get("nodes")["items"]
                           if node["status"]["allocatable"].get("nvidia.com/gpu") == str(2 * HALF))[:3]
        for node, rack in zip(cls.nodes, ("one", "two", "two")):
            cls.cluster.kubectl("label", "node", node, f"{RACK}={rack}", "synergy.test/part=locality", "--overwrite")

    @classmethod
    def tearDownClass(cls):
        cls.cluster.kubectl("label", "node", *cls.nodes, f"{RACK}-", "synergy.test/part-")
        super().tearDownClass()

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
        """The nodes of both pods, once they have them."""
        names = {f"{name}-0", f"{name}-1"}
        wait_for(f"{name} to run", lambda: names <= set(self.cluster.bound()), 60)
        return sorted(node for each, node in self.cluster.bound().items() if each in names)

    def waited(self, name):
        """Seconds from its creation, by the API server's clock and kube-scheduler's, which are the machine's."""
        pods = self.cluster.pods()
        created = min(moment(pods[f"{name}-{number}"]["metadata"]["creationTimestamp"]) for number in (0, 1))
        scheduled = [condition["lastTransitionTime"] for number in (0, 1) for condition in pods[f"{name}-{number}"]["status"]["conditions"]
                     if condition["type"] == "PodScheduled"]
        return max(map(moment, scheduled)) - created

    def waits(self, name):
        """What its events say that it waits for: tier -> until when."""
        return {tier: moment(until) for number in (0, 1) for message in self.cluster.events(f"{name}-{number}")
                for tier, until in UNTIL.findall(message)}

    def wait_for_node(self, name):
        wait_for("an event that says what it waits for", lambda: "node" in self.waits(name), 20)

    def test_without_room_on_one_node_it_waits_and_then_takes_a_rack(self):
        self.create("near")
        self.wait_for_node("near")
        self.assertEqual(self.extender.metric("synergy_extender_gangs_waiting_for_locality"), 1)
        self.assertEqual(self.extender.metric("synergy_extender_held_gangs"), 0)
        self.assertEqual(self.places("near"), [self.b, self.c])
        self.assertGreaterEqual(self.waited("near"), WAIT - 1)  # whole seconds

    def test_without_room_in_a_rack_it_goes_anywhere_in_the_end(self):
        self.fill(self.b)
        self.create("far")
        self.assertEqual(self.places("far"), [self.a, self.c])
        # kube-scheduler asks 1, 2, 4 and 8 s after its last try, so it may pass over the seconds in which the rack is waited for.
        self.assertIn("node", self.waits("far"))
        self.assertGreaterEqual(self.waited("far"), 2 * WAIT - 1)

    def test_what_loses_nothing_is_spread_at_once(self):
        self.create("light", {"synergy.io/tensor-skew": "0.05"})
        self.places("light")
        self.assertEqual(self.waits("light"), {})

    def test_nothing_is_held_while_it_waits_and_a_node_that_becomes_free_is_taken(self):
        self.create("patient")
        self.wait_for_node("patient")
        self.fill(self.c)
        self.cluster.kubectl("delete", "pod", f"on-{self.b}", "--force", "--grace-period=0", "--wait=false")
        self.assertEqual(self.places("patient"), [self.b, self.b])

    def test_an_extender_that_starts_again_goes_on_with_the_wait(self):
        self.create("again")
        self.wait_for_node("again")
        before = self.waits("again")["node"]
        self.extender.end(signal.SIGKILL)
        self.extender.start()
        self.places("again")
        # kube-scheduler writes down whole seconds.
        self.assertLessEqual(self.waits("again")["node"], before + 2)

    def test_the_profile_says_what_spreading_costs(self):
        self.cluster.script("start", "synergy-controller")
        self.addCleanup(self.cluster.script, "stop", "synergy-controller")
        self.addCleanup(self.cluster.kubectl, "delete", "tp", "light", "--ignore-not-found")
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
        self.assertEqual(self.cluster.pods()["told-0"]["metadata"]["annotations"]["synergy.io/spread-cost"], "nodes=0.98,racks=0.97")
        self.places("told")
        self.assertEqual(self.waits("told"), {})


if __name__ == "__main__":
    unittest.main(verbosity=2)
