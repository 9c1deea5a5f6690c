"""Trainers without a profile on real nodes, in a cluster of its own: they are measured while they
train. Times are printed, not asserted."""

import os
import pathlib
import random
import time
import unittest

import blind
import failures
import gang_trainers
import odd_trainers
import trainers
from cluster import wait_for
from real_nodes import NODES, explained, real_nodes
from reference import Reference

# Not the instance of the cluster that other tests share.
INSTANCE = int(os.environ.get("SYNERGY_TEST_INSTANCE", "6"))
# Time in which the trainers get what they can use; usually half of it or less suffices. It only
# limits how long a failing test waits.
SECONDS = int(os.environ.get("SYNERGY_PROFILING_SECONDS", "600"))


class ProfilingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(os.environ["SYNERGY_TEST_STATE"])
        cls.cluster = cls.enterClassContext(real_nodes(folder, INSTANCE, profiles=False, nodes=NODES + 1))
        cls.reference = Reference(cls.cluster, f"node-{NODES + 1}")

    def setUp(self):
        self.cluster.clear()
        self.reference.forget()

    def machine(self):
        """Returns the smallest and largest fraction of their true speed that the machine allowed
        trainers."""
        slow, fast = self.reference.range()
        print(f"  the machine: {slow:.3f} to {fast:.3f}")
        return slow, fast

    def test_odd_trainers_are_measured_or_left_alone(self):
        with explained(self.cluster):
            facts, below_floor = odd_trainers.train(self.cluster, odd_trainers.SHORT, SECONDS, reference=self.reference)
        odd_trainers.show(odd_trainers.SHORT, facts)
        machine = self.machine()
        for name, own in facts.items():
            with self.subTest(name):
                self.assertEqual(odd_trainers.faults(odd_trainers.SHORT[name], own, machine), [])
        self.assertLess(below_floor, 10)
        self.assertEqual(odd_trainers.progress_format(self.cluster, "silent"), "")
        self.assertIn("fair share", " ".join(odd_trainers.explained(self.cluster, "silent")))

    def test_ranks_on_two_nodes_are_measured_as_one(self):
        with explained(self.cluster):
            facts, below_floor = gang_trainers.train(self.cluster, SECONDS, self.reference)
        self.assertEqual(set(facts), set(gang_trainers.PODS))
        machine = self.machine()
        for name, own in facts.items():
            with self.subTest(name):
                self.assertEqual(odd_trainers.faults(gang_trainers.ODD, own, machine), [])
        self.assertEqual(len({own["cpu"] for own in facts.values()}), 1, "one waits for the other")
        # Each rank needs as much CPU as one of them can use.
        self.assertGreater(facts[gang_trainers.PODS[0]]["cpu"], trainers.FAIR_SHARE)
        self.assertLess(below_floor, 10)

    def test_trainers_get_what_they_can_use_without_a_profile(self):
        # scripts/bench.sh profiling checks the goal, 0.98 within three minutes.
        run = blind.Run(self.cluster, "strict", blind.order(random.Random(1)), self.reference)
        by_hand = blind.total_by_hand(blind.placement(self.cluster.pods()))
        with explained(self.cluster):
            # Bursts give the CPU at first; later what is measured does, and takes nothing away
            # again.
            run.watch(SECONDS, enough=0.95 * by_hand)
            self.assertGreaterEqual(run.table[-1][1], 0.95 * by_hand)
            wait_for("what is known of the trainers to be final and in force",
                     lambda: blind.is_final(blind.measured(self.cluster)) and blind.is_divided(self.cluster.pods()),
                     SECONDS)
            run.watch(time.time() - run.began + 20)
            self.assertGreaterEqual(run.table[-1][1], 0.95 * by_hand)
        pods = self.cluster.pods()
        self.assertEqual(sum(map(trainers.restarts, pods.values())), 0)
        statuses = blind.measured(self.cluster)
        self.assertEqual(set(statuses), set(blind.CPU_SECONDS))
        slow, fast = self.machine()
        for kind, status in statuses.items():
            points, of_seconds = blind.errors(status, kind)
            self.assertTrue(points, kind)
            for cpu, error in points:
                self.assertGreater(1 + error, 0.95 * slow, f"{kind} with {cpu}m")
                self.assertLess(1 + error, 1.05 * fast, f"{kind} with {cpu}m")
            if kind == "sensitive":
                self.assertLess(abs(of_seconds), 0.03)
            # Lost iterations are at most this fraction of the first hour's.
            self.assertLess(status.get("lostIterations", 0), 0.02 * 3600 * blind.MOST[kind])
        self.assertTrue(statuses["insensitive"]["confirmed"], "no pod is cut below its fair share without a probe")

        # Another pod of a known workload starts with the workload's profile.
        self.cluster.delete("pod", "insensitive-0")
        self.cluster.create(blind.pod("insensitive-9", "insensitive", "strict"))
        late = self.cluster.pods()["insensitive-9"]
        self.assertEqual(late["metadata"]["annotations"]["synergy.io/profile"],
                         pods["insensitive-1"]["metadata"]["annotations"]["synergy.io/profile"])
        self.assertLess(trainers.milli_cpu(late), trainers.FAIR_SHARE)


if __name__ == "__main__":
    failures.main()
