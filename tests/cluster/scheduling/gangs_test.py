"""Gangs on a real control plane: each runs whole or not at all, whatever happens in between.

SYNERGY_GANG_ROUNDS (2, or 6 in the long tier) is the number of races of two gangs. SYNERGY_SEED (5)
determines what happens in between.
"""

import itertools
import os
import pathlib
import random
import signal
import subprocess
import time
import unittest

import failures
import tiers
from cluster import ClusterTest, pod, wait_for
from gang_race import SIZE, GangRace, gang, on


def indexed_job(name, size=SIZE, labels=None, **spec):
    """Returns an Indexed Job whose pods do not state the gang's size."""
    template = {"metadata": {"labels": labels or {}}, "spec": pod(name, 1, "1", "10G", **spec)["spec"]}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
            "spec": {"completionMode": "Indexed", "completions": size, "parallelism": size, "template": template}}


class OneNodeTest(ClusterTest):
    """Tests of gangs that need the GPUs of one node."""

    def setUp(self):
        super().setUp()
        nodes = sorted(n["metadata"]["name"] for n in self.cluster.get("nodes")["items"]
                       if n["status"]["allocatable"].get("nvidia.com/gpu") == str(SIZE))
        self.node, self.other = nodes[:2]
        self.seed = int(os.environ.get("SYNERGY_SEED", "5"))
        self.race = GangRace(self.cluster, self.extender, self.node, self.other, self.seed)
        self.runs, self.one_alone = self.race.runs, self.race.one_alone
        self.delete, self.delete_gang = self.race.delete, self.race.delete_gang

    def held(self):
        return self.extender.metric("synergy_extender_held_gangs")

    # Only kube-scheduler checks pod affinity, and no node satisfies this one for the last member.
    NO_NODE = {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"labelSelector": {"matchLabels": {"nobody": "has-it"}}, "topologyKey": "kubernetes.io/hostname"}]}}}

    def create_one_that_never_is_whole(self, name):
        pods = gang(name, **on(self.node))
        pods[-1]["spec"].update(self.NO_NODE)
        self.cluster.create(*pods)
        wait_for("its places to be held", lambda: self.held() == 1)


