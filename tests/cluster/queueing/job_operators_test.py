"""KubeRay, MPI operator and LeaderWorkerSet beside Synergy: which of the pods that they make are a
gang, and that a gang is placed whole or not at all. What Synergy reads of the pods is compared with
tests/data/operators; with SYNERGY_UPDATE=1 the test writes these files. On simulated nodes, with
no program in the pods."""

import json
import os
import pathlib

import failures
import races
from cluster import GPU, ROOT, Extender, own_cluster, wait_for
from races import LONG, SIZE

INSTANCE = int(os.environ.get("SYNERGY_TEST_INSTANCE", "12"))
RECORDS = ROOT / "tests/data/operators"
TEAM = "team"  # the namespace of the records
HERE = {"kubernetes.io/hostname": "v100-1"}  # 8 GPUs
IMAGE = "registry.example.com/train:1"
# The scheduler and the label make a LeaderWorkerSet's pods ask for Synergy.
SCHEDULER = "synergy-scheduler"
READ = ("schedulerName", "hostname", "subdomain", "restartPolicy")  # of a pod's spec


def template(name, gpus):
    container = {"name": name, "image": IMAGE, "resources": {"limits": {GPU: str(gpus)}} if gpus else {}}
    return {"metadata": {}, "spec": {"schedulerName": SCHEDULER, "nodeSelector": HERE, "containers": [container],
                                     "terminationGracePeriodSeconds": 0}}


def ray_spec(gpus, head_gpus=0, **group):
    return {"rayVersion": "2.46.0",
            "headGroupSpec": {"rayStartParams": {}, "template": template("ray-head", head_gpus)},
            "workerGroupSpecs": [{"groupName": "gpu", "replicas": 2, "minReplicas": 0, "maxReplicas": 8,
                                  "rayStartParams": {}, "template": template("ray-worker", gpus), **group}]}


def ray_cluster(name, gpus, **group):
    return {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": name},
            "spec": ray_spec(gpus, **group)}


def ray_job(name, gpus):
    return {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": name},
            "spec": {"entrypoint": "python train.py", "rayClusterSpec": ray_spec(gpus)}}


def mpi_job(name, gpus, launcher_gpus=0, **spec):
    replicas = {"Launcher": {"replicas": 1, "template": template("mpi-launcher", launcher_gpus)},
                "Worker": {"replicas": 2, "template": template("mpi-worker", gpus)}}
    return {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": name},
            "spec": {"mpiReplicaSpecs": replicas, **spec}}


def leader_worker_set(name, gpus, policy):
    return {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": {"name": name},
            "spec": {"replicas": 1, "startupPolicy": policy,
                     "leaderWorkerTemplate": {"size": 3, "workerTemplate": template("serve", gpus)}}}


def size_of(item):
    return item["metadata"].get("labels", {}).get(SIZE)


def is_written_by_us(key):
    return key.startswith("synergy.io/")


def amounts(resources):
    """Returns the amounts that an operator wrote: of a container with GPUs, Synergy writes CPU and
    memory."""
    ours = ("cpu", "memory") if GPU in resources.get("limits", {}) else ()
    kept = {kind: {name: amount for name, amount in resources.get(kind, {}).items() if name not in ours}
            for kind in ("limits", "requests")}
    return {kind: found for kind, found in kept.items() if found}


def without_identity(key, value):
    """Returns the value of a label, without what differs from run to run."""
    if key.endswith("controller-uid"):
        return "7"
    return "gpu-abcde" if key == "ray.io/worker-group-replica-name" else value


def record_of(item):
    """Returns the pod as the webhook sees it, as far as it is read."""
    meta, spec = item["metadata"], item["spec"]
    name = "generateName" if "generateName" in meta else "name"
    texts = {kind: {key: without_identity(key, value) for key, value in sorted(meta.get(kind, {}).items())
                    if not is_written_by_us(key)} for kind in ("labels", "annotations")}
    owners = [{**owner, "uid": "7"} for owner in meta["ownerReferences"]]
    containers = {kind: [{**{key: each[key] for key in ("name", "image", "command", "args") if key in each},
                          "resources": amounts(each["resources"])} for each in spec[kind]]
                  for kind in ("containers", "initContainers") if kind in spec}
    for each in containers.get("initContainers", []):
        each.pop("args", None)
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {name: meta[name], "namespace": TEAM, **{kind: found for kind, found in texts.items() if found},
                         "ownerReferences": owners},
            "spec": {**{key: spec[key] for key in READ if key in spec}, **containers}}


def order(item):
    labels = item["metadata"].get("labels", {})
    return (labels.get("ray.io/node-type", ""), labels.get("ray.io/worker-group-replica-index", ""),
            labels.get("ray.io/replica-host-index", ""), item["metadata"]["name"])


