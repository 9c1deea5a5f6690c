"""CPU and memory change while pods run: webhook, extender and tuner together, on a real control
plane."""

import json
import os
import pathlib
import unittest

import failures
import replay
import tiers
from api import ApiError
from cluster import Cluster, wait_for
from cluster import pod as plain
from fungible import ALLOCATABLE, NODE, FungibleTest, pod
from invariants import quantity
from stand_in_agent import StandInAgent

ROUND = 2  # seconds
# Rounds after which nothing more can change: the tuner retries after 5 s what it could not do.
ROUNDS = 10 if tiers.IS_LONG else 3


def amount(text):
    return float(text[:-1]) / 1000 if text.endswith("m") else float(text)


# A training that reads 30 MB/s of a data set of 40 GiB, as fast as three cores can.
READER = {
    "apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile", "metadata": {"name": "reader"},
    "spec": {"processMemory": "1Gi", "datasetSize": "40Gi", "storageBandwidth": "500M", "bytesPerSample": "1M",
             "points": [{"cpu": cpu, "throughput": speed} for cpu, speed in ((1, 10), (3, 30), (9, 30))]}}
AGENTS_NODE, OTHER_NODE = "v100-2", "v100-3"
GIB = 1 << 30


def either(*nodes):
    """Returns the affinity of a pod that may go to these nodes."""
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": list(nodes)}]}]}}}


def cores(item):
    return amount(item["spec"]["containers"][0]["resources"]["requests"]["cpu"])


