"""CPU and memory that change hands while pods run: webhook, extender and tuner together, on a real control plane."""

import unittest

from cluster import wait_for
from fungible import ALLOCATABLE, FungibleTest, pod


def cores(item):
    text = item["spec"]["containers"][0]["resources"]["requests"]["cpu"]
    return float(text[:-1]) / 1000 if text.endswith("m") else float(text)


class TunerTest(FungibleTest):
    def run_pods(self, *items):
        """One after the other, each bound before the next is made."""
        for item in items:
            self.cluster.create(item)
            name = item["metadata"]["name"]
            wait_for(f"{name} to run", lambda name=name: self.phase(name) == "Running")

    def phase(self, name):
        return self.cluster.pods()[name]["status"].get("phase")

    def cores(self):
        return {name: cores(item) for name, item in self.cluster.pods().items()}

    def event_reasons(self, name):
        items = self.cluster.get("events", f"--field-selector=involvedObject.name={name}")["items"]
        return {event["reason"] for event in items}

    def check(self):
        """Nobody below the fair share that is its floor, and the node not over-allocated."""
        given = self.cores()
        self.assertLessEqual(sum(given.values()), ALLOCATABLE, given)
        return given

    def test_a_pod_gets_its_demand_at_bind_others_what_is_left_and_nobody_waits_for_cpu(self):
        self.run_pods(*(pod(f"p{i}", "sensitive") for i in range(3)))
        given = self.check()
        self.assertEqual((given["p0"], given["p1"]), (9, 9))
        self.assertGreaterEqual(given["p2"], 3)
        self.assertIn("SynergyAllocated", self.event_reasons("p0"))
        # Five more take the GPUs that are left; the CPU for the last ones has to come from the first.
        self.run_pods(*(pod(f"p{i}", "sensitive") for i in range(3, 8)))
        given = self.check()
        self.assertEqual(sorted(given.values()), [3] * 8)
        self.assertTrue({"SynergyReclaimed"} & (self.event_reasons("p0") | self.event_reasons("p1")))
        # Half of them leave: within a round the rest have it all.
        self.cluster.kubectl("delete", "pod", "p0", "p1", "p2", "p3", "--grace-period=0", "--force")
        wait_for("what is spare to be given away", lambda: sum(self.cores().values()) > ALLOCATABLE - 1, 40)
        self.check()
        self.assertTrue(any("SynergyGrown" in self.event_reasons(f"p{i}") for i in range(4, 8)))

    def test_surplus_moves_to_the_pod_that_it_helps(self):
        self.run_pods(pod("idle", "insensitive"), pod("busy", "sensitive"))
        given = self.check()
        self.assertEqual(given, {"idle": 1, "busy": 9})

    def test_a_cut_that_the_kubelet_refuses_is_put_back_and_told(self):
        refuses = {"synergy.test/resize": "Infeasible"}
        self.run_pods(pod("p0", "sensitive", refuses), pod("p1", "sensitive", refuses), pod("p2", "sensitive"))
        for i in range(3, 6):
            self.cluster.create(pod(f"p{i}", "sensitive"))
        wait_for("a cut to be put back",
                 lambda: "SynergyDeferred" in self.event_reasons("p0") | self.event_reasons("p1"), 60)
        wait_for("the first two to have what they had", lambda: self.cores()["p0"] == 9 and self.cores()["p1"] == 9)

    def test_a_killed_controller_leaves_a_cluster_that_converges(self):
        self.run_pods(*(pod(f"p{i}", "sensitive") for i in range(3)))
        self.cluster.script("stop", "synergy-controller", "KILL")
        try:
            # The webhook is away, so this one says itself what it asks for.
            late = pod("late", "sensitive")
            late["spec"]["schedulerName"] = "synergy-scheduler"
            late["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "4", "memory": "4Gi"}
            self.cluster.create(late)
            wait_for("it to wait for CPU", lambda: any("Insufficient cpu" in text
                                                       for text in self.cluster.events("late")))
        finally:
            self.cluster.script("start", "synergy-controller")
        wait_for("it to run", lambda: self.phase("late") == "Running", 60)
        self.check()

    def test_nobody_is_evicted_for_cpu_that_can_be_had(self):
        self.cluster.kubectl("create", "priorityclass", "urgent", "--value=1000", check=False)
        self.run_pods(*(pod(f"p{i}", "sensitive") for i in range(3)))
        before = {name: item["metadata"]["uid"] for name, item in self.cluster.pods().items()}
        for i in range(3):
            self.cluster.create(pod(f"urgent-{i}", "sensitive", priorityClassName="urgent"))
        for i in range(3):
            wait_for(f"urgent-{i} to run", lambda i=i: self.phase(f"urgent-{i}") == "Running", 60)
        after = {name: item["metadata"]["uid"] for name, item in self.cluster.pods().items()}
        self.assertEqual(before, {name: after.get(name) for name in before})
        self.check()


if __name__ == "__main__":
    unittest.main(verbosity=2)
