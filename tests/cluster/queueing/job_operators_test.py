"""KubeRay, MPI operator and LeaderWorkerSet beside Synergy: which of their pods are a gang, and
that a gang is placed whole or not at all. The test compares what Synergy reads of the pods with
tests/data/operators, or writes these files if SYNERGY_UPDATE=1. The nodes are simulated, and no
program runs in the pods."""

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
SERVING = "serving"  # a managed namespace whose pods request nothing themselves
NAMESPACES = ("default", TEAM, SERVING)  # the last two are managed
HERE = {"kubernetes.io/hostname": "v100-1"}  # 8 GPUs
IMAGE = "registry.example.com/train:1"
# By the scheduler and the label, a LeaderWorkerSet's pods request management by Synergy.
SCHEDULER = "synergy-scheduler"
INDICES = ("ray.io/worker-group-replica-index", "training.kubeflow.org/replica-index",
           "leaderworkerset.sigs.k8s.io/worker-index")
READ = ("schedulerName", "hostname", "subdomain", "restartPolicy")  # fields of a pod's spec


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


def uid_of(item):
    return item["metadata"]["uid"]


def index_of(item):
    """Returns the pod's number among the members, by its operator's label."""
    labels = item["metadata"]["labels"]
    return next((labels[key] for key in INDICES if key in labels), None)


def is_written_by_us(key):
    return key.startswith("synergy.io/")


def amounts(resources):
    """Returns the amounts that an operator wrote, without CPU and memory of a container with GPUs,
    which Synergy writes."""
    ours = ("cpu", "memory") if GPU in resources.get("limits", {}) else ()
    kept = {kind: {name: amount for name, amount in resources.get(kind, {}).items() if name not in ours}
            for kind in ("limits", "requests")}
    return {kind: found for kind, found in kept.items() if found}


def without_identity(key, value):
    """Returns the value of a label, with the parts replaced that differ from run to run."""
    if key.endswith("controller-uid"):
        return "7"
    return "gpu-abcde" if key == "ray.io/worker-group-replica-name" else value


