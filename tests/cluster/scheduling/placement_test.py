"""Placement of pods on a real control plane: kube-scheduler asks the extender, and the API server
shows the outcome."""

import random
import os
import pathlib
import unittest

import failures
import fungible
from cluster import GPU, ClusterTest, pod, wait_for
from fungible import FungibleTest
from invariants import Invariants, quantity
from trainers import milli_cpu


class BestFitModel:
    """Implements the ranking of docs/internals/extender.md again, in its simplest form."""

    def __init__(self, nodes):
        self.nodes = {n["metadata"]["name"]: [float(quantity(n["status"]["allocatable"][r]))
                                              for r in (GPU, "cpu", "memory")]
                      for n in nodes if GPU in n["status"]["allocatable"]}
        self.free = {name: list(size) for name, size in self.nodes.items()}
        # The amounts that would be free if each pod had its demand; nodes are ranked by them.
        self.unclaimed = {name: list(size) for name, size in self.nodes.items()}
        self.largest = [max(size[d] for size in self.nodes.values()) for d in range(3)]
        self.least = [float("inf")] * 2

    def place(self, requests, demand):
        """Returns the node for a pod, and counts the pod there; None if it fits nowhere."""
        gpus = requests[0]
        self.least = [min(least, requests[d + 1] / gpus) for d, least in enumerate(self.least)]
        ranks = []
        for name, free in self.free.items():
            if any(r > f for r, f in zip(requests, free)):
                continue
            left = free[0] - gpus
            room = [(f - d - left * min(least, largest / self.largest[0])) / largest
                    for f, d, least, largest in zip(self.unclaimed[name][1:], demand[1:], self.least, self.largest[1:])]
            if min(room) >= 0:
                ranks.append((0, sum(room) / (left + 1) + 0.25 * left / self.largest[0], name))
            else:
                ranks.append((1, sum(max(0, -r) for r in room), name))
        if not ranks:
            return None
        best = min(ranks)[2]
        self.free[best] = [f - r for f, r in zip(self.free[best], requests)]
        self.unclaimed[best] = [f - d for f, d in zip(self.unclaimed[best], demand)]
        return best


