"""Turns on GPUs, and packs: what the controller plans, writes and renews, on a real API server. A
stand-in of the node agent reports the pods' GPUs, and suspends nothing."""

import contextlib
import copy
import datetime
import json
import threading
import time
import unittest

import failures
import tiers
from cluster import GPU, Cluster, ClusterTest, wait_for
from stand_in_agent import StandInAgent

TURNS = f"{GPU}.turns"
NODE = "turns-1"


def pod(name, **annotations):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "annotations": annotations},
            "spec": {"schedulerName": "synergy-scheduler", "nodeSelector": {"kubernetes.io/hostname": NODE},
                     "tolerations": [{"operator": "Exists"}], "restartPolicy": "Never",
                     "terminationGracePeriodSeconds": 0,
                     "containers": [{"name": "train", "image": "synergy.test/busybox:1",
                                     "resources": {"limits": {TURNS: "1"}}}]}}


class Trainers:
    """Pods that train on shared GPUs, and follow their turns exactly. Two of them that run at the
    same time have the given parts of their speeds alone. Used in a `with` block."""

    STEP = 0.05  # seconds

    def __init__(self, test, pairs, rate=20):
        self.test, self.rate = test, rate
        self.speed = {}  # pod -> its part of its speed alone, beside the other one
        self.other = {}
        for pair, speeds in pairs.items():
            for name, other, speed in zip(pair, reversed(pair), speeds):
                self.speed[name], self.other[name] = speed, other
        self.gpu = {name: f"GPU-{index}" for index, pair in enumerate(pairs) for name in pair}
        self.done = dict.fromkeys(self.speed, 0.0)
        self.last = dict.fromkeys(self.speed, 0.0)
        self.suspended = dict.fromkeys(self.speed, 0.0)

    @contextlib.contextmanager
    def running(self):
        stop = threading.Event()
        thread = threading.Thread(target=self.run, args=(stop,))
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    @staticmethod
    def runs_at(turn, now):
        if not turn:
            return True
        epoch = datetime.datetime.fromisoformat(turn["epoch"].replace("Z", "+00:00")).timestamp()
        offset = (now - epoch) * 1000 % turn["cycleMs"]
        return any(begin <= offset < end for begin, end in turn["runsMs"])

    def run(self, stop):
        at = time.time()
        uids = {name: self.test.uids(name)[0] for name in self.speed}
        while not stop.wait(0.5):
            turns = {name: self.test.turn(name) for name in self.speed}
            while at + self.STEP < time.time():
                at += self.STEP
                runs = {name for name, turn in turns.items() if self.runs_at(turn, at)}
                for name in self.speed:
                    if name not in runs:
                        self.suspended[name] += self.STEP
                        continue
                    self.done[name] += self.STEP * self.rate * (self.speed[name] if self.other[name] in runs else 1)
                    self.last[name] = at
            for name, uid in uids.items():
                self.test.agent.reports[uid] = {
                    "uid": uid, "format": "tqdm", "iterations": self.done[name], "last": int(self.last[name] * 1e9),
                    "turn": {"gpus": [self.gpu[name]], "suspended": name not in runs,
                             "timeSuspended": int(self.suspended[name] * 1e9), "refusal": ""}}


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
        cls.addClassCleanup(cluster.delete, "trainingprofiles")
        cls.agent = cls.enterClassContext(StandInAgent(cluster, NODE))
        super().setUpClass()
        cls.enterClassContext(cluster.controller(progress=cls.agent.settings(),
                                                 turns="{enabled: true, quantum: 30s, packing: true}"))

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
        wait_for("it to be counted",
                 lambda: self.cluster.controller_metric('synergy_turns_pods{state="in_turns"}') == 2)
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

    def events_of(self, name, text):
        return [message for message in self.cluster.events(name) if text in message]

    def records(self):
        """Returns the only result of packs of each workload."""
        profiles = self.cluster.get("trainingprofiles")["items"]
        return {profile["spec"]["workload"]: profile["status"]["packing"][0]
                for profile in profiles if profile.get("status", {}).get("packing")}

    @tiers.long
    def test_a_good_pair_is_kept_packed_and_a_bad_one_undone(self):
        pods = [pod(name, **{"synergy.io/packing": "true"}) for name in "abcd"]
        for each in pods:  # with the same command they would be one workload
            each["metadata"]["labels"] = {"synergy.io/workload": "of-" + each["metadata"]["name"]}
        self.cluster.create(*pods)
        wait_for("the pods to be bound", lambda: set("abcd") <= set(self.cluster.bound()))
        pairs = {("a", "b"): (0.8, 0.7), ("c", "d"): (0.4, 0.4)}
        begun, ended = {}, {}

        def looked():
            for one, other in pairs:
                packed = (self.turn(one) or {}).get("beside") == self.uids(other)[0]
                if packed:
                    begun.setdefault(one, time.monotonic())
                elif one in begun:
                    ended.setdefault(one, time.monotonic())
            return "c" in ended and self.events_of("a", "keeps running")

        def outcome(name):
            return self.cluster.controller_metric(f'synergy_turns_packs_total{{outcome="{name}"}}')

        with Trainers(self, pairs).running():
            wait_for("both results", looked, seconds=900)
            self.await_renewal()
            counts = {name: outcome(name) for name in ("tried", "kept", "refused")}
            wait_for("the results in four profiles", lambda: len(self.records()) == 4)
            records = self.records()
            # A new leader knows them: the good pair is packed without a trial, the bad one rests.
            self.cluster.script("restart", "synergy-controller", "KILL")
            wait_for("the good pair to be packed again", lambda: outcome("reused") == 1, seconds=300)
            wait_for("its turns", lambda: (self.turn("a") or {}).get("beside") == self.uids("b")[0])
            self.assertEqual(outcome("tried"), 0)
            self.assertEqual(self.turn("c")["with"], self.uids("d"))
            self.assertEqual(self.records(), records)
        self.assertLess(ended["c"] - begun["c"], 180)
        self.assertNotIn("a", ended)
        self.assertRegex(self.events_of("a", "keeps running")[0], r"as default/b on its GPU: it has 0\.(7[5-9]|8[0-5])")
        self.assertEqual(self.turn("a")["with"], [])
        for name, other in (("c", "d"), ("d", "c")):
            refusal = self.events_of(name, "takes turns again")[0]
            self.assertIn(f"not at the same time as default/{other}", refusal)
            self.assertIn("tried again in 10 min", refusal)
            self.assertEqual(self.turn(name)["with"], self.uids(other))
        self.assertEqual(counts, {"tried": 2, "kept": 1, "refused": 1})
        self.assertEqual({name: (one["with"], one["verdict"], one.get("refusals")) for name, one in records.items()},
                         {"of-a": ("of-b", "Good", None), "of-b": ("of-a", "Good", None),
                          "of-c": ("of-d", "Refused", 1), "of-d": ("of-c", "Refused", 1)})
        self.assertAlmostEqual(records["of-a"]["speed"], 0.8, delta=0.05)
        self.assertAlmostEqual(records["of-b"]["speed"], 0.7, delta=0.05)

    def test_pods_that_did_not_opt_in_are_not_packed(self):
        self.start("a", "b")
        self.await_partners(a=["b"], b=["a"])
        self.assertNotIn("beside", self.turn("a"))


if __name__ == "__main__":
    failures.main()