class JobOperatorsTest(races.RaceTest):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(os.environ["SYNERGY_TEST_STATE"]) / "job-operators"
        cls.cluster = cls.enterClassContext(own_cluster(
            folder, INSTANCE, "--real-nodes", "0", "--simulated-nodes", "2", "--controller", os.environ["SYNERGY_BIN"],
            "--job-operators"))
        cls.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM}})
        extender = Extender(cls.cluster)
        cls.addClassCleanup(extender.log.close)
        cls.addClassCleanup(extender.end)
        extender.start()

    def create(self, *items):
        for item in items:
            self.addCleanup(self.remove, item)
        return self.cluster.create(*items)

    def remove(self, item):
        """Deletes the object and waits until its pods are gone: they have the next one's GPUs."""
        namespace = item["metadata"].get("namespace", "default")
        self.cluster.delete(item["kind"].lower(), item["metadata"]["name"], namespace=namespace)
        wait_for("the pods to be gone", lambda: not self.cluster.get("pods", namespace=namespace)["items"], LONG)

    def recorded(self, name, source, sizes):
        """Checks that the object of a record gets the record's pods, of gangs of these sizes."""
        file = RECORDS / f"{name}.json"
        record = json.loads(file.read_text(encoding="utf-8"))
        item = record["object"]
        item["metadata"].pop("uid")
        self.create(item)
        found = wait_for(f"{len(sizes)} pods with a node", lambda: len(
            pods := self.cluster.get("pods", namespace=TEAM)["items"]) == len(sizes) and all(
                each["spec"].get("nodeName") for each in pods) and sorted(pods, key=order), LONG)
        self.assertEqual([size_of(each) for each in found], sizes)
        made = [record_of(each) for each in found]
        if os.environ.get("SYNERGY_UPDATE"):
            lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in made)
            item["metadata"]["uid"] = "7"
            written = json.dumps(item, separators=(",", ":"))
            file.write_text(f'{{"source":"{source}",\n"object":{written},\n"pods":[\n{lines}]}}\n', encoding="utf-8")
        else:
            self.assertEqual(made, record["pods"])

    def test_the_pods_of_kuberay_are_as_recorded(self):
        for name, sizes in (("raycluster", [None, "2", "2"]), ("raycluster_hosts", [None, "2", "2"]),
                            ("raycluster_autoscaling", [None, "2", "2", None])):
            with self.subTest(name):
                self.recorded(name, "KubeRay 1.6.2", sizes)
            self.doCleanups()

    def test_the_pods_of_mpi_operator_are_as_recorded(self):
        # With WaitForWorkersReady the launcher has no place in the gang: it comes later.
        for name, sizes in (("mpijob", [None, "2", "2"]), ("mpijob_launcher_worker", ["3", "3", "3"]),
                            ("mpijob_launcher_waits", [None, "2", "2"])):
            with self.subTest(name):
                self.recorded(name, "MPI operator 0.8.2", sizes)
            self.doCleanups()

    def test_the_pods_of_leaderworkerset_are_as_recorded(self):
        for name, sizes in (("leaderworkerset", ["3", "3", "3"]), ("leaderworkerset_ready", [None, None, None])):
            with self.subTest(name):
                self.recorded(name, "LeaderWorkerSet 0.9.0", sizes)
            self.doCleanups()

    def of_no_gang(self, part):
        """Returns the pods whose name has that part; none is of a gang, and all have a node."""
        found = [item for name, item in self.cluster.pods().items() if part in name]
        self.assertEqual({size_of(item) for item in found}, {None})
        return [item for item in found if item["spec"].get("nodeName")]

    def test_one_of_two_rayclusters_runs_whole_and_heads_are_no_members(self):
        self.race("raycluster", 2, ray_cluster("one", 3), ray_cluster("two", 3))
        self.assertEqual(len(self.of_no_gang("-head-")), 1)

    def test_the_hosts_of_a_replica_are_of_one_gang(self):
        hosts = {"replicas": 1, "numOfHosts": 2}
        self.race("raycluster", 2, ray_cluster("one", 3, **hosts), ray_cluster("two", 3, **hosts))

    def test_one_of_two_rayjobs_runs_whole_and_then_its_submitter_comes(self):
        self.race("rayjob", 2, ray_job("one", 3), ray_job("two", 3))
        wait_for("the submitter to have a node", lambda: [
            item for item in self.cluster.get("pods", labelSelector="batch.kubernetes.io/job-name")["items"]
            if item["spec"].get("nodeName") and not size_of(item)], LONG)

    def test_one_of_two_mpijobs_runs_whole(self):
        self.race("mpijob", 2, mpi_job("one", 3), mpi_job("two", 3))

    def test_a_launcher_that_trains_from_the_start_is_a_member(self):
        together = {"launcher_gpus": 2, "runLauncherAsWorker": True, "launcherCreationPolicy": "AtStartup"}
        self.race("mpijob", 3, mpi_job("one", 2, **together), mpi_job("two", 2, **together))

    def test_one_of_two_leaderworkersets_runs_whole(self):
        self.race("leaderworkerset", 3, leader_worker_set("one", 2, "LeaderCreated"),
                  leader_worker_set("two", 2, "LeaderCreated"))


if __name__ == "__main__":
    failures.main()
