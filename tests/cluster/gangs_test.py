"""Gangs on a real control plane: whole or not at all, whatever comes between.

SYNERGY_GANG_ROUNDS (10) says how often the race of two gangs is run, SYNERGY_SEED (5) what comes between.
"""

import os
import random
import signal
import time
import unittest

from cluster import ClusterTest, pod, wait_for

SIZE = 8  # members, of one GPU each: a node's


def on(node):
    return {"nodeSelector": {"kubernetes.io/hostname": node}}


def gang(name, size=SIZE, gpus=1, members=None, **spec):
    """The pods of a gang; of the first `members`, where not all of them are meant."""
    pods = []
    for number in range(size if members is None else members):
        member = pod(f"{name}-{number}", gpus, "1", "10G", **spec)
        member["metadata"]["labels"] = {"synergy.io/gang": name, "synergy.io/gang-size": str(size)}
        pods.append(member)
    return pods


def indexed_job(name, size=SIZE, labels=None, **spec):
    """A Job of which no pod says how many they are."""
    template = {"metadata": {"labels": labels or {}}, "spec": pod(name, 1, "1", "10G", **spec)["spec"]}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
            "spec": {"completionMode": "Indexed", "completions": size, "parallelism": size, "template": template}}


class GangsTest(ClusterTest):
    settings = "gangHold: 15s\n"

    def setUp(self):
        super().setUp()
        nodes = sorted(n["metadata"]["name"] for n in self.cluster.get("nodes")["items"]
                       if n["status"]["allocatable"].get("nvidia.com/gpu") == str(SIZE))
        self.node, self.other = nodes[:2]

    def held(self):
        return self.extender.metric("synergy_extender_held_gangs")

    def runs(self, *names):
        """How many members of each gang are bound."""
        bound = self.cluster.bound()
        return [sum(pod_name.startswith(name + "-") for pod_name in bound) for name in names]

    def delete(self, *pods):
        self.cluster.kubectl("delete", "pod", *pods, "--force", "--grace-period=0", "--wait=false")

    def delete_gang(self, name, size=SIZE):
        self.delete(*[f"{name}-{number}" for number in range(size)])

    def one_alone(self, names, seconds=120):
        """Waits for one of the gangs to run whole. No two may run in parts at any moment."""
        def whole():
            counts = self.runs(*names)
            self.assertLessEqual(sum(count > 0 for count in counts), 1, f"{names}: {counts} are bound")
            return next((name for name, count in zip(names, counts) if count == SIZE), None)
        return wait_for(f"one of {names} to run whole", whole, seconds)

    def test_of_two_gangs_one_runs_whole_and_then_the_other(self):
        rounds = int(os.environ.get("SYNERGY_GANG_ROUNDS", "10"))
        seed = int(os.environ.get("SYNERGY_SEED", "5"))
        print("rounds", rounds, "seed", seed)
        chance = random.Random(seed)
        waited = []
        for number in range(rounds):
            names = [f"a{number}", f"b{number}"]
            gangs = [gang(name, **on(self.node)) for name in names]
            # Some singles want what the gangs want; those of another node are not concerned.
            greedy = sorted(chance.sample(range(SIZE), chance.randrange(3)))
            between = [pod(f"single{number}-{i}", 1, "1", "10G", **on(self.node if i in greedy else self.other)) for i in range(SIZE)]
            pods = [each for three in zip(gangs[0], between, gangs[1]) for each in three]
            since = time.monotonic()
            self.cluster.create(*pods)
            apart = [f"single{number}-{i}" for i in range(SIZE) if i not in greedy]
            wait_for("singles to run beside them", lambda: set(apart) <= set(self.cluster.bound()))
            if greedy:
                self.delete(*[f"single{number}-{i}" for i in greedy])
            first = self.one_alone(names)
            second = names[names[0] == first]
            self.assertEqual(self.runs(second), [0])
            self.delete_gang(first)
            self.assertEqual(self.one_alone([second]), second)
            waited.append(time.monotonic() - since)
            wait_for("nothing to be held", lambda: self.held() == 0)
            self.cluster.clear()
        print(f"seconds for both gangs: {min(waited):.1f} to {max(waited):.1f}")

    def test_a_gang_larger_than_the_cluster_is_told_so_at_once(self):
        self.cluster.create(*gang("huge", size=256, gpus=8, members=1))
        wait_for("an event", lambda: any("gang default/huge: it needs 2048 nvidia.com/gpu, the cluster has" in text
                                         for text in self.cluster.events("huge-0")), 20)
        self.assertEqual(self.held(), 0)

    def test_labels_without_sense_are_an_event(self):
        pods = gang("odd", members=1)
        pods[0]["metadata"]["labels"]["synergy.io/gang-size"] = "many"
        self.cluster.create(*pods)
        wait_for("an event", lambda: any("not a number from 1 to 256" in text for text in self.cluster.events("odd-0")), 20)

    def test_a_gang_that_waits_for_its_members_says_how_many_and_holds_nothing(self):
        self.cluster.create(*gang("few", members=3, **on(self.node)))
        wait_for("an event", lambda: any("gang default/few: 3 of 8 members are there" in text
                                         for text in self.cluster.events("few-2")), 30)
        self.cluster.create(pod("single", SIZE, "1", "10G", **on(self.node)))
        wait_for("a single pod to run", lambda: "single" in self.cluster.bound())
        self.delete("single")
        self.cluster.create(*gang("few", **on(self.node))[3:])
        self.assertEqual(self.one_alone(["few"]), "few")

    # kube-scheduler alone looks at pod affinity: the last member passes for nobody.
    NOBODY = {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"labelSelector": {"matchLabels": {"nobody": "has-it"}}, "topologyKey": "kubernetes.io/hostname"}]}}}

    def create_one_that_never_is_whole(self, name):
        pods = gang(name, **on(self.node))
        pods[-1]["spec"].update(self.NOBODY)
        self.cluster.create(*pods)
        wait_for("its places to be held", lambda: self.held() == 1)

    def test_a_gang_that_lost_a_member_does_not_hold(self):
        self.create_one_that_never_is_whole("lost")
        self.delete("lost-3")
        wait_for("nothing to be held", lambda: self.held() == 0, 5)
        self.assertEqual(self.runs("lost"), [0])
        self.cluster.create(pod("single", SIZE, "1", "10G", **on(self.node)))
        wait_for("a single pod to run", lambda: "single" in self.cluster.bound(), 30)

    def test_what_is_held_in_vain_ends_and_the_reason_is_told(self):
        self.create_one_that_never_is_whole("vain")
        wait_for("nothing to be held", lambda: self.held() == 0, 30)
        self.assertEqual(self.runs("vain"), [0])
        self.cluster.create(pod("single", SIZE, "1", "10G", **on(self.node)))
        wait_for("a single pod to run", lambda: "single" in self.cluster.bound(), 30)
        self.delete("vain-7")
        replacement = gang("vain", **on(self.node))[-1]
        self.delete("single")
        self.cluster.create(replacement)
        self.assertEqual(self.one_alone(["vain"]), "vain")

    def test_an_extender_killed_while_places_are_held_leaves_one_whole_and_the_other_none(self):
        chance = random.Random(3)
        in_the_middle = 0
        for number in range(8):
            names = [f"c{number}", f"d{number}"]
            pods = [each for two in zip(*[gang(name, **on(self.node)) for name in names]) for each in two]
            self.cluster.create(*pods)
            deadline = time.monotonic() + 60
            while self.held() == 0 and time.monotonic() < deadline:
                time.sleep(0.005)
            time.sleep(chance.uniform(0, 0.15))
            self.extender.end(signal.SIGKILL)
            bound = sum(self.runs(*names))
            in_the_middle += 0 < bound < SIZE
            print("bound when it was killed:", bound)
            self.extender.start()
            first = self.one_alone(names)
            self.delete_gang(first)
            second = names[names[0] == first]
            self.assertEqual(self.one_alone([second]), second)
            wait_for("nothing to be held", lambda: self.held() == 0)
            self.cluster.clear()
        print("killed while a gang was being bound:", in_the_middle, "times")

    def test_of_two_jobs_whose_pods_train_together_one_runs_whole(self):
        self.cluster.script("start", "synergy-controller")
        self.addCleanup(self.cluster.script, "stop", "synergy-controller")
        names = ["one", "two", "tasks", "alone"]
        self.addCleanup(self.cluster.kubectl, "delete", "job", *names, "--ignore-not-found", "--cascade=foreground")
        self.cluster.create(*[indexed_job(name, subdomain=name, **on(self.node)) for name in names[:2]])
        # No gangs, though of more pods than the node has GPUs: independent tasks, and one that says so.
        self.cluster.create(indexed_job("tasks", SIZE + 2, **on(self.other)))
        first = self.one_alone(names[:2])
        second = names[first == names[0]]
        sizes = {name: {each["metadata"]["labels"].get("synergy.io/gang-size") for key, each in self.cluster.pods().items()
                        if key.startswith(name + "-")} for name in names[:3]}
        self.assertEqual(sizes, {"one": {str(SIZE)}, "two": {str(SIZE)}, "tasks": {None}})
        wait_for("as many tasks to run as there is room for", lambda: self.runs("tasks") == [SIZE])
        self.assertEqual(self.runs(second), [0])
        self.cluster.kubectl("delete", "job", first, "tasks", "--cascade=foreground")
        self.assertEqual(self.one_alone([second]), second)
        self.cluster.create(indexed_job("alone", SIZE + 2, {"synergy.io/gang-size": "1"}, subdomain="alone", **on(self.other)))
        wait_for("as many pods to run as there is room for", lambda: self.runs("alone") == [SIZE])


if __name__ == "__main__":
    unittest.main(verbosity=2)
