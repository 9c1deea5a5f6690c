"""Tests that the checker of invariants finds violations, and finds none where there are none."""

import json
import unittest

from invariants import IdleGpus, Invariants, quantity


def node(name, **allocatable):
    return {"metadata": {"name": name}, "status": {"allocatable": {"pods": "10", **allocatable}}}


def pod(name, where, cpu, status=None):
    return {"metadata": {"name": name, "uid": name}, "spec": {
        "nodeName": where, "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]},
            "status": status or {}}


def managed(name, where, cpu, floor="1", change=("1", "2"), gpus="1", more=None):
    amounts = [{"cpu": c, "memory": "1Gi"} for c in (floor, *change)]
    annotations = {"synergy.io/container": "c", "synergy.io/floor": json.dumps(amounts[0]),
                   "synergy.io/change": json.dumps({"from": amounts[1], "to": amounts[2]}), **(more or {})}
    return {"metadata": {"name": name, "uid": name, "annotations": annotations}, "status": {}, "spec": {
        "nodeName": where,
        "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu, "memory": "1Gi", "gpu": gpus}}}]}}


class AllocationTest(unittest.TestCase):
    def check(self, *pods):
        return Invariants().check([node("n", cpu="8", memory="8Gi", gpu="8")], list(pods))

    def test_amounts_of_the_last_change_are_no_violation(self):
        self.assertEqual([], self.check(managed("a", "n", "1"), managed("b", "n", "2000m")))

    def test_a_pod_below_its_floor_is_one(self):
        self.assertEqual(["a has 1 cpu, which is below its floor"], self.check(managed("a", "n", "1", floor="1500m")))

    def test_unrecorded_amounts_are_a_violation(self):
        self.assertIn("a has {'cpu': '3'", self.check(managed("a", "n", "3"))[0])

    def test_a_cut_of_ours_may_be_recorded_a_moment_later(self):
        cut, nodes, invariants = managed("a", "n", "3"), [node("n", cpu="8", memory="8Gi", gpu="8")], Invariants()
        cut["metadata"]["managedFields"] = [{"manager": "synergy", "subresource": "resize"},
                                            {"manager": "kubelet", "subresource": "status"}]
        self.assertEqual([], invariants.check(nodes, [cut], now=0))
        self.assertEqual([], invariants.check(nodes, [cut], now=59))
        self.assertIn("a has {'cpu': '3'", invariants.check(nodes, [cut], now=60)[0])

    def test_other_managers_have_no_moment_of_grace(self):
        cut = managed("a", "n", "3")
        cut["metadata"]["managedFields"] = [{"manager": name, "subresource": "resize"}
                                            for name in ("synergy", "kubectl-patch")]
        self.assertIn("a has {'cpu': '3'", self.check(cut)[0])

    def test_a_pod_that_was_bound_without_a_record_is_one(self):
        silent = managed("a", "n", "2")
        del silent["metadata"]["annotations"]["synergy.io/change"]
        self.assertEqual(["a was bound without a record of its allocation"], self.check(silent))


class IdleGpusTest(unittest.TestCase):
    def longest(self, *pods, nodes=None):
        idle, found = IdleGpus(limit=60), []
        for now in (0, 30, 61):
            found = idle.check(nodes or [node("n", cpu="4", memory="8Gi", gpu="2")], list(pods), now)
        return found

    def test_a_pod_for_which_a_peer_could_make_room_may_not_wait(self):
        self.assertEqual(["n has had GPUs free for 61 looks that pods wait for although room can be made"],
                         self.longest(managed("a", "n", "4"), managed("b", None, "1")))

    def test_idle_gpus_are_no_violation_while_pods_come_and_go(self):
        idle, nodes = IdleGpus(limit=60), [node("n", cpu="4", memory="8Gi", gpu="2")]
        for now, peer in ((0, "a"), (40, "c"), (80, "d")):
            self.assertEqual([], idle.check(nodes, [managed(peer, "n", "4"), managed("b", None, "1")], now))
        self.assertEqual(0, idle.longest)

    def test_one_that_lacks_a_gpu_may(self):
        self.assertEqual([], self.longest(managed("a", "n", "4", gpus="2"), managed("b", None, "1")))

    def test_one_beside_a_peer_that_cannot_shrink_may(self):
        stuck = managed("a", "n", "4", more={"synergy.io/unshrinkable-until": "2030-01-01T00:00:00Z"})
        self.assertEqual([], self.longest(stuck, managed("b", None, "1")))

    def test_gpus_may_idle_if_the_floor_does_not_fit(self):
        self.assertEqual([], self.longest(managed("a", "n", "4", floor="4"), managed("b", None, "1")))


class InvariantsTest(unittest.TestCase):
    def test_a_full_node_is_no_violation(self):
        self.assertEqual([], Invariants().check([node("n", cpu="2")], [pod("a", "n", "1500m"), pod("b", "n", "500m")]))

    def test_an_over_allocated_node_is_one(self):
        self.assertEqual(["n is over-allocated by 0.5 cpu"],
                         Invariants().check([node("n", cpu="2")], [pod("a", "n", "1500m"), pod("b", "n", "1")]))

    def test_amounts_that_the_kubelet_still_enforces_count(self):
        status = {"containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": "3"}}}]}
        self.assertEqual(["n is over-allocated by 1 cpu"],
                         Invariants().check([node("n", cpu="2")], [pod("a", "n", "1", status)]))

    def test_too_many_pods_are_one(self):
        pods = [pod(str(i), "n", "0") for i in range(11)]
        self.assertEqual(["n is over-allocated by 1 pods"], Invariants().check([node("n", cpu="2")], pods))

    def test_a_pod_that_moves_is_one(self):
        invariants = Invariants()
        self.assertEqual([], invariants.check([node("n"), node("m")], [pod("a", "n", "0")]))
        self.assertEqual(["a was bound to n and is now on m"],
                         invariants.check([node("n"), node("m")], [pod("a", "m", "0")]))

    def test_a_failed_pod_is_one(self):
        failed = {"phase": "Failed", "reason": "OutOfcpu", "message": "no room"}
        self.assertEqual(["a failed: OutOfcpu no room"], Invariants().check([node("n")], [pod("a", "n", "1", failed)]))

    def test_quantities_are_exact(self):
        for text, value in (("1500m", 1.5), ("1e3", 1000), ("2Gi", 2**31), ("0.5k", 500), (3, 3)):
            self.assertEqual(quantity(text), value)


if __name__ == "__main__":
    unittest.main()