def record_of(item):
    """Returns what Synergy reads of the pod, as the webhook sees it."""
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
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(os.environ["SYNERGY_TEST_STATE"]) / "job-operators"
        cls.cluster = cls.enterClassContext(own_cluster(
            folder, INSTANCE, "--real-nodes", "0", "--simulated-nodes", "2", "--controller", os.environ["SYNERGY_BIN"],
            "--shipped-settings", "--job-operators"))
        labels = {"synergy.io/managed": "true"}
        cls.cluster.create(*({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
                             for name in NAMESPACES[1:]))
        extender = Extender(cls.cluster, shipped=True)
        cls.addClassCleanup(extender.log.close)
        cls.addClassCleanup(extender.end)
        extender.start()

    def setUp(self):
        self.made = []
        self.addCleanup(self.remove)

    def create(self, *items):
        self.made += items
        self.cluster.create(*items)

    def remove(self):
        """Deletes what was created, and waits until no pods are left, because they occupy GPUs that
        the next ones need."""
        for item in self.made:
            meta = item["metadata"]
            self.cluster.delete(item["kind"].lower(), meta["name"], namespace=meta.get("namespace", "default"))
        self.made.clear()
        wait_for("the pods to be gone", lambda: not any(self.cluster.get("pods", namespace=name)["items"]
                                                        for name in NAMESPACES), LONG)

    def recorded(self, name, source, sizes):
        """Checks that the object of a record gets the pods in the record, and that these are in
        gangs of these sizes."""
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
            self.remove()

    def test_the_pods_of_mpi_operator_are_as_recorded(self):
        # With WaitForWorkersReady the launcher is not a member of the gang, because it starts
        # later.
        for name, sizes in (("mpijob", [None, "2", "2"]), ("mpijob_launcher_worker", ["3", "3", "3"]),
                            ("mpijob_launcher_waits", [None, "2", "2"])):
            with self.subTest(name):
                self.recorded(name, "MPI operator 0.8.2", sizes)
            self.remove()

    def test_the_pods_of_leaderworkerset_are_as_recorded(self):
        for name, sizes in (("leaderworkerset", ["3", "3", "3"]), ("leaderworkerset_ready", [None, None, None])):
            with self.subTest(name):
                self.recorded(name, "LeaderWorkerSet 0.9.0", sizes)
            self.remove()

    def whole(self, name, size, but=()):
        """Waits until `size` members of the job are bound, none of which has one of these UIDs;
        returns them."""
        def found():
            members = [item for item in self.members(name)[0].values()
                       if size_of(item) == str(size) and item["spec"].get("nodeName")]
            return len(members) == size and not {uid_of(each) for each in members} & set(but) and members
        return wait_for(f"{name} to be whole", found, LONG)

    def lose(self, members, index):
        """Deletes the member with that index; returns it."""
        lost = next(item for item in members if index_of(item) == str(index))
        self.cluster.delete("pod", lost["metadata"]["name"])
        return lost

    def replaced(self, name, size):
        """Checks that the job's member with index 0 is replaced by one with that index, on the same
        node, and that the others stay."""
        before = self.whole(name, size)
        lost = self.lose(before, 0)
        after = self.whole(name, size, [uid_of(lost)])
        new = next(item for item in after if index_of(item) == "0")
        self.assertEqual(new["spec"]["nodeName"], lost["spec"]["nodeName"])
        self.assertEqual({uid_of(each) for each in before} - {uid_of(lost)},
                         {uid_of(each) for each in after} - {uid_of(new)})

    def of_no_gang(self, part):
        """Returns the bound pods with that part in their name; checks that none is in a gang."""
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

    def autoscaled(self, name):
        """Creates a RayCluster of two workers, to which Ray's autoscaler can add up to six, and
        waits until it is whole; returns it."""
        item = ray_cluster(name, 1, minReplicas=2)
        item["spec"]["enableInTreeAutoscaling"] = True
        self.create(item)
        self.whole(name, 2)
        return item

    def scale(self, item, indices, without=()):
        """Sets the group's number of workers and names those to remove, as Ray's autoscaler does.
        Waits until there are workers with exactly these indices, all of them bound."""
        name, groups = item["metadata"]["name"], item["spec"]["workerGroupSpecs"]
        here = self.members(name)[0].values()
        groups[0] |= {"replicas": len(indices), "scaleStrategy": {
            "workersToDelete": [each["metadata"]["name"] for each in here if index_of(each) in without]}}
        self.cluster.patch("raycluster", name, {"spec": {"workerGroupSpecs": groups}})
        wait_for(f"the workers {indices}", lambda: sorted(
            index_of(each) for each in self.members(name)[0].values() if each["spec"].get("nodeName")) == indices, LONG)

    def test_a_lost_worker_of_ray_is_replaced_in_its_gang_and_what_the_autoscaler_adds_is_on_its_own(self):
        self.scale(self.autoscaled("tune"), ["0", "1", "2"])
        self.assertEqual({index_of(each): size_of(each) for each in self.members("tune")[0].values()},
                         {"0": "2", "1": "2", "2": None})
        self.replaced("tune", 2)

    def test_no_worker_of_ray_waits_for_those_that_the_autoscaler_took_away(self):
        item = self.autoscaled("tune")
        self.scale(item, ["0", "1", "2"])
        self.scale(item, ["1", "2"], without=["0"])
        # The last member's replacement gets the lowest free index.
        self.lose(self.members("tune")[0].values(), 1)
        self.scale(item, ["0", "2"])
        self.scale(item, ["0", "1", "2", "3"])
        self.scale(item, ["2", "3"], without=["0", "1"])
        self.scale(item, ["0", "2", "3"])

    def test_a_lost_worker_of_mpi_is_replaced_in_its_gang(self):
        self.create(mpi_job("bert", 3))
        self.replaced("bert", 2)

    def test_a_group_of_a_leaderworkerset_that_loses_a_pod_is_made_anew_as_a_gang(self):
        self.create(leader_worker_set("llm", 2, "LeaderCreated"))
        before = self.whole("llm", 3)
        self.lose(before, 1)
        self.whole("llm", 3, [uid_of(each) for each in before])

    def test_each_group_of_a_leaderworkerset_is_a_gang(self):
        item = leader_worker_set("llm", 1, "LeaderCreated")
        item["spec"]["replicas"] = 2
        self.create(item)
        wait_for("both groups", lambda: self.bound("llm") == 6, LONG)
        self.assertEqual({size_of(each) for each in self.members("llm")[0].values()}, {"3"})

    def test_a_leaderworkerset_whose_groups_want_nodes_of_their_own_is_no_gang(self):
        # The workers are created only when the leader has a node, so as a gang it would wait
        # forever.
        item = leader_worker_set("llm", 2, "LeaderCreated")
        item["metadata"]["annotations"] = {"leaderworkerset.sigs.k8s.io/exclusive-topology": "kubernetes.io/hostname"}
        self.create(item)
        wait_for("it to run", lambda: self.bound("llm") == 3, LONG)
        self.assertEqual({size_of(each) for each in self.members("llm")[0].values()}, {None})
        wait_for("the event", lambda: any("only when its leader has a node" in text
                                          for text in self.cluster.events("llm-0")))

    def test_a_leaderworkerset_of_the_same_name_is_asked_anew(self):
        for policy, size in (("LeaderCreated", "3"), ("LeaderReady", None), ("LeaderCreated", "3")):
            self.create(leader_worker_set("llm", 2, policy))
            wait_for("it to run", lambda: self.bound("llm") == 3, LONG)
            self.assertEqual({size_of(each) for each in self.members("llm")[0].values()}, {size}, policy)
            self.remove()

    def test_a_leaderworkerset_that_does_not_ask_for_synergy_is_left_as_it_is_written(self):
        item = leader_worker_set("llm", 2, "LeaderCreated")
        item["metadata"]["namespace"] = SERVING
        del item["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["schedulerName"]
        self.create(item)
        pods = wait_for("it to run", lambda: len(
            found := self.cluster.get("pods", namespace=SERVING)["items"]) == 3 and all(
                each["spec"].get("nodeName") for each in found) and found, LONG)
        for each in pods:
            self.assertEqual(each["spec"]["schedulerName"], "default-scheduler")
            self.assertEqual(each["spec"]["containers"][0]["resources"],
                             {kind: {GPU: "2"} for kind in ("limits", "requests")})
            self.assertFalse([key for key in each["metadata"]["labels"] if is_written_by_us(key)])


if __name__ == "__main__":
    failures.main()
