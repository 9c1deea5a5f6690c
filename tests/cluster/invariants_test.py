"""The checker of invariants sees violations, and none where there are none."""

import unittest

from invariants import Invariants, quantity


def node(name, **allocatable):
    return {"metadata": {"name": name}, "status": {"allocatable": {"pods": "10", **allocatable}}}


def pod(name, where, cpu, status=None):
    return {"metadata": {"name": name, "uid": name}, "spec": {
        "nodeName": where, "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}, "status": status or {}}


class InvariantsTest(unittest.TestCase):
    def test_a_full_node_is_no_violation(self):
        self.assertEqual([], Invariants().check([node("n", cpu="2")], [pod("a", "n", "1500m"), pod("b", "n", "500m")]))

    def test_an_over_allocated_node_is_one(self):
        self.assertEqual(["n is over-allocated by 0.5 cpu"],
                         Invariants().check([node("n", cpu="2")], [pod("a", "n", "1500m"), pod("b", "n", "1")]))

    def test_what_a_kubelet_still_enforces_counts(self):
        status = {"containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": "3"}}}]}
        self.assertEqual(["n is over-allocated by 1 cpu"], Invariants().check([node("n", cpu="2")], [pod("a", "n", "1", status)]))

    def test_too_many_pods_are_one(self):
        pods = [pod(str(i), "n", "0") for i in range(11)]
        self.assertEqual(["n is over-allocated by 1 pods"], Invariants().check([node("n", cpu="2")], pods))

    def test_a_pod_that_moves_is_one(self):
        invariants = Invariants()
        self.assertEqual([], invariants.check([node("n"), node("m")], [pod("a", "n", "0")]))
        self.assertEqual(["a was bound to n and is now on m"], invariants.check([node("n"), node("m")], [pod("a", "m", "0")]))

    def test_a_failed_pod_is_one(self):
        failed = {"phase": "Failed", "reason": "OutOfcpu", "message": "no room"}
        self.assertEqual(["a failed: OutOfcpu no room"], Invariants().check([node("n")], [pod("a", "n", "1", failed)]))

    def test_quantities_are_exact(self):
        for text, value in (("1500m", 1.5), ("1e3", 1000), ("2Gi", 2**31), ("0.5k", 500), (3, 3)):
            self.assertEqual(quantity(text), value)


if __name__ == "__main__":
    unittest.main()