class TunerTest(FungibleTest):
    """The extender and the controller record everything, and a replay makes every decision
    again."""

    settings = "storageNamespace: synergy-system\n"

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(os.environ["SYNERGY_TEST_STATE"])
        cls.recording = folder / "extender.recording"
        cls.controller_recording = folder / "controller.recording"
        for file in (cls.recording, cls.controller_recording):
            file.unlink(missing_ok=True)
        cls.agent = StandInAgent(Cluster(), AGENTS_NODE)
        cls.controller = {"tuner": f"{{round: {ROUND}s, patience: 20s, storage: true}}",
                          "progress": cls.agent.settings(), "recordFile": cls.controller_recording}
        # The check runs after the controller has stopped.
        cls.addClassCleanup(cls.check_recordings)
        cls.enterClassContext(cls.agent)
        super().setUpClass()

    @classmethod
    def check_recordings(cls):
        extender, controller = replay.made_again(cls.recording, cls.controller_recording)
        for report, kinds in ((extender, ("Filter", "Prioritize", "Bind", "Preempt", "Change")),
                              (controller, ("TunerDecided", "Change"))):
            print(report["file"], report["runs"], "runs", report["counts"])
            if report["differences"]:
                raise AssertionError(json.dumps(report["differences"], indent=2))
            for kind in kinds:
                if report["counts"].get(kind, {}).get("same", 0) == 0:
                    raise AssertionError(f"{report['file']} has no {kind}")

    def let_rounds_pass(self, count, check):
        """Calls `check` until it is true, or until the controller has divided all nodes `count`
        times, whatever else the controller does meanwhile."""
        rounds = "synergy_tuner_rounds_total"
        # The current round began earlier, so it does not count.
        enough = self.cluster.controller_metric(rounds) + count + 1
        wait_for(f"{count} rounds", lambda: check() or self.cluster.controller_metric(rounds) >= enough)

    def run_pods(self, *items):
        """Creates the pods one after the other, each after the previous one is bound."""
        for item in items:
            self.cluster.create(item)
            name = item["metadata"]["name"]
            wait_for(f"{name} to run", lambda name=name: self.phase(name) == "Running")

    def phase(self, name):
        return self.cluster.pods()[name]["status"].get("phase")

    def cores(self):
        return {name: cores(item) for name, item in self.cluster.pods().items()}

    def quota_used(self):
        return amount(self.cluster.get("resourcequota", "team")["status"]["used"]["requests.cpu"])

    def wait_until_given(self, what, **expected):
        try:
            wait_for(what, lambda: self.cores() == expected)
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.cores()}, of the quota {self.quota_used()} used") from error

    def event_reasons(self, name):
        uid = self.cluster.get("pod", name)["metadata"]["uid"]
        items = self.cluster.get("events", fieldSelector=f"involvedObject.uid={uid}")["items"]
        return {event["reason"] for event in items}

    def check(self):
        """Checks that no pod is below its floor, which is the fair share, and that the node is not
        over-allocated."""
        given = self.cores()
        self.assertLessEqual(sum(given.values()), ALLOCATABLE, given)
        return given

    def test_pods_get_their_demand_or_the_rest_and_none_waits_for_cpu(self):
        self.run_pods(*(pod(f"p{i}", "sensitive") for i in range(3)))
        given = self.check()
        self.assertEqual((given["p0"], given["p1"]), (9, 9))
        self.assertGreaterEqual(given["p2"], 3)
        wait_for("the event", lambda: "SynergyAllocated" in self.event_reasons("p0"))
        # Five more pods take the remaining GPUs. The CPU for the last ones has to come from the
        # first.
        self.run_pods(*(pod(f"p{i}", "sensitive") for i in range(3, 8)))
        given = self.check()
        self.assertEqual(sorted(given.values()), [3] * 8)
        wait_for("the event", lambda: "SynergyReclaimed" in self.event_reasons("p0") | self.event_reasons("p1"))
        # Half of the pods leave: within a round the others have all the CPU.
        self.cluster.delete("pod", "p0", "p1", "p2", "p3")
        wait_for("the spare CPU to be given away", lambda: sum(self.cores().values()) > ALLOCATABLE - 1)
        self.check()
        wait_for("the event", lambda: any("SynergyGrown" in self.event_reasons(f"p{i}") for i in range(4, 8)))

    def test_growth_leaves_a_quota_its_headroom(self):
        quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "team"},
                 "spec": {"hard": {"requests.cpu": "10"}}}
        self.addCleanup(self.cluster.delete, "resourcequota", "team")
        self.cluster.create(quota)
        wait_for("the quota to be known, and nothing to be used", lambda: set(
            self.cluster.get("resourcequota", "team").get("status", {}).get("used", {}).values()) == {"0"})
        # A pod with a share of 3 and a demand of 9 gets what leaves room for a second one: when it
        # is bound, or a round later if the extender did not yet have the quota's count.
        self.run_pods(pod("first", "sensitive"))
        self.wait_until_given("what the quota leaves", first=7)
        # The API server sometimes counts an update twice, until it recounts the quota
        # (scripts/lib/control-plane.sh).
        wait_for("the quota to be counted", lambda: self.quota_used() == 7)
        self.run_pods(pod("second", "sensitive"))
        # The same holds again. The quota may refuse the second pod's floor at first; it gets the
        # floor later.
        self.wait_until_given("the room kept for the second", first=7, second=3)
        self.cluster.delete("pod", "second")
        self.let_rounds_pass(2, lambda: self.assertEqual(self.cores(), {"first": 7}))
        self.cluster.patch("resourcequota", "team", {"spec": {"hard": {"requests.cpu": "12"}}})
        wait_for("the pod to grow", lambda: self.cores() == {"first": 9})

    def test_surplus_moves_to_the_pod_that_it_helps(self):
        self.run_pods(pod("idle", "insensitive"), pod("busy", "sensitive"))
        given = self.check()
        self.assertEqual(given, {"idle": 1, "busy": 9})

    def test_memory_goes_where_it_saves_reads_that_others_wait_for(self):
        self.create_reader()
        names = ("reads", "reads-too")
        self.run_pods(*(pod(name, "reader", nodeSelector={"kubernetes.io/hostname": AGENTS_NODE}) for name in names))

        def memory():
            containers = (self.cluster.pods()[name]["spec"]["containers"][0] for name in names)
            return sum(quantity(container["resources"]["requests"]["memory"]) for container in containers)
        # Neither pod alone waits for storage.
        before = memory()
        self.let_rounds_pass(ROUNDS, lambda: False)
        self.assertEqual(memory(), before)
        for name in names:
            self.agent.report(name, storage={"backend": "vda", "read": 20e6, "waited": 0.4, "all": 40e6,
                                             "bandwidth": 40e6})
        self.addCleanup(self.agent.reports.clear)
        # With 26.7 GiB of the data set in memory, the pods read 40 MB/s.
        wait_for("the memory to grow", lambda: memory() >= before + 26 * GIB)

    def test_pods_that_wait_for_one_disk_go_to_different_nodes(self):
        self.cluster.delete("configmap", "synergy-storage", namespace="synergy-system")
        self.create_reader()
        # The readers must not get enough memory for their whole data sets.
        self.addCleanup(self.cluster.delete, "resourcequota", "memory")
        self.cluster.create({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "memory"},
                             "spec": {"hard": {"requests.memory": "20Gi"}}})
        wait_for("the quota to be known",
                 lambda: self.cluster.get("resourcequota", "memory").get("status", {}).get("used"))
        names = ("reads", "reads-too")
        self.run_pods(*(pod(name, "reader", nodeSelector={"kubernetes.io/hostname": AGENTS_NODE}) for name in names))
        # The fuller of two nodes is the better one, unless its disk is too slow for one more pod.
        self.assertEqual(self.place_reader("before"), AGENTS_NODE)
        for name in names:
            self.agent.report(name, storage={"backend": "vda", "read": 10e6, "waited": 0.4, "all": 20e6,
                                             "bandwidth": 20e6})
        self.addCleanup(self.agent.reports.clear)
        wait_for("the extender to know the disk",
                 lambda: self.extender.metric("synergy_extender_nodes_with_storage") == 1)
        self.assertEqual(self.place_reader("after"), OTHER_NODE)

    def create_reader(self):
        self.cluster.create(READER)
        self.addCleanup(self.cluster.delete, "trainingprofile", "reader")
        wait_for("the profile to be judged",
                 lambda: self.cluster.get("trainingprofile", "reader").get("status", {}).get("demand"))

    def place_reader(self, name):
        """Returns the node that a pod gets which may go to two nodes; the pod is gone afterwards."""
        made = pod(name, "reader", nodeSelector={}, affinity=either(AGENTS_NODE, OTHER_NODE))
        # The API server sometimes counts an update twice, until it recounts the quota.
        wait_for("the quota to admit it", lambda: self.cluster.create(made) or True)
        node = wait_for("it to be bound", lambda: self.cluster.bound().get(name))
        self.cluster.delete("pod", name, wait=True)
        return node

    def test_a_pod_that_may_go_anywhere_gets_its_demand(self):
        self.run_pods(pod("free", "sensitive", nodeSelector={}))
        self.assertEqual(self.cores(), {"free": 9})

    def test_members_of_a_gang_are_given_the_same_on_unequal_nodes(self):
        on = {"a": NODE, "b": "v100-2"}
        # Beside this pod, eight cores are left for the gang's member on its node; the other member
        # has a node to itself.
        self.run_pods(plain("web", 0, "16", "1G", nodeSelector={"kubernetes.io/hostname": NODE}))
        members = [pod(name, "sensitive", nodeSelector={"kubernetes.io/hostname": node}) for name, node in on.items()]
        for member in members:
            member["metadata"]["labels"].update({"synergy.io/gang": "two", "synergy.io/gang-size": "2"})
        self.cluster.create(*members)
        wait_for("both to be bound", lambda: {"a", "b"} <= set(self.cluster.bound()))
        at_bind = self.cores()
        self.assertLessEqual(max(at_bind["a"], at_bind["b"]), 8, at_bind)
        wait_for("both to have what the tight node has", lambda: self.of_gang() == (8, 8))
        self.cluster.delete("pod", "web")
        wait_for("both to have their demand", lambda: self.of_gang() == (9, 9))

    def test_a_gang_gets_room_by_cuts_on_two_nodes_at_once(self):
        nodes = ("v100-2", "v100-3")  # the third node's kubelet has refused cuts
        self.run_pods(*(pod(f"p{i}-{node}", "sensitive", nodeSelector={"kubernetes.io/hostname": node})
                        for node in nodes for i in range(3)))
        # The gang needs all five remaining GPUs of each node, for which there are three cores on a
        # node, or none.
        members = [pod(f"g{i}", "sensitive", nodeSelector={}, affinity=either(*nodes)) for i in range(10)]
        for member in members:
            member["metadata"]["labels"].update({"synergy.io/gang": "wide", "synergy.io/gang-size": "10"})
        self.cluster.create(*members)
        wait_for("all of it to run", lambda: all(self.phase(f"g{i}") == "Running" for i in range(10)))
        for node in nodes:
            on_it = [item for item in self.cluster.pods().values() if item["spec"]["nodeName"] == node]
            self.assertLessEqual(sum(cores(item) for item in on_it), ALLOCATABLE)

    def of_gang(self):
        given = self.cores()
        return given["a"], given["b"]

    def test_a_cut_that_the_kubelet_refuses_is_reverted_with_an_event(self):
        refuses = {"synergy.test/resize": "Infeasible"}
        self.run_pods(pod("p0", "sensitive", refuses), pod("p1", "sensitive", refuses), pod("p2", "sensitive"))
        for i in range(3, 6):
            self.cluster.create(pod(f"p{i}", "sensitive"))
        wait_for("a cut to be reverted",
                 lambda: "SynergyDeferred" in self.event_reasons("p0") | self.event_reasons("p1"))
        wait_for("the first two to have what they had", lambda: self.cores()["p0"] == 9 and self.cores()["p1"] == 9)

    def test_a_resize_that_the_node_could_never_hold_is_refused_by_a_cause_of_its_own(self):
        # The cause distinguishes the refusal from missing rights and from quotas.
        if int(self.cluster.called("GET", "/version")["minor"]) < 36:
            self.skipTest("the kubelet refuses it there")
        self.run_pods(pod("large", "insensitive"))
        more = {"spec": {"containers": [{"name": "train", "resources": {"requests": {"cpu": "1000"}}}]}}
        path = self.cluster.api.kind("pod").path(name="large") + "/resize"
        with self.assertRaises(ApiError) as refused:
            self.cluster.api.call("PATCH", path, more, "application/strategic-merge-patch+json")
        self.assertEqual((refused.exception.status, refused.exception.causes), (403, ["NodeCapacity"]))

    def test_a_killed_controller_leaves_a_cluster_that_converges(self):
        self.run_pods(*(pod(f"p{i}", "sensitive") for i in range(3)))
        self.cluster.script("stop", "synergy-controller", "KILL")
        try:
            # The webhook is down, so the pod states its own requests.
            late = pod("late", "sensitive")
            late["spec"]["schedulerName"] = "synergy-scheduler"
            late["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "4", "memory": "4Gi"}
            self.cluster.create(late)
            wait_for("it to wait for CPU", lambda: any("Insufficient cpu" in text
                                                       for text in self.cluster.events("late")))
        finally:
            self.cluster.script("start", "synergy-controller")
        wait_for("it to run", lambda: self.phase("late") == "Running")
        self.check()

    def test_a_pod_of_higher_priority_gets_cpu_from_pods_that_have_all_of_it(self):
        self.make_urgent()
        self.run_pods(*(pod(f"p{i}", "sensitive") for i in range(3)))
        # Only without free CPU does kube-scheduler try preemption.
        wait_for("them to have all CPU", lambda: sum(self.cores().values()) == ALLOCATABLE)
        before = {name: item["metadata"]["uid"] for name, item in self.cluster.pods().items()}
        self.run_pods(pod("urgent", "sensitive", priorityClassName="urgent"))
        after = {name: item["metadata"]["uid"] for name, item in self.cluster.pods().items()}
        self.assertEqual(before, {name: after.get(name) for name in before})
        self.check()

    def test_no_pod_is_evicted_for_cpu_that_can_be_reclaimed(self):
        self.make_urgent()
        self.run_pods(*(pod(f"p{i}", "sensitive") for i in range(3)))
        before = {name: item["metadata"]["uid"] for name, item in self.cluster.pods().items()}
        for i in range(3):
            self.cluster.create(pod(f"urgent-{i}", "sensitive", priorityClassName="urgent"))
        for i in range(3):
            wait_for(f"urgent-{i} to run", lambda i=i: self.phase(f"urgent-{i}") == "Running")
        after = {name: item["metadata"]["uid"] for name, item in self.cluster.pods().items()}
        self.assertEqual(before, {name: after.get(name) for name in before})
        self.check()

    def make_urgent(self):
        self.addCleanup(self.cluster.delete, "priorityclass", "urgent")
        self.cluster.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                             "metadata": {"name": "urgent"}, "value": 1000})

    def places_for(self, name):
        """Returns how often pods that still exist were cut to make room for the pod."""
        there = {item["metadata"]["uid"] for item in self.cluster.pods().values()}
        cut = [event for event in self.cluster.get("events")["items"]
               if event["reason"] == "SynergyReclaimed" and event["message"].endswith(f"/{name}")
               and event["involvedObject"]["uid"] in there]
        return sum(event.get("count") or 1 for event in cut)

    def test_a_pod_that_the_node_refuses_for_another_reason_costs_its_peers_one_cut(self):
        # kube-scheduler checks CPU first, so it names the other reason only if there is enough CPU.
        self.run_pods(*(pod(f"p{i}", "sensitive") for i in range(3)))
        alone = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"synergy.io/profile": "sensitive"}},
             "topologyKey": "kubernetes.io/hostname"}]}}
        wait_for("them to have all CPU", lambda: sum(self.cores().values()) == ALLOCATABLE)
        self.cluster.create(pod("alone", "insensitive", affinity=alone))
        wait_for("peers to be cut for it", lambda: self.places_for("alone") > 0)
        wait_for("kube-scheduler to say why not",
                 lambda: any("anti-affinity" in text for text in self.cluster.events("alone")))
        cuts = self.places_for("alone")
        self.let_rounds_pass(ROUNDS, lambda: self.assertEqual(self.places_for("alone"), cuts))
        self.assertEqual(self.phase("alone"), "Pending")
        # The reason for its refusal no longer exists.
        self.cluster.delete("pod", "p0", "p1", "p2")
        wait_for("it to run", lambda: self.phase("alone") == "Running")

    def test_no_pod_is_cut_for_a_pod_whose_host_port_is_taken(self):
        def listening(name):
            item = pod(name, "sensitive")
            item["spec"]["containers"][0]["ports"] = [{"containerPort": 4000, "hostPort": 4000}]
            return item

        self.run_pods(listening("p0"), *(pod(f"p{i}", "sensitive") for i in range(1, 3)))
        wait_for("them to have all CPU", lambda: sum(self.cores().values()) == ALLOCATABLE)
        before = self.check()
        self.cluster.create(listening("late"))
        wait_for("kube-scheduler to say why not",
                 lambda: any("free ports" in text for text in self.cluster.events("late")))
        self.let_rounds_pass(ROUNDS, lambda: self.assertEqual(self.places_for("late"), 0))
        given = self.cores()
        self.assertEqual({name: given[name] for name in before}, before)
        self.cluster.delete("pod", "p0")
        wait_for("it to run", lambda: self.phase("late") == "Running")


if __name__ == "__main__":
    failures.main()