class PlacementTest(ClusterTest):
    def jobs(self, count, seed):
        """Returns random pods: (name, requests, demand) with whole cores and gigabytes."""
        chance = random.Random(seed)
        for number in range(count):
            gpus = chance.choice([1, 1, 1, 2, 4])
            requests = [gpus, gpus * chance.choice([1, 2, 3]), gpus * chance.choice([20, 40, 60])]
            demand = [gpus, requests[1] * chance.choice([1, 1, 2, 4]), requests[2] * chance.choice([1, 2])]
            yield f"job-{number:03}", requests, demand

    def pod(self, name, requests, demand):
        return pod(name, requests[0], str(requests[1]), f"{requests[2]}G",
                   demand={"cpu": str(demand[1]), "memory": f"{demand[2]}G"})

    def model(self):
        return BestFitModel(self.cluster.get("nodes")["items"])

    def test_pods_one_by_one_land_where_best_fit_puts_them(self):
        seed = int(os.environ.get("SYNERGY_SEED", "7"))
        print("seed", seed)
        model = self.model()
        for name, requests, demand in self.jobs(30, seed):
            self.cluster.create(self.pod(name, requests, demand))
            node = wait_for(f"{name} to be bound", lambda name=name: self.cluster.bound().get(name))
            bytes_of = [[g, c, m * 1e9] for g, c, m in (requests, demand)]
            self.assertEqual(node, model.place(*bytes_of), f"{name} {requests} {demand}")

    def test_pods_all_at_once_land_where_best_fit_puts_them(self):
        # kube-scheduler takes pods in the order of creation, and asks about the next pod before it
        # has bound the last one.
        seed = int(os.environ.get("SYNERGY_SEED", "11"))
        print("seed", seed)
        jobs = list(self.jobs(60, seed))
        # The reserve depends on all waiting pods. With all of them created at once it is that of
        # the whole set.
        model = self.model()
        for _, requests, _ in jobs:
            model.least = [min(least, requests[d + 1] * (1e9 if d else 1) / requests[0])
                           for d, least in enumerate(model.least)]
        asked = 'synergy_extender_request_duration_seconds_count{verb="filter"}'
        # On a very busy machine a call may take too long. Its pod is then retried after others, in
        # another order.
        for _ in range(5):
            before = self.extender.metric(asked)
            self.cluster.clear()
            # All pods must exist before kube-scheduler sees the first.
            self.cluster.script("stop", "synergy-scheduler")
            self.cluster.create(*[self.pod(*job) for job in jobs])
            self.cluster.script("start", "synergy-scheduler")
            bound = wait_for("all pods to be bound", lambda: len(b := self.cluster.bound()) == len(jobs) and b)
            if self.extender.metric(asked) == before + len(jobs):
                break
        expected = {name: model.place(*[[g, c, m * 1e9] for g, c, m in (requests, demand)])
                    for name, requests, demand in jobs}
        self.assertEqual(bound, expected)
        items = self.cluster.get("nodes,pods")["items"]
        self.assertEqual([], Invariants().check([i for i in items if i["kind"] == "Node"],
                                                [i for i in items if i["kind"] == "Pod"]))

    def test_preferences_decide_among_nearly_equal_nodes_only(self):
        # The pods prefer the last node as strongly as Kubernetes allows: 100 points of preferred
        # node affinity, with the weight 2.
        nodes = sorted(self.model().nodes)
        best, other = nodes[0], nodes[-1]
        affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 100,
             "preference": {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [other]}]}}]}}
        self.cluster.create(pod("picky", affinity=affinity))
        self.assertEqual(wait_for("the pod to be bound", lambda: self.cluster.bound().get("picky")), other,
                         "all are empty")
        # The filler leaves little more than two GPUs need, which makes the node the best choice.
        self.cluster.create(pod("filler", 6, "18", "375G", nodeSelector={"kubernetes.io/hostname": best}))
        wait_for("the filler to be bound", lambda: self.cluster.bound().get("filler"))
        self.cluster.create(pod("likes-another", affinity=affinity))
        self.assertEqual(wait_for("the pod to be bound", lambda: self.cluster.bound().get("likes-another")), best)

    def test_a_spread_that_may_be_broken_decides_among_nearly_equal_nodes(self):
        def notebook(name, **more):
            made = pod(name, topologySpreadConstraints=[
                {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway",
                 "labelSelector": {"matchLabels": {"app": "notebook"}}}], **more)
            made["metadata"]["labels"] = {"app": "notebook"}
            return made

        # The node is a little fuller than the others, so it is best for a pod without rules about
        # spreading.
        best = sorted(self.model().nodes)[0]
        self.cluster.create(notebook("first", gpus=0, cpu="10m", memory="1M",
                                     nodeSelector={"kubernetes.io/hostname": best}))
        wait_for("the first to be bound", lambda: self.cluster.bound().get("first"))
        self.cluster.create(notebook("second"))
        self.assertNotEqual(wait_for("the second to be bound", lambda: self.cluster.bound().get("second")), best)

    def test_kube_schedulers_own_filters_stay_in_force(self):
        nodes = sorted(self.model().nodes)
        self.cluster.create(pod("picky", nodeSelector={"kubernetes.io/hostname": nodes[-1]}))
        self.assertEqual(wait_for("the pod to be bound", lambda: self.cluster.bound().get("picky")), nodes[-1])

    def test_a_pod_that_fits_nowhere_gets_an_event(self):
        self.cluster.create(pod("huge", cpu="1000"))
        wait_for("an event", lambda: any("Insufficient cpu" in text for text in self.cluster.events("huge")))

    def test_other_pods_are_not_the_extenders_business(self):
        count = 'synergy_extender_request_duration_seconds_count{verb="filter"}'
        before = self.extender.metric(count)
        self.cluster.create(pod("without-gpu", gpus=0), pod("elsewhere", scheduler="default-scheduler"))
        wait_for("both to be bound", lambda: len(self.cluster.bound()) == 2)
        self.assertEqual(self.extender.metric(count), before)

    def test_a_pod_of_higher_priority_evicts_the_least(self):
        self.addCleanup(self.cluster.delete, "priorityclass", "low", "middle", "high")
        self.cluster.create(*[{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                               "metadata": {"name": name},
                               "value": value} for name, value in (("low", 1), ("middle", 5), ("high", 10))])
        node = sorted(self.model().nodes)[0]
        there = {"nodeSelector": {"kubernetes.io/hostname": node}}
        self.cluster.create(pod("low", 4, "8", priorityClassName="low", **there),
                            pod("middle", 4, "8", priorityClassName="middle", **there))
        wait_for("both to be bound", lambda: len(self.cluster.bound()) == 2)
        self.cluster.create(pod("high", 4, "8", priorityClassName="high", **there))
        wait_for("the pod of high priority to be bound", lambda: self.cluster.bound().get("high"))
        self.assertIn("middle", self.cluster.pods())
        self.assertNotIn("low", self.cluster.pods())
        self.assertGreaterEqual(self.extender.metric('synergy_extender_request_duration_seconds_count{verb="preempt"}'),
                                1)

    def test_a_pod_runs_on_a_real_node(self):
        real = [n["metadata"]["name"] for n in self.cluster.get("nodes")["items"]
                if n["metadata"]["labels"].get("synergy.test/node") == "real"]
        self.assertTrue(real, "the cluster has to have a real node")
        self.addCleanup(self.cluster.patch, "node", real[0], {"status": {"capacity": {GPU: None}}}, "status")
        self.cluster.patch("node", real[0], {"status": {"capacity": {GPU: "2"}}}, "status")
        wait_for("the kubelet to offer the GPUs",
                 lambda: GPU in self.cluster.get("node", real[0])["status"]["allocatable"])
        self.cluster.create(pod("real", 2, "100m", "50M", nodeSelector={"kubernetes.io/hostname": real[0]}))
        wait_for("the pod to run", lambda: self.cluster.pods()["real"]["status"]["phase"] == "Running")


