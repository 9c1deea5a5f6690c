"""Synergy beside Kueue: single Pods that Kueue manages keep what they were created with, since Kueue deletes them when
their containers change; pods of Jobs that it manages are like all others. On simulated nodes."""

import json
import os
import pathlib
import time
import unittest

import fungible
from cluster import GPU, Extender, own_cluster, wait_for
from fungible import INSENSITIVE, SENSITIVE

INSTANCE = int(os.environ.get("SYNERGY_TEST_INSTANCE", "10"))
QUEUE = "kueue.x-k8s.io/queue-name"
MANAGED = "kueue.x-k8s.io/managed"
ENOUGH = {"cpu": "1000", "memory": "1000Ti", GPU: "1000"}
SHARE = "3"  # CPU of a node for each of its GPUs
WATCHED = 30  # seconds


def kueue(kind, name, **spec):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": name}, "spec": spec}


def queue():
    """A queue that has enough of everything, and what it takes to have one."""
    flavor = {"name": "any", "resources": [{"name": name, "nominalQuota": quota} for name, quota in ENOUGH.items()]}
    groups = [{"coveredResources": list(ENOUGH), "flavors": [flavor]}]
    local = kueue("LocalQueue", "queue", clusterQueue="all")
    local["metadata"]["namespace"] = "default"
    return [kueue("ResourceFlavor", "any"), kueue("ClusterQueue", "all", namespaceSelector={}, resourceGroups=groups), local]


def queued(item):
    item["metadata"]["labels"][QUEUE] = "queue"
    return item


def filler(cpu):
    """A pod that keeps what it asks for, so that the others have no room for more. Nor has it a say in their fair share."""
    item = fungible.pod("filler", "")
    item["spec"]["containers"][0]["resources"]["requests"] = {"cpu": cpu}
    return item


def cpu(item):
    return item["spec"]["containers"][0]["resources"]["requests"]["cpu"]


class KueueTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(os.environ["SYNERGY_TEST_STATE"]) / "kueue"
        cls.cluster = cls.enterClassContext(own_cluster(
            folder, INSTANCE, "--real-nodes", "0", "--simulated-nodes", "1", "--controller", os.environ["SYNERGY_BIN"], "--kueue"))
        cls.cluster.create(*queue(), SENSITIVE)
        wait_for("the profile to be judged", lambda: cls.cluster.get("tp", "sensitive").get("status", {}).get("demand"))
        cls.extender = Extender(cls.cluster)
        cls.extender.start()
        cls.addClassCleanup(cls.extender.log.close)
        cls.addClassCleanup(cls.extender.end)

    def setUp(self):
        self.addCleanup(self.cluster.clear)

    def pod(self, name):
        return self.cluster.get("pod", name)

    def running(self, *names):
        def all_run():
            pods = self.cluster.pods()
            self.assertLessEqual(set(names), set(pods), "somebody has deleted one")
            return all(pods[name]["status"].get("phase") == "Running" for name in names) and pods

        return wait_for(f"{', '.join(names)} to run", all_run)

    def let_go_of(self, name):
        self.cluster.kubectl("delete", "pod", name, "--force", "--grace-period=0")

    def has(self, name, amount):
        wait_for(f"{name} to have {amount} CPU", lambda: cpu(self.pod(name)) == amount)

    def counted(self, item):
        """What Kueue has admitted the pod or Job for."""
        workload = next(entry for entry in self.cluster.get("workloads")["items"]
                        if entry["metadata"]["ownerReferences"][0]["uid"] == item["metadata"]["uid"])
        self.assertIn(("Admitted", "True"), [(entry["type"], entry["status"]) for entry in workload["status"]["conditions"]])
        return workload["status"]["admission"]["podSetAssignments"][0]["resourceUsage"]

    def test_a_single_pod_keeps_what_it_was_created_with_while_its_neighbour_grows(self):
        self.cluster.create(queued(fungible.pod("kueues", "sensitive")))
        # On a node with room for its demand.
        item = self.running("kueues")["kueues"]
        self.assertEqual((item["metadata"]["labels"][MANAGED], item["spec"]["schedulerName"]), ("true", "synergy-scheduler"))
        self.assertEqual(json.loads(item["metadata"]["annotations"]["synergy.io/demand"])["cpu"], "9")
        self.assertEqual(cpu(item), SHARE)
        self.assertEqual(self.counted(item)["cpu"], SHARE)
        # The neighbour is bound with no more, and grows when there is room.
        self.cluster.create(filler("18"))
        self.running("filler")
        self.cluster.create(fungible.pod("ours", "sensitive"))
        self.assertEqual(cpu(self.running("ours")["ours"]), SHARE)
        self.let_go_of("filler")
        self.has("ours", "9")
        time.sleep(WATCHED)
        after = self.pod("kueues")
        self.assertEqual((after["metadata"]["uid"], cpu(after), after["metadata"].get("deletionTimestamp")), (item["metadata"]["uid"], SHARE, None))
        # What it is spared.
        self.cluster.kubectl("patch", "pod", "kueues", "--subresource", "resize", "--patch",
                             json.dumps({"spec": {"containers": [{"name": "train", "resources": {"requests": {"cpu": "4"}}}]}}))
        wait_for("Kueue to delete it", lambda: "kueues" not in self.cluster.pods())
        self.assertIn("No matching Workload", " ".join(self.cluster.events("kueues")))

    def test_a_profile_that_comes_while_a_single_pod_waits_changes_nothing(self):
        self.cluster.create(filler("22"))
        self.running("filler")
        self.cluster.create(queued(fungible.pod("kueues", "insensitive")))
        wait_for("Kueue to let it go", lambda: not self.pod("kueues")["spec"].get("schedulingGates"))
        self.cluster.create(fungible.pod("ours", "insensitive"), INSENSITIVE)
        self.assertEqual(cpu(self.running("ours")["kueues"]), SHARE)
        self.let_go_of("filler")
        item = self.running("kueues")["kueues"]
        self.assertEqual(cpu(item), SHARE)
        self.assertEqual(self.counted(item)["cpu"], SHARE)

    def test_pods_of_a_job_that_kueue_manages_are_like_all_others(self):
        template = fungible.pod("x", "sensitive")
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train", "labels": {QUEUE: "queue"}},
               "spec": {"template": {"metadata": {"labels": template["metadata"]["labels"]}, "spec": template["spec"]}}}
        self.cluster.create(filler("21"))
        self.running("filler")
        self.cluster.create(job)
        self.addCleanup(self.cluster.kubectl, "delete", "job", "train")
        name = wait_for("the job's pod", lambda: set(self.cluster.pods()) - {"filler"}).pop()
        item = self.running(name)[name]
        self.assertNotIn(MANAGED, item["metadata"]["labels"])
        self.assertEqual(cpu(item), SHARE)
        self.let_go_of("filler")
        self.has(name, "9")
        time.sleep(5)
        self.assertEqual(self.pod(name)["metadata"]["uid"], item["metadata"]["uid"])
        job = self.cluster.get("job", "train")
        self.assertFalse(job["spec"]["suspend"])
        self.assertEqual(self.counted(job), {GPU: "1"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