class GangsTest(OneNodeTest):
    def test_gangs_run_whole_one_after_the_other(self):
        # It wakes a gang that was refused while the extender's watch was late.
        self.enterContext(self.cluster.controller())
        rounds = int(os.environ.get("SYNERGY_GANG_ROUNDS", "6" if tiers.IS_LONG else "2"))
        print("rounds", rounds, "seed", self.seed)
        for number in range(rounds):
            self.race.run(number, loses=number % 2 == 1)
        print(f"seconds for both gangs: {min(self.race.seconds):.1f} to {max(self.race.seconds):.1f}")

    def test_a_gang_larger_than_the_cluster_gets_an_event_at_once(self):
        self.cluster.create(*gang("huge", size=256, gpus=8, members=1))
        wait_for("an event", lambda: any("gang default/huge: it needs 2048 nvidia.com/gpu, the cluster has" in text
                                         for text in self.cluster.events("huge-0")))
        self.assertEqual(self.held(), 0)

    def test_members_that_keep_off_each_other_run_on_a_node_each(self):
        apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"synergy.io/gang": "apart"}}, "topologyKey": "kubernetes.io/hostname"}]}}
        self.cluster.create(*gang("apart", size=3, affinity=apart))
        wait_for("all to run", lambda: self.runs("apart") == [3])
        self.assertEqual(len(set(self.cluster.bound().values())), 3)

    def test_members_with_one_host_port_and_one_node_do_not_run(self):
        pods = gang("port", size=2, **on(self.node))
        for each in pods:
            each["spec"]["containers"][0]["ports"] = [{"containerPort": 29500, "hostPort": 29500}]
        self.cluster.create(*pods)
        for name in ("port-0", "port-1"):
            wait_for("both to be refused",
                     lambda name=name: any("gang default/port: 1 of 2 members fit beside each other" in text
                                           for text in self.cluster.events(name)))
        self.assertEqual((self.runs("port"), self.held()), ([0], 0))

    def test_a_launcher_that_asks_for_no_gpus_by_name_is_bound(self):
        pods = gang("mpi", size=3, **on(self.node))
        pods[0]["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/gpu"] = "0"
        pods[0]["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "0"
        self.cluster.create(*pods)
        wait_for("all to run", lambda: self.runs("mpi") == [3])

    def test_labels_without_sense_are_an_event(self):
        pods = gang("odd", members=1)
        pods[0]["metadata"]["labels"]["synergy.io/gang-size"] = "many"
        self.cluster.create(*pods)
        wait_for("an event",
                 lambda: any("must be a number from 1 to 256" in text for text in self.cluster.events("odd-0")))

    def test_a_gang_that_waits_for_members_reports_it_and_holds_nothing(self):
        self.cluster.create(*gang("few", members=3, **on(self.node)))
        wait_for("an event", lambda: any("gang default/few: 3 of 8 members exist" in text
                                         for text in self.cluster.events("few-2")))
        self.cluster.create(pod("single", SIZE, "1", "10G", **on(self.node)))
        wait_for("a single pod to run", lambda: "single" in self.cluster.bound())
        self.delete("single")
        self.cluster.create(*gang("few", **on(self.node))[3:])
        self.assertEqual(self.one_alone(["few"]), "few")

    def test_a_gang_that_lost_a_member_does_not_hold(self):
        self.create_one_that_never_is_whole("lost")
        self.delete("lost-3")
        wait_for("nothing to be held, long before it ends by itself", lambda: self.held() == 0, 30)
        self.assertEqual(self.runs("lost"), [0])
        self.cluster.create(pod("single", SIZE, "1", "10G", **on(self.node)))
        wait_for("a single pod to run", lambda: "single" in self.cluster.bound())

    def test_an_extender_killed_while_places_are_held_leaves_one_whole_and_the_other_none(self):
        # The controller makes kube-scheduler retry pods that were refused by a state some
        # milliseconds old.
        self.enterContext(self.cluster.controller())
        chance = random.Random(3)
        in_the_middle = 0
        for number in range(8 if tiers.IS_LONG else 2):
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

    def test_one_of_two_jobs_that_are_gangs_runs_whole(self):
        self.enterContext(self.cluster.controller())
        names = ["one", "two", "tasks", "alone"]
        self.addCleanup(self.cluster.delete, "job", *names, wait=True)
        self.cluster.create(*[indexed_job(name, subdomain=name, **on(self.node)) for name in names[:2]])
        # These Jobs have more pods than the node has GPUs, and are not gangs: one has independent
        # tasks, the other has a label that says so.
        self.cluster.create(indexed_job("tasks", SIZE + 2, **on(self.other)))
        first = self.one_alone(names[:2])
        second = names[first == names[0]]
        sizes = {name: {each["metadata"]["labels"].get("synergy.io/gang-size")
                        for key, each in self.cluster.pods().items()
                        if key.startswith(name + "-")} for name in names[:3]}
        self.assertEqual(sizes, {"one": {str(SIZE)}, "two": {str(SIZE)}, "tasks": {None}})
        wait_for("as many tasks to run as there is room for", lambda: self.runs("tasks") == [SIZE])
        self.assertEqual(self.runs(second), [0])
        self.cluster.delete("job", first, "tasks", wait=True)
        self.assertEqual(self.one_alone([second]), second)
        self.cluster.create(indexed_job("alone", SIZE + 2, {"synergy.io/gang-size": "1"}, subdomain="alone",
                                        **on(self.other)))
        wait_for("as many pods to run as there is room for", lambda: self.runs("alone") == [SIZE])

    @unittest.skipIf("SYNERGY_KUBERNETES" in os.environ, "older versions have other PodGroups")
    def test_pod_groups_of_kubernetes_run_whole_by_themselves_and_of_jobs(self):
        self.enterContext(self.cluster.controller())
        names = ["plain", "planned"]
        self.addCleanup(self.cluster.delete, "job", "planned", wait=True)
        self.addCleanup(self.cluster.delete, "podgroups.scheduling.k8s.io", "plain")
        group = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {"name": "plain"},
                 "spec": {"schedulingPolicy": {"gang": {"minCount": SIZE}},
                          "schedulingConstraints": {"topology": [{"key": "kubernetes.io/hostname"}]}}}
        # Without a subdomain the Job is an array of tasks.
        job = indexed_job("planned", **on(self.node))
        job["spec"]["scheduling"] = {"schedulingPolicy": {"gang": {}}}
        members = [pod(f"plain-{number}", 1, "1", "10G", schedulingGroup={"podGroupName": "plain"}, **on(self.node))
                   for number in range(SIZE)]
        self.cluster.create(group, *members[:-1])
        # The first message is the extender's answer, the second what the controller says about the
        # topology. Once the Job has the GPUs, kube-scheduler itself refuses the group.
        wait_for("the group to wait for its last pod",
                 lambda: f"{SIZE - 1} of {SIZE} members exist" in self.explain("plain-0"))
        self.assertIn("the topology of PodGroup default/plain is only a preference", self.explain("plain-0"))
        self.assertEqual(self.runs("plain"), [0])
        self.cluster.create(job)
        self.assertEqual(self.one_alone(names), "planned")
        self.cluster.create(members[-1],
                            pod("lost", 1, "1", "10G", schedulingGroup={"podGroupName": "missing"}, **on(self.other)))
        wait_for("a pod of no group to run", lambda: "lost" in self.cluster.bound())
        self.assertIn("there is no PodGroup default/missing of scheduling.k8s.io/v1beta1", self.explain("lost"))
        labels = [self.cluster.pods()[name]["metadata"]["labels"]
                  for name in self.cluster.pods() if name.startswith("planned-")]
        groups = {each["spec"]["schedulingGroup"]["podGroupName"] for name, each in self.cluster.pods().items()
                  if name.startswith("planned-")}
        self.assertEqual({(each["synergy.io/gang"], each["synergy.io/gang-size"]) for each in labels},
                         {(*groups, str(SIZE))})
        self.assertEqual(self.runs("plain"), [0])
        self.cluster.delete("job", "planned", wait=True)
        self.assertEqual(self.one_alone(["plain"]), "plain")
        # A later minCount applies only to new gangs.
        self.cluster.patch("podgroups.scheduling.k8s.io", "plain",
                           {"spec": {"schedulingPolicy": {"gang": {"minCount": 2}}}})

        later = (f"plain-{number}" for number in itertools.count(SIZE))

        def alone():
            # Each name is new, because kwok deletes a pod again after it is gone, without a UID.
            name = next(later)
            made, = self.cluster.create({**members[0], "metadata": {**members[0]["metadata"], "name": name}})
            if "synergy.io/gang-size" not in made["metadata"].get("labels", {}):
                return name
            self.delete(name)
            return None
        # The extender uses the controller's answer for two seconds.
        name = wait_for("a pod to be of no gang", alone)
        self.assertIn("has a minCount of 2, and its pods were created with one of 8", self.explain(name))

    def end_badly(self, name):
        """Writes the status that a kubelet reports for a pod whose process has failed."""
        self.cluster.end_pod(name, "Failed", reason="Error", message="the training crashed")

    def explain(self, name):
        program = pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy"
        return subprocess.run([program, "explain", "pod", name], env=self.cluster.environment, check=True,
                              capture_output=True, text=True).stdout

    def on_node(self, prefix):
        """Returns the pods on the node that have neither failed nor succeeded."""
        return {name for name, each in self.cluster.pods().items()
                if name.startswith(prefix) and each["spec"].get("nodeName") == self.node
                and each["status"].get("phase") not in ("Failed", "Succeeded")}

    def test_the_place_of_a_failed_member_waits_for_its_replacement(self):
        self.addCleanup(self.cluster.delete, "job", "train", wait=True)
        # The label states the size, because the controller is absent.
        self.cluster.create(indexed_job("train", labels={"synergy.io/gang-size": str(SIZE)}, subdomain="train",
                                        **on(self.node)))
        wait_for("the gang to run", lambda: len(self.on_node("train-")) == SIZE)
        self.cluster.create(pod("rival", 1, "1", "10G", **on(self.node)))
        wait_for("the rival to be refused",
                 lambda: any("Insufficient nvidia.com/gpu" in text for text in self.cluster.events("rival")))
        members = self.on_node("train-")
        failed = sorted(members)[3]
        self.end_badly(failed)
        # The Job waits for ten seconds before it creates another pod. Without the hold, the GPU
        # would be free during that time.
        wait_for("the failed pod's event",
                 lambda: any("is reserved for its replacement" in text for text in self.cluster.events(failed)))
        wait_for("the event for the rival",
                 lambda: any(f"its room is reserved for the pod that replaces default/{failed}" in text
                             for text in self.cluster.events("rival")))
        self.assertNotIn("rival", self.cluster.bound())
        self.assertIn(f"is reserved for the replacement of default/{failed}: until", self.explain("rival"))
        wait_for("the gang to be whole", lambda: len(self.on_node("train-")) == SIZE)
        self.assertEqual(len(self.on_node("train-") - members), 1)
        self.assertNotIn("rival", self.cluster.bound())
        wait_for("its end to be counted",
                 lambda: self.extender.metric('synergy_extender_vacant_places_total{outcome="filled"}') == 1)
        self.cluster.delete("job", "train", wait=True)
        wait_for("the rival to run", lambda: "rival" in self.cluster.bound())

    def test_a_gang_that_is_done_or_deleted_leaves_nothing_behind(self):
        self.cluster.create(*gang("done", **on(self.node)))
        self.one_alone(["done"])
        self.cluster.create(pod("next", 1, "1", "10G", **on(self.node)))
        self.cluster.end_pod("done-2", "Succeeded")
        wait_for("the next pod to run where a member has done its work", lambda: "next" in self.cluster.bound())
        wait_for("its end to be counted",
                 lambda: self.extender.metric('synergy_extender_vacant_places_total{outcome="succeeded"}') == 1)
        self.delete_gang("done")
        self.cluster.create(pod("last", SIZE - 1, "1", "10G", **on(self.node)))
        wait_for("a pod to have all the room", lambda: "last" in self.cluster.bound())
        wait_for("no place to be vacant", lambda: self.extender.metric("synergy_extender_vacant_places") == 0)


class HeldInVainTest(OneNodeTest):
    settings = "gangHold: 10s\n"  # the shortest that is allowed

    def test_unused_places_expire_with_a_reason(self):
        self.create_one_that_never_is_whole("vain")
        wait_for("nothing to be held", lambda: self.held() == 0)
        self.assertEqual(self.runs("vain"), [0])
        self.cluster.create(pod("single", SIZE, "1", "10G", **on(self.node)))
        wait_for("a single pod to run", lambda: "single" in self.cluster.bound())
        if tiers.IS_LONG:  # the gang is not tried again for half a minute
            self.delete("vain-7", "single")
            self.cluster.create(gang("vain", **on(self.node))[-1])
            self.assertEqual(self.one_alone(["vain"]), "vain")


if __name__ == "__main__":
    failures.main()
