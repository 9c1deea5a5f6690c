"""Races of jobs for the GPUs of a node that has room for only one: it runs whole, or not at all."""

import unittest

from api import PodWatch
from cluster import GPU, wait_for

SIZE = "synergy.io/gang-size"
LONG = 600  # seconds; only limits how long a failing test waits


def is_member(item):
    """Returns whether the pod requests GPUs and is not being deleted."""
    return not item["metadata"].get("deletionTimestamp") and any(
        GPU in each["resources"].get("limits", {}) for each in item["spec"]["containers"])


def count_bound(members):
    return sum("nodeName" in item["spec"] for item in members.values())


class RaceTest(unittest.TestCase):
    """A test with a `cluster`, and with `create`, whose objects are deleted when the test ends."""

    def members(self, *names):
        """Returns the GPU pods of each of these jobs, at the same moment."""
        pods = {key: item for key, item in self.cluster.pods().items() if is_member(item)}
        return [{key: item for key, item in pods.items() if key.startswith(name + "-")} for name in names]

    def bound(self, name):
        return count_bound(*self.members(name))

    def one_alone(self, names, size, of=None):
        """Waits until one of the jobs runs whole: with `size` pods, all members of one gang, or of
        a gang of `of`. At no moment may parts of two jobs run."""
        def whole():
            found = self.members(*names)
            counts = [count_bound(members) for members in found]
            self.assertLessEqual(sum(count > 0 for count in counts), 1, f"{names}: {counts} are bound")
            return next(((name, members) for name, members, count in zip(names, found, counts) if count == size), None)
        name, members = wait_for(f"one of {names} to run whole", whole, LONG)
        self.assertEqual({item["metadata"]["labels"].get(SIZE) for item in members.values()}, {str(of or size)})
        return name

    def race(self, kind, size, *items):
        """Checks that one of two jobs on the node runs whole and, after it is gone, the other
        one."""
        names = [item["metadata"]["name"] for item in items]
        with PodWatch(self.cluster.api) as watch:
            self.create(*items)
            first = self.one_alone(names, size)
            second = names[first == names[0]]
            wait_for("the other one's pods", lambda: len(self.members(second)[0]) == size)
            changes = watch.until_now()
        early = {item["metadata"]["name"] for _, _, item in changes if is_member(item) and "nodeName" in item["spec"]}
        self.assertFalse([name for name in early if name.startswith(second + "-")], f"pods were bound beside {first}")
        self.assertEqual({item["metadata"]["labels"].get(SIZE) for item in self.members(second)[0].values()},
                         {str(size)})
        self.cluster.delete(kind, first)
        self.assertEqual(self.one_alone([second], size), second)
