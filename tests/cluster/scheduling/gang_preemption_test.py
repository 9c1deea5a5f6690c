"""Gangs of higher priority replace gangs and pods of lower priority, as a whole or not at all.

The controller evicts pods through the Eviction API. For kube-scheduler's own preemption the
extender answers that no victims help.
"""

import unittest

import failures
import replay
from cluster import ClusterTest, pod, wait_for
from gang_race import SIZE, gang, on
from gangs_test import indexed_job

URGENT = {"priorityClassName": "urgent-gang"}


def priority_class(name, policy):
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": 1000,
            "preemptionPolicy": policy}


# The chart adds these rights if gangPreemption.enabled is true.
RIGHTS = [
    {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "gang-preemption"},
     "rules": [{"apiGroups": ["policy"], "resources": ["poddisruptionbudgets"], "verbs": ["list", "watch"]},
               {"apiGroups": [""], "resources": ["pods/eviction"], "verbs": ["create"]}]},
    {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
     "metadata": {"name": "gang-preemption"},
     "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "gang-preemption"},
     "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "synergy-controller"}]}]


class GangPreemptionTest(ClusterTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.addClassCleanup(cls.cluster.delete, "priorityclass", "urgent-gang", "patient-gang")
        cls.cluster.create(priority_class("urgent-gang", "PreemptLowerPriority"),
                           priority_class("patient-gang", "Never"))
        cls.addClassCleanup(cls.cluster.delete, "clusterrole,clusterrolebinding", "gang-preemption")
        cls.cluster.create(*RIGHTS)

    def setUp(self):
        super().setUp()
        # If a test deletes a gang for which pods were evicted, its controller evicts nothing for
        # this priority for some minutes. So each test has its own controller.
        self.enterContext(self.cluster.controller(gangPreemption="{enabled: true, patience: 2s}"))
        self.node, self.other = sorted(n["metadata"]["name"] for n in self.cluster.get("nodes")["items"]
                                       if n["status"]["allocatable"].get("nvidia.com/gpu") == str(SIZE))[:2]
        self.addCleanup(self.cluster.delete, "jobs,poddisruptionbudgets", wait=True)

    def bound(self, prefix):
        return {name for name in self.cluster.bound() if name.startswith(prefix)}

    def run_whole(self, name):
        wait_for(f"{name} to run whole", lambda: len(self.bound(name + "-")) == SIZE)

    def low_job(self):
        """Returns a gang of priority 0. Its Job replaces evicted pods once they are gone. Otherwise
        it counts those that leave late as failures."""
        job = indexed_job("low", subdomain="low", **on(self.node))
        job["spec"]["podReplacementPolicy"] = "Failed"
        self.cluster.create(job)
        self.run_whole("low")
        return self.bound("low-")

    def test_a_gang_preempts_a_gang_whose_new_pods_do_not_get_its_place(self):
        evicted = self.low_job()
        self.cluster.create(*gang("high", **on(self.node), **URGENT))
        mixed = []

        def whole():
            low, high = len(self.bound("low-")), len(self.bound("high-"))
            if high and low:
                mixed.append((low, high))
            return high == SIZE
        wait_for("the gang of higher priority to run whole", whole)
        self.assertEqual(mixed, [], "pods of both are bound")
        self.assertFalse(evicted & set(self.cluster.pods()), "the other gang went as a whole")
        wait_for("an event for the evicted pods", lambda: any(
            "evicted for gang default/high with priority 1000; this pod has priority 0" in text
            for name in evicted for text in self.cluster.events(name)))
        wait_for("an event for the gang", lambda: any("evicting 8 pods of lower priority for it" in text
                                                      for text in self.cluster.events("high-0")))
        wait_for("the Job's new pods to be refused", lambda: len(self.refused("low-")) == SIZE)
        self.assertEqual(len(self.bound("high-")), SIZE)
        self.assertEqual(self.bound("low-"), set())
        self.cluster.delete("pod", *[f"high-{number}" for number in range(SIZE)])
        self.run_whole("low")

    def refused(self, prefix):
        return {name
                for name, item in self.cluster.pods().items() if name.startswith(prefix) and replay.unschedulable(item)}

    def wait_until_considered(self, **sizes):
        """Waits until the controller has looked for victims for these gangs. Of equal gangs, the
        one that has waited longest comes first; a gang that begins to wait later gets another pod's
        place."""
        wait_for("the gangs to be refused", lambda: all(
            len(self.refused(name.replace("_", "-") + "-")) == size for name, size in sizes.items()))
        self.cluster.create(pod("in-the-way", SIZE, "1", "10G", **on(self.other)))
        wait_for("the other node to be full", lambda: "in-the-way" in self.cluster.bound())
        self.cluster.create(*gang("fits", **on(self.other), **URGENT))
        self.run_whole("fits")
        self.assertNotIn("in-the-way", self.cluster.pods())

    def test_only_single_pods_in_the_way_are_preempted(self):
        self.cluster.create(pod("single", 2, "1", "10G", **on(self.node), **URGENT),
                            *[pod(f"low-{number}", 1, "1", "10G", **on(self.node)) for number in range(6)])
        wait_for("the node to be full", lambda: len(self.cluster.bound()) == 7)
        self.cluster.create(*gang("half", 4, **on(self.node), **URGENT))
        wait_for("the gang to run", lambda: len(self.bound("half-")) == 4)
        self.assertIn("single", self.cluster.bound())
        self.assertEqual(len(self.bound("low-")), 2)

    def test_a_disruption_budget_protects_a_gang_whole(self):
        low = self.low_job()
        self.cluster.patch("pod", sorted(low)[3], {"metadata": {"labels": {"protected": "true"}}})
        self.cluster.create({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "protects"},
                             "spec": {"selector": {"matchLabels": {"protected": "true"}}, "minAvailable": 1}})
        self.cluster.create(*gang("shut-out", **on(self.node), **URGENT))
        self.wait_until_considered(shut_out=SIZE)
        self.assertEqual(self.bound("low-"), low)
        self.cluster.delete("poddisruptionbudget", "protects")
        self.run_whole("shut-out")
        self.assertEqual(self.bound("low-"), set())

    def test_a_gang_that_cannot_fit_or_never_preempts_evicts_no_pod(self):
        low = self.low_job()
        self.cluster.create(*gang("large", SIZE + 1, **on(self.node), **URGENT),
                            *gang("patient", **on(self.node), priorityClassName="patient-gang"))
        self.wait_until_considered(large=SIZE + 1, patient=SIZE)
        self.assertEqual(self.bound("low-"), low)
        self.assertEqual(self.bound("large-") | self.bound("patient-"), set())

    def test_a_controller_killed_in_the_middle_holds_nothing_for_ever(self):
        low = self.low_job()
        self.cluster.create(*gang("last", **on(self.node), **URGENT))
        wait_for("the first to be evicted", lambda: low - set(self.cluster.pods()))
        self.cluster.script("restart", "synergy-controller", "KILL")
        self.run_whole("last")
        self.assertEqual(self.bound("low-"), set())
        held = lambda: [name for name, each in self.cluster.pods().items()
                        if "synergy.io/hold" in each["metadata"].get("annotations", {})
                        and not each["spec"].get("nodeName")]
        wait_for("no place to be kept", lambda: not held())


if __name__ == "__main__":
    failures.main()