class ShadowTest(ClusterTest):
    shadow = True

    def test_pods_that_others_place_are_judged_and_left_as_they_are(self):
        before = pathlib.Path(self.extender.log.name).stat().st_size
        model = BestFitModel(self.cluster.get("nodes")["items"])
        first = sorted(model.nodes)[0]
        elsewhere = {"scheduler": "default-scheduler"}
        # The first pod has only one possible node. The second exactly fits beside it; the default
        # scheduler would spread the pods.
        self.cluster.create(pod("filler", 6, "18", "375G", nodeSelector={"kubernetes.io/hostname": first}, **elsewhere))
        wait_for("the filler to be bound", lambda: self.cluster.bound().get("filler"))
        self.cluster.create(pod("apart", 2, "6", "120G", **elsewhere))
        went_to = wait_for("the pod to be bound", lambda: self.cluster.bound().get("apart"))
        self.assertNotEqual(went_to, first)
        count = 'synergy_extender_shadow_choices_total{agrees="%s"}'
        wait_for("both to be judged",
                 lambda: self.extender.metric(count % "yes") == 1 and self.extender.metric(count % "no") == 1)
        with open(self.extender.log.name, encoding="utf-8") as log:
            log.seek(before)
            logged = [line for line in log if "pod=default/apart" in line]
        self.assertEqual(len(logged), 1, logged)
        self.assertIn(f"scheduler=default-scheduler went_to={went_to} choice={first} agrees=no", logged[0])
        placed_pods = self.cluster.pods()
        for name, placed in placed_pods.items():
            # kwok acts as the node agent.
            annotations = set(placed["metadata"].get("annotations", {})) - {"synergy.io/memory-in-use",
                                                                            "synergy.io/devices"}
            self.assertEqual({key for key in annotations if "synergy" in key}, set(), name)
        # Events outlive pods, so an event may be about a pod of another test with the same name.
        uids = {placed["metadata"]["uid"] for placed in placed_pods.values()}
        sources = {event["source"].get("component") or event["reportingComponent"]
                   for event in self.cluster.get("events")["items"]
                   if event["involvedObject"].get("uid") in uids}
        self.assertFalse({source for source in sources if "synergy" in source}, sources)


class PromisedRoomTest(FungibleTest):
    """kube-scheduler nominates a node for a pod while the pod's volume is being created. Here the
    test creates the volume."""

    STORAGE = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "late"},
               "provisioner": "synergy.test/late", "volumeBindingMode": "WaitForFirstConsumer"}
    CLAIM = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "late", "namespace": "default"},
             "spec": {"storageClassName": "late", "accessModes": ["ReadWriteOnce"],
                      "resources": {"requests": {"storage": "1Gi"}}}}
    VOLUME = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "late"},
              "spec": {"storageClassName": "late", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"},
                       "persistentVolumeReclaimPolicy": "Retain", "hostPath": {"path": "/late"},
                       "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "default",
                                    "name": "late"}}}

    def test_growth_at_bind_leaves_alone_what_a_pod_without_gpus_was_promised(self):
        self.addCleanup(self.cluster.delete, "pvc,pv,storageclass", "late")
        self.addCleanup(self.cluster.clear)
        self.cluster.create(self.STORAGE, self.CLAIM)
        self.cluster.create(pod("loader", gpus=0, cpu="20", nodeSelector={"kubernetes.io/hostname": fungible.NODE},
                                volumes=[{"name": "late", "persistentVolumeClaim": {"claimName": "late"}}]))
        wait_for("kube-scheduler's promise",
                 lambda: self.cluster.pods()["loader"]["status"].get("nominatedNodeName") == fungible.NODE)
        self.assertNotIn("loader", self.cluster.bound())
        # The pod would get 9 cores, but only 4 are not promised to another.
        self.cluster.create(fungible.pod("trainer", "sensitive"))
        wait_for("the trainer to be bound", lambda: self.cluster.bound().get("trainer"))
        self.assertLessEqual(milli_cpu(self.cluster.pods()["trainer"]), 4000)
        self.assertNotIn("loader", self.cluster.bound(), "the race is over before it was run")
        self.cluster.create(self.VOLUME)
        # The test binds the claim at once, because the volume controller may look only after 15 s.
        wait_for("the volume to be known",
                 lambda: self.cluster.get("pv", "late")["status"].get("phase") in ("Available", "Bound"))
        self.cluster.patch("pvc", "late", {"spec": {"volumeName": "late"}})
        self.assertEqual(wait_for("the loader to be bound", lambda: self.cluster.bound().get("loader")), fungible.NODE)
        items = self.cluster.get("nodes,pods")["items"]
        self.assertEqual([], Invariants().check([i for i in items if i["kind"] == "Node"],
                                                [i for i in items if i["kind"] == "Pod"]))


if __name__ == "__main__":
    failures.main()
