"""Gangs of higher priority replace gangs and pods of lower priority, as a whole or not at all.

The controller evicts, by the API server's Eviction API; kube-scheduler's own pre-emption is told that it helps nobody.
"""

import time
import unittest

from cluster import ClusterTest, pod, wait_for
from gang_race import SIZE, gang, on
from gangs_test import indexed_job

URGENT = {"priorityClassName": "urgent-gang"}
EVICTED = 'synergy_controller_evicted_pods_total'
PATIENCE = 10  # seconds: the controller's default


class GangPreemptionTest(ClusterTest):
    settings = "gangHold: 15s\n"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.kubectl("create", "priorityclass", "urgent-gang", "--value=1000")
        cls.cluster.kubectl("create", "priorityclass", "patient-gang", "--value=1000", "--preemption-policy=Never")
        cls.addClassCleanup(cls.cluster.kubectl, "delete", "priorityclass", "urgent-gang", "patient-gang")

    def setUp(self):
        super().setUp()
        self.node = sorted(n["metadata"]["name"] for n in self.cluster.get("nodes")["items"]
                           if n["status"]["allocatable"].get("nvidia.com/gpu") == str(SIZE))[0]
        self.cluster.script("start", "synergy-controller")
        self.addCleanup(self.cluster.script, "stop", "synergy-controller")
        self.addCleanup(self.cluster.kubectl, "delete", "job", "--all", "--cascade=foreground")
        self.addCleanup(self.cluster.kubectl, "delete", "poddisruptionbudget", "--all")

    def bound(self, prefix):
        return {name for name in self.cluster.bound() if name.startswith(prefix)}

    def run_whole(self, name, seconds=60):
        wait_for(f"{name} to run whole", lambda: len(self.bound(name + "-")) == SIZE, seconds)

    def low_job(self):
        """A gang of priority 0, whose Job makes new pods for those that are evicted."""
        self.cluster.create(indexed_job("low", subdomain="low", **on(self.node)))
        self.run_whole("low")
        return self.bound("low-")

    def stays(self, names, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.assertLessEqual(names, set(self.cluster.bound()))
            time.sleep(1)

    def test_a_gang_replaces_a_gang_whose_new_pods_do_not_get_its_place(self):
        evicted = self.low_job()
        self.cluster.create(*gang("high", **on(self.node), **URGENT))
        mixed = []

        def whole():
            low, high = len(self.bound("low-")), len(self.bound("high-"))
            if high and low:
                mixed.append((low, high))
            return high == SIZE
        wait_for("the gang of higher priority to run whole", whole, 90)
        self.assertEqual(mixed, [], "pods of both are bound")
        self.assertFalse(evicted & set(self.cluster.pods()), "the other gang went as a whole")
        self.assertTrue(any("evicted for gang default/high, whose priority is 1000 and this pod's 0" in text
                            for name in evicted for text in self.cluster.events(name)))
        self.assertTrue(any("8 pods of lower priority are evicted for it" in text for text in self.cluster.events("high-0")))
        wait_for("the Job to make new pods", lambda: len([n for n in self.cluster.pods() if n.startswith("low-")]) == SIZE, 60)
        self.stays({f"high-{number}" for number in range(SIZE)}, 8)
        self.assertEqual(self.bound("low-"), set())
        self.cluster.kubectl("delete", "pod", *[f"high-{number}" for number in range(SIZE)], "--force", "--grace-period=0")
        self.run_whole("low", 90)

    def test_of_pods_that_train_alone_only_those_in_the_way_go(self):
        self.cluster.create(pod("high-single", 2, "1", "10G", **on(self.node), **URGENT),
                            *[pod(f"low-{number}", 1, "1", "10G", **on(self.node)) for number in range(6)])
        wait_for("the node to be full", lambda: len(self.cluster.bound()) == 7)
        self.cluster.create(*gang("high", 4, **on(self.node), **URGENT))
        wait_for("the gang to run", lambda: len(self.bound("high-")) == 5, 90)
        self.assertEqual(len(self.bound("low-")), 2)

    def test_a_disruption_budget_protects_a_gang_whole(self):
        low = self.low_job()
        protected = sorted(low)[3]
        self.cluster.kubectl("label", "pod", protected, "protected=true")
        self.cluster.kubectl("create", "poddisruptionbudget", "protects", "--selector=protected=true", "--min-available=1")
        self.cluster.create(*gang("high", **on(self.node), **URGENT))
        self.stays(low, PATIENCE + 8)
        self.cluster.kubectl("delete", "poddisruptionbudget", "protects")
        self.run_whole("high", 90)
        self.assertEqual(self.bound("low-"), set())

    def test_nobody_goes_for_a_gang_that_would_not_fit_or_never_preempts(self):
        low = self.low_job()
        self.cluster.create(*gang("large", SIZE + 1, **on(self.node), **URGENT),
                            *gang("patient", **on(self.node), priorityClassName="patient-gang"))
        self.stays(low, PATIENCE + 8)
        self.assertEqual(self.bound("large-") | self.bound("patient-"), set())

    def test_a_controller_killed_in_the_middle_holds_nothing_for_ever(self):
        low = self.low_job()
        self.cluster.create(*gang("high", **on(self.node), **URGENT))
        wait_for("the first to be evicted", lambda: low - set(self.cluster.pods()), 60)
        self.cluster.script("restart", "synergy-controller", "KILL")
        self.run_whole("high", 180)
        self.assertEqual(self.bound("low-"), set())
        held = lambda: [name for name, each in self.cluster.pods().items()
                        if "synergy.io/hold" in each["metadata"].get("annotations", {}) and not each["spec"].get("nodeName")]
        wait_for("no place to be kept", lambda: not held(), 90)


if __name__ == "__main__":
    unittest.main(verbosity=2)
