"""Admission sizes pods with the shipped settings, on a real API server with simulated nodes."""

import copy
import json
import os
import pathlib
import subprocess
import unittest
import urllib.request

import failures
import tiers
from cluster import GPU, Extender, own_cluster, wait_for

INSTANCE = int(os.environ.get("SYNERGY_TEST_INSTANCE", "1"))
SLICES = f"{GPU}.shared"
NODES = ("v100-1", "v100-2")  # 8 GPUs, 24 CPU, 500 GB each
# The fair share of one GPU: (24 - 0.5) / 8 CPU, and (500 GB - 1 GiB) / 8.
FAIR_CPU = 2.9375
FAIR_MEMORY = (500e9 - 2 ** 30) / 8


def pod(name, resources=None, labels=None, sidecar=None, **spec):
    containers = [{"name": "train", "image": "synergy.test/busybox:1",
                   "resources": resources or {"limits": {GPU: "1"}}}]
    if sidecar:
        containers.append({"name": "log", "image": "synergy.test/busybox:1", "resources": {"requests": sidecar}})
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels or {}},
            "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "schedulerName": "synergy-scheduler",
                     "tolerations": [{"operator": "Exists"}], "containers": containers, **spec}}


def plain(name, cpu, memory, **spec):
    return pod(name, {"requests": {"cpu": cpu, "memory": memory}}, schedulerName="default-scheduler", **spec)


def on(node):
    return {"nodeSelector": {"kubernetes.io/hostname": node}}


def number(quantity):
    """Returns CPU in cores, or memory in bytes."""
    for unit, factor in (("m", 1e-3), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("Ki", 2 ** 10), ("Mi", 2 ** 20),
                         ("Gi", 2 ** 30)):
        if quantity.endswith(unit):
            return float(quantity.removesuffix(unit)) * factor
    return float(quantity)


class SizesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(os.environ["SYNERGY_TEST_STATE"]) / "sizes"
        cls.cluster = cls.enterClassContext(own_cluster(
            folder, INSTANCE, "--real-nodes", "0", "--simulated-nodes", str(len(NODES)),
            "--controller", os.environ["SYNERGY_BIN"], "--shipped-settings"))

    def setUp(self):
        self.cluster.clear()
        self.cluster.kubectl("delete", "trainingprofiles,jobs", "--all")
        self.extender = Extender(self.cluster, shipped=True)
        self.extender.start()
        self.addCleanup(self.extender.log.close)
        self.addCleanup(self.extender.end)

    def created(self, item):
        """Creates the object and returns it as it was admitted."""
        return self.cluster.create(item)[0]

    def pod(self, name):
        return self.cluster.get("pod", name)

    def annotation(self, item, name):
        return item["metadata"].get("annotations", {}).get("synergy.io/" + name)

    def resources(self, item):
        return item["spec"]["containers"][0]["resources"]

    def sized(self, item, cpu=FAIR_CPU, memory=FAIR_MEMORY):
        requests = self.resources(item)["requests"]
        self.assertAlmostEqual(number(requests["cpu"]), cpu, 2)
        self.assertAlmostEqual(number(requests["memory"]) / 1e9, memory / 1e9, 2)

    def bound(self, *names):
        return wait_for(f"{', '.join(names)} to be bound", lambda: set(names) <= set(self.cluster.bound()))

    def known(self, resource, count):
        url = self.cluster.environment["SYNERGY_CONTROLLER_URL"] + "/metrics"
        line = f'synergy_cache_objects{{resource="{resource}"}} {count}\n'

        def has_counted():
            with urllib.request.urlopen(url, timeout=10) as answer:
                return line in answer.read().decode()

        wait_for(f"the controller to know {count} {resource}", has_counted)

    def add_profile(self, name="image", count=1, **spec):
        self.cluster.create({"apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile",
                             "metadata": {"name": name}, "spec": spec})
        self.known("trainingprofiles", count)

    # Amounts that the author of a pod has written.

    def test_written_amounts_stay_however_full_a_node_is(self):
        self.created(plain("filler", "1", "450G", **on(NODES[0])))
        self.bound("filler")
        amounts = {"cpu": "4", "memory": "200Gi", GPU: "1"}
        item = self.created(pod("train", {"requests": amounts, "limits": amounts}))
        self.assertEqual(self.resources(item), {"requests": amounts, "limits": amounts})
        self.assertEqual((item["status"]["qosClass"], self.annotation(item, "enforcement")), ("Guaranteed", "strict"))
        self.sized(self.created(pod("plain")))
        self.bound("train", "plain")
        self.assertEqual(self.cluster.bound()["train"], NODES[1])
        self.assertEqual(self.resources(self.pod("train")), {"requests": amounts, "limits": amounts})

    def test_a_pod_that_does_not_ask_is_nobodys_business(self):
        item = self.created(pod("theirs", schedulerName="default-scheduler"))
        self.assertEqual(self.resources(item)["requests"], {GPU: "1"})
        self.assertEqual(item["spec"]["schedulerName"], "default-scheduler")
        # The API server did not call the webhook: the controller's log does not mention the review.
        log = self.cluster.script("logs", "synergy-controller")
        self.assertNotIn("not_asked", log)
        self.cluster.kubectl("label", "namespace", "default", "synergy.io/managed=true")
        self.addCleanup(self.cluster.kubectl, "label", "namespace", "default", "synergy.io/managed-")

        def is_ours():
            self.cluster.kubectl("delete", "pod", "ours", "--ignore-not-found", "--force", "--grace-period=0")
            return self.created(pod("ours",
                                    schedulerName="default-scheduler"))["spec"]["schedulerName"] == "synergy-scheduler"

        # The API server's own admission sees the label only after a moment.
        wait_for("a managed namespace's pod to be taken over", is_ours)
        self.sized(self.pod("ours"))

    # Amounts that the author of a pod has left out.

    def test_a_small_data_set_starves_no_process(self):
        self.add_profile(datasetSize="8Gi", storageBandwidth="2Gi", bytesPerSample="100k",
                         points=[{"cpu": "1", "throughput": 10}, {"cpu": "2", "throughput": 20}])
        item = self.created(pod("train", labels={"synergy.io/profile": "image"}))
        self.sized(item, cpu=2)
        self.assertNotIn("memory", self.resources(item)["limits"])

    def test_the_floor_holds_the_process_memory(self):
        self.add_profile(processMemory="100G", points=[{"cpu": "2", "memory": "120G", "throughput": 1}])
        labels = {"synergy.io/profile": "image"}
        # The profile may already give the pod its demand.
        floor = json.loads(self.annotation(self.created(pod("shared", labels=labels)), "floor"))
        self.assertEqual(number(floor["memory"]), 110e9)
        item = self.created(pod("strict", labels={**labels, "synergy.io/enforcement": "strict"}))
        self.assertEqual(self.resources(item)["limits"]["memory"], self.resources(item)["requests"]["memory"])

    def test_eight_pods_with_sidecars_and_a_later_daemon_fit_a_node(self):
        names = [f"train-{i}" for i in range(8)]
        self.cluster.create(*(pod(name, sidecar={"cpu": "100m", "memory": "1Gi"}, **on(NODES[0])) for name in names))
        self.bound(*names)
        self.sized(self.pod(names[0]), FAIR_CPU - 0.1, FAIR_MEMORY - 2 ** 30)
        self.created(plain("daemon", "100m", "128Mi", **on(NODES[0])))
        self.bound("daemon")

    def test_the_gpus_of_others_are_not_shared_out(self):
        theirs = {"requests": {"cpu": "3500m", "memory": "100G"}, "limits": {GPU: "4"}}
        for node in NODES:
            self.created(pod(f"theirs-{node}", theirs, schedulerName="default-scheduler", **on(node)))
        self.bound(*(f"theirs-{node}" for node in NODES))
        wait_for("the share of what they leave", lambda: self.resources(self.again("ours"))["requests"]["cpu"] == "5")
        self.sized(self.pod("ours"), 5, (400e9 - 2 ** 30) / 4)
        self.cluster.clear()
        # The controller remembers a share for two seconds; pods of the next test must not get this
        # one.
        wait_for("the share of a whole node", lambda: self.resources(self.again("ours"))["requests"]["cpu"] != "5")

    def again(self, name):
        self.cluster.kubectl("delete", "pod", name, "--ignore-not-found", "--force", "--grace-period=0")
        return self.created(pod(name))

    def test_slices_of_gpus_have_their_part_of_the_node_and_no_more_than_it_has(self):
        # Two GPUs, each offered as halves.
        model = self.cluster.get("node", NODES[0])
        node = {"apiVersion": "v1", "kind": "Node", "status": copy.deepcopy(model["status"]), "metadata": {
            "name": "shared", "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": {**model["metadata"]["labels"], "kubernetes.io/hostname": "shared",
                       "nvidia.com/gpu.replicas": "2"}}}
        for amounts in ("capacity", "allocatable"):
            del node["status"][amounts][GPU]
            node["status"][amounts][SLICES] = "4"

        def part(of):
            return {"cpu": of * (24 - 0.5) / 4, "memory": of * (500e9 - 2 ** 30) / 4}

        early = self.created(pod("early", {"limits": {SLICES: "1"}}))
        self.assertIn(f"no node that the pod may run on has 1 slices or turns of {GPU}",
                      self.annotation(early, "placeholder"))
        self.created(node)
        self.addCleanup(self.cluster.delete, "nodes", "shared", wait=True)
        self.addCleanup(self.cluster.clear)
        self.bound("early")
        self.sized(self.pod("early"), **part(1))
        self.sized(self.created(pod("two", {"limits": {SLICES: "2"}})), **part(2))
        self.sized(self.created(pod("last", {"limits": {SLICES: "1"}})), **part(1))
        self.sized(self.created(pod("whole")))
        self.bound("two", "last", "whole")
        bound = self.cluster.bound()
        self.assertEqual({bound[name] for name in ("early", "two", "last")}, {"shared"})
        self.assertIn(bound["whole"], NODES)
        self.sized(self.created(pod("late", {"limits": {SLICES: "1"}})), **part(1))
        wait_for("no slice to be free", lambda: any(
            f"Insufficient {SLICES}" in condition.get("message", "")
            for condition in self.pod("late")["status"].get("conditions", [])))
        self.cluster.delete("pods", "early")
        self.bound("late")
        for name, slices in (("late", 1), ("two", 2)):
            self.sized(self.pod(name), **part(slices))
            self.assertEqual(json.loads(self.annotation(self.pod(name), "change"))["kind"], "Allocated")

    # Sizes that the controller changes later.

    def test_a_pod_for_which_there_is_no_node_yet_is_sized_when_there_is_one(self):
        item = self.created(pod("early", nodeSelector={"pool": "new"}))
        self.assertIn("no node that the pod may run on has 1", self.annotation(item, "placeholder"))
        self.assertEqual(self.resources(item)["requests"], {"cpu": "3", "memory": "10Gi", GPU: "1"})
        self.assertEqual(item["status"]["qosClass"], "Burstable")
        wait_for("the autoscalers' sign", lambda: any(
            condition["type"] == "PodScheduled" and condition.get("reason") == "Unschedulable"
            for condition in self.pod("early")["status"].get("conditions", [])))
        self.cluster.kubectl("label", "node", NODES[0], "pool=new")
        self.addCleanup(self.cluster.kubectl, "label", "node", NODES[0], "pool-")
        self.bound("early")
        item = self.pod("early")
        self.assertIsNone(self.annotation(item, "placeholder"))
        self.sized(item)
        wait_for("word of it", lambda: any("from now on" in text for text in self.cluster.events("early")))

    @tiers.long
    def test_karpenter_chooses_a_machine_that_has_what_pods_need(self):
        self.chosen_by_karpenter()  # builds the program, which takes longer than requests stay large
        self.add_profile("large", points=[{"cpu": "1", "memory": "1G", "throughput": 1},
                                          {"cpu": "9", "memory": "1G", "throughput": 3}])
        self.add_profile("excessive", 2, points=[{"cpu": "1", "memory": "1G", "throughput": 1},
                                                 {"cpu": "200", "memory": "1G", "throughput": 3}])
        pools = {"nodeSelector": {"pool": "new"}}
        self.created(pod("by-setting", **pools))
        self.created(pod("by-profile", labels={"synergy.io/profile": "large"}, **pools))
        self.created(pod("by-nothing", labels={"synergy.io/profile": "excessive"}, **pools))
        # These are the requests without Synergy, and those that earlier versions with small
        # placeholders wrote.
        self.created(pod("tiny", {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {GPU: "1"}}, **pools))
        choice = wait_for("Karpenter to choose", lambda: self.chosen_by_karpenter() if all(
            any(condition.get("reason") == "Unschedulable" for condition in item["status"].get("conditions", []))
            for item in self.cluster.pods().values()) else None)
        self.assertEqual(choice["by-setting"][0], "gpus-1-cpus-4")
        self.assertEqual(choice["by-profile"][0], "gpus-1-cpus-16")
        self.assertEqual(choice["tiny"][0], "gpus-1-cpus-2")
        self.assertEqual(choice["by-nothing"], ["-"])
        wait_for("the requests to shrink", lambda: self.chosen_by_karpenter()["by-nothing"] != ["-"])
        self.assertEqual(self.resources(self.pod("by-nothing"))["requests"]["cpu"], "3")

    def chosen_by_karpenter(self):
        """Returns pod name -> the instance types that Karpenter's scheduler would choose for the
        pod alone, cheapest first."""
        folder = pathlib.Path(__file__).parents[2] / "autoscaler"
        program = pathlib.Path(os.environ["SYNERGY_TEST_STATE"]) / "karpenter"
        subprocess.run(["go", "build", "-o", program, "."], cwd=folder, check=True)
        choices = {}
        for name, item in self.cluster.pods().items():
            line = subprocess.run([program, folder / "instance_types.json"], input=json.dumps({"items": [item]}),
                                  text=True, check=True, stdout=subprocess.PIPE).stdout.split()
            self.assertEqual(line[0], name)
            choices[name] = line[1:]
        return choices

    def test_a_profile_that_comes_while_a_pod_waits_counts(self):
        # No node has room until one of the large pods is deleted.
        labels = {"synergy.io/profile": "image"}
        large = {"requests": {"cpu": "1", "memory": "1G"}, "limits": {GPU: "8"}}
        for node in NODES:
            self.created(pod(f"large-{node}", large, **on(node)))
        self.bound(*(f"large-{node}" for node in NODES))
        self.created(pod("early", {"requests": {"memory": "20G", "cpu": "2"}, "limits": {GPU: "1"}}, labels=labels))
        self.add_profile(points=[{"cpu": "1", "memory": "1G", "throughput": 1}])
        wait_for("the pod to be sized by it", lambda: self.annotation(self.pod("early"), "profile") == "image")
        self.cluster.kubectl("delete", "pod", f"large-{NODES[0]}", "--force", "--grace-period=0")
        self.bound("early")
        item = self.pod("early")
        self.assertEqual(self.annotation(item, "profile"), "image")
        self.sized(item, 1, 20e9)

    def test_warnings_for_a_jobs_owner_are_an_event_and_explained(self):
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}, "spec": {"template": {
            "metadata": {"labels": {"synergy.io/profile": "nowhere"}}, "spec": pod("x")["spec"]}}}
        self.cluster.create(job)
        name = wait_for("the job's pod", lambda: list(self.cluster.pods()))[0]
        message = 'there is no TrainingProfile "nowhere" in the namespace'
        wait_for("an event", lambda: any(message in text for text in self.cluster.events(name)))
        program = pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy"
        text = subprocess.run([str(program), "explain", f"pod/{name}"], env=self.cluster.environment, check=True,
                              text=True, capture_output=True).stdout
        self.assertIn(message, text)

    def test_a_pod_that_kueue_manages_by_itself_is_never_resized(self):
        self.add_profile(processMemory="1G", points=[{"cpu": "1", "memory": "1G", "throughput": 1},
                                                     {"cpu": "9", "memory": "1G", "throughput": 9}])
        labels = {"synergy.io/profile": "image", "kueue.x-k8s.io/managed": "true"}
        before = self.resources(self.created(pod("kueues", labels=labels)))
        self.created(pod("ours", labels={"synergy.io/profile": "image"}))
        self.bound("kueues", "ours")
        self.assertEqual(self.resources(self.pod("kueues")), before)
        self.assertEqual(number(self.resources(self.pod("ours"))["requests"]["cpu"]), 9)
        self.assertEqual(json.loads(self.annotation(self.pod("kueues"), "demand"))["cpu"], "9")


if __name__ == "__main__":
    failures.main()
