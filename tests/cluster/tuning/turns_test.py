"""Turns on GPUs: what the controller plans, writes and renews, on a real API server. A stand-in of
the node agent reports the pods' GPUs, and suspends nothing."""

import copy
import json
import unittest

import failures
from cluster import GPU, Cluster, ClusterTest, wait_for
from stand_in_agent import StandInAgent

TURNS = f"{GPU}.turns"
NODE = "turns-1"


def pod(name):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"schedulerName": "synergy-scheduler", "nodeSelector": {"kubernetes.io/hostname": NODE},
                     "tolerations": [{"operator": "Exists"}], "restartPolicy": "Never",
                     "terminationGracePeriodSeconds": 0,
                     "containers": [{"name": "train", "image": "synergy.test/busybox:1",
                                     "resources": {"limits": {TURNS: "1"}}}]}}


class TurnsTest(ClusterTest):
    @classmethod
    def setUpClass(cls):
        cluster = Cluster()
        node = copy.deepcopy(cluster.get("nodes", "v100-1"))
        node["metadata"] = {"name": NODE, "annotations": {"kwok.x-k8s.io/node": "fake"},
                            "labels": node["metadata"]["labels"] | {"kubernetes.io/hostname": NODE}}
        for amounts in ("capacity", "allocatable"):
            del node["status"][amounts][GPU]
            node["status"][amounts][TURNS] = "4"
        cluster.create(node)
        cls.addClassCleanup(cluster.delete, "nodes", NODE, wait=True)
        cls.agent = cls.enterClassContext(StandInAgent(cluster, NODE))
        super().setUpClass()
        cls.enterClassContext(cluster.controller(progress=cls.agent.settings(),
                                                 turns="{enabled: true, quantum: 30s}"))

    def setUp(self):
        super().setUp()
        self.agent.reports.clear()

    def start(self, *names, gpu="GPU-0"):
        """Creates pods that train on that GPU."""
        self.cluster.create(*[pod(name) for name in names])
        wait_for("the pods to be bound", lambda: set(names) <= set(self.cluster.bound()))
        for name in names:
            self.report(name, gpu)

    def report(self, name, gpu="GPU-0", refusal=""):
        self.agent.report(name, format="tqdm", iterations=500.0,
                          turn={"gpus": [gpu], "suspended": False, "timeSuspended": 0, "refusal": refusal})

    def turn(self, name):
        text = self.cluster.pods()[name]["metadata"].get("annotations", {}).get("synergy.io/turn")
        return text and json.loads(text)

    def uids(self, *names):
        pods = self.cluster.pods()
        return sorted(pods[name]["metadata"]["uid"] for name in names)

    def await_partners(self, **partners):
        """Waits until each pod takes turns with exactly these pods."""
        for name, others in partners.items():
            wait_for(f"{name} to take turns with {others}",
                     lambda name=name, others=others: (self.turn(name) or {}).get("with", []) == self.uids(*others)
                     and bool(self.turn(name)) == bool(others))

    def plans(self):
        return self.cluster.controller_metric('synergy_turns_plans_total{outcome="complete"}')

    def await_plans(self, count):
        before = self.plans()
        wait_for("further plans", lambda: self.plans() >= before + count)

    def await_renewal(self):
        before = self.agent.renewals
        wait_for("a renewal", lambda: self.agent.renewals > before)

    def test_sharers_get_turns_that_are_written_once_and_renewed(self):
        self.start("a", "b")
        self.start("alone", gpu="GPU-1")
        self.await_partners(a=["b"], b=["a"], alone=[])
        self.await_renewal()
        turns = {name: self.turn(name) for name in ("a", "b")}
        self.assertEqual({turn["cycleMs"] for turn in turns.values()}, {60000})
        self.assertEqual(sorted(turn["runsMs"] for turn in turns.values()), [[[0, 30000]], [[30000, 60000]]])
        self.assertEqual(len({turn["epoch"] for turn in turns.values()}), 1)
        self.await_plans(5)
        self.assertEqual({name: self.turn(name) for name in ("a", "b")}, turns)
        self.assertEqual(self.cluster.controller_metric('synergy_turns_pods{state="in_turns"}'), 2)
        wait_for("an event", lambda: any("takes turns on its GPU with default/b" in text
                                         for text in self.cluster.events("a")))

    def test_a_third_pod_comes_and_the_last_runs_alone(self):
        self.start("a", "b")
        self.await_partners(a=["b"], b=["a"])
        self.start("c")
        self.await_partners(a=["b", "c"], b=["a", "c"], c=["a", "b"])
        self.cluster.delete("pods", "b", "c", wait=True)
        self.await_partners(a=[])

    def test_a_pod_that_its_agent_refuses_to_suspend_takes_no_turns(self):
        self.start("a", "b")
        self.await_partners(a=["b"], b=["a"])
        self.report("b", refusal="its liveness probe would fail")
        self.await_partners(a=[], b=[])
        wait_for("the reason", lambda: any("its liveness probe would fail" in text
                                           for text in self.cluster.events("b")))

    def test_a_killed_controller_goes_on_with_the_turns_that_it_finds(self):
        self.start("a", "b")
        self.await_partners(a=["b"], b=["a"])
        turns = {name: self.turn(name) for name in ("a", "b")}
        self.cluster.script("restart", "synergy-controller", "KILL")
        wait_for("plans of the new leader", lambda: self.plans() >= 3)
        self.await_renewal()
        self.assertEqual({name: self.turn(name) for name in ("a", "b")}, turns)


if __name__ == "__main__":
    failures.main()
