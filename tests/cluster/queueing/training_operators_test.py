"""JobSet and Kubeflow Trainer beside Synergy and Kueue, with their own controllers and webhooks:
their jobs are gangs without a label, are suspended and resumed, and take turns with others.
PyTorchJobs and MPIJobs have no operator here; the test writes pods as their operators do. The nodes
are simulated, except a real one for a JobSet that writes checkpoints."""

import datetime
import json
import os
import pathlib
import re
import shlex
import shutil
import time

import elastic
import failures
import foreign_kinds
import fungible
import queues
import races
import tiers
import trainers
import turns
from cluster import GPU, Extender, own_cluster, pod, wait_for
from queues import QUEUE
from races import LONG, SIZE, is_member

INSTANCE = int(os.environ.get("SYNERGY_TEST_INSTANCE", "11"))
NODE = "v100-1"  # 8 GPUs
HERE = {"kubernetes.io/hostname": NODE}
CHECKPOINTS = {"synergy.io/checkpoint": "true"}
# Seconds in which Kueue wants pods to be ready, if a test configures that: enough for pods that wait
# for nothing to be ready, on a busy machine.
READY = 30
REAL_GPUS = 2


def template(gpus, **spec):
    item = pod("x", gpus, "1", "10G", nodeSelector=HERE, **spec)
    # Pods without GPUs do not use the extender; for the others the webhook sets the scheduler.
    del item["spec"]["schedulerName"]
    return {"metadata": {"annotations": CHECKPOINTS if gpus else {}}, "spec": item["spec"]}


def replicated(name, replicas, pods, gpus, **more):
    return {"name": name, "replicas": replicas,
            "template": {"spec": {"completions": pods, "parallelism": pods, "template": template(gpus)}}, **more}


def job_set(name, *jobs, queue=None, **spec):
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
            "metadata": {"name": name, "labels": {QUEUE: queue} if queue else {}},
            "spec": {"replicatedJobs": list(jobs), **spec}}


def train_job(name, nodes, gpus, queue=None, runtime="torch-distributed", jobs=("node",), labels=None):
    """Returns a TrainJob. Its image does not exist, which a simulated node does not notice. The
    pods of these replicated jobs get the labels."""
    return {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob",
            "metadata": {"name": name, "labels": {QUEUE: queue} if queue else {}},
            "spec": {"runtimeRef": {"name": runtime},
                     "trainer": {"numNodes": nodes,
                                 "resourcesPerNode": {"requests": {"cpu": "1"}, "limits": {GPU: str(gpus)}}},
                     "runtimePatches": [patch_of(jobs,
                                                 {"metadata": {"annotations": CHECKPOINTS, "labels": labels or {}},
                                                  "spec": {"nodeSelector": HERE}})]}}


def patch_of(jobs, template):
    """Returns a patch of the runtime that changes the pods of these replicated jobs."""
    patches = [{"name": job, "template": {"spec": {"template": template}}} for job in jobs]
    return {"manager": "synergy.test/tests", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": patches}}}}


def elastic_train_job(name, nodes, least=1, most=4):
    item = train_job(name, nodes, 1, queue="turns")
    item["metadata"]["annotations"] = {elastic.LEAST: str(least), elastic.MOST: str(most)}
    return item


class TrainingOperatorsTest(queues.QueueTest, races.RaceTest):
    gpus = REAL_GPUS
    objects = (queues.FLAVOR, *queues.of_turns("turns", 4), *queues.of_turns("real", REAL_GPUS),
               *queues.of_turns("ready", 8), turns.PROFILE, fungible.SENSITIVE, fungible.INSENSITIVE)
    kueue_settings = ""  # before a test added some

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(os.environ["SYNERGY_TEST_STATE"]) / "training-operators"
        cls.cluster = cls.enterClassContext(own_cluster(
            folder, INSTANCE, "--real-nodes", "1", "--simulated-nodes", "2", "--controller", os.environ["SYNERGY_BIN"],
            "--agents", "--kueue", "--training-operators"))
        trainers.load_image(cls.cluster)
        # The kinds are defined early: the garbage collector takes half a minute to find new kinds,
        # and does not delete the pods of their jobs before.
        cls.cluster.create(*foreign_kinds.definitions(foreign_kinds.OF_GANGS))
        cls.prepare()

    def running(self, *names):
        return [sum(pod["status"].get("phase") == "Running" for pod in members.values())
                for members in self.members(*names)]

    def test_one_of_two_jobsets_runs_whole_and_drivers_are_no_members(self):
        # The workers are created when the driver is ready: if it were a member of their gang, it
        # would wait for them.
        workers = {"replicas": 2, "pods": 3, "gpus": 1}
        self.race("jobset", 6,
                  job_set("one", replicated("driver", 1, 1, 0), replicated("workers", **workers),
                          startupPolicy={"startupPolicyOrder": "InOrder"}),
                  job_set("two", replicated("driver", 1, 1, 0),
                          replicated("workers", **workers, dependsOn=[{"name": "driver", "status": "Ready"}])))
        drivers = [item for name, item in self.cluster.pods().items() if "-driver-" in name]
        self.assertEqual({item["metadata"]["labels"].get(SIZE) for item in drivers}, {None})
        self.assertTrue(all(item["spec"].get("nodeName") for item in drivers))

    def test_a_driver_with_gpus_is_a_stage_of_its_own(self):
        self.create(job_set("staged", replicated("driver", 1, 1, 2), replicated("workers", 1, 3, 2),
                            startupPolicy={"startupPolicyOrder": "InOrder"}))
        self.assertEqual(self.one_alone(["staged-workers"], 3), "staged-workers")
        self.assertEqual({item["metadata"]["labels"].get(SIZE) for item in self.members("staged-driver")[0].values()},
                         {None})

    def test_a_jobset_that_starts_again_is_a_gang_again(self):
        workers = replicated("workers", 2, 3, 1)
        workers["template"]["spec"]["backoffLimit"] = 0
        self.create(job_set("again", workers, failurePolicy={"maxRestarts": 1}))
        self.one_alone(["again"], 6)
        first, = self.members("again")
        self.cluster.end_pod(min(first), "Failed")
        wait_for("all to be gone", lambda: not set(first) & set(*self.members("again")))
        self.one_alone(["again"], 6)

    def test_one_of_two_trainjobs_runs_whole(self):
        self.race("trainjob", 2, train_job("left", 2, 3), train_job("right", 2, 3))

    def test_a_launcher_that_trains_is_a_stage_of_its_own(self):
        # Kubeflow Trainer creates the launcher when the nodes are ready. A label that puts both
        # into one gang would make both wait for ever.
        together = {"synergy.io/gang": "together", SIZE: "3"}
        for name, labels, sizes in (("apart", {}, {"2"}), ("together", together, {"1"})):
            self.create(train_job(name, 3, 2, runtime="deepspeed-distributed", jobs=("launcher", "node"),
                                  labels=labels))
            wait_for(f"{name} to run", lambda: self.bound(name) == 3, LONG)
            members, = self.members(f"{name}-node")
            self.assertEqual({item["metadata"]["labels"].get(SIZE) for item in members.values()}, sizes)
            read = [item["metadata"]["annotations"].get("synergy.io/warnings", "") for item in members.values()]
            self.assertEqual(["only when other pods of it are ready" in text for text in read], [bool(labels)] * 2)
            self.cluster.delete("trainjob", name, wait=True)

    def owned(self, kind, version, specs, gpus, pods, **spec):
        """Returns a job of that kind, and its pods as its operator creates them. Each pod has a
        type, an index and its number of GPUs."""
        name = kind.lower()
        replicas = {each: {"replicas": count, "template": {"spec": template(gpus.get(each, 0))["spec"]}}
                    for each, count in pods.items()}
        self.create({"apiVersion": f"kubeflow.org/{version}", "kind": kind, "metadata": {"name": name},
                     "spec": {specs: replicas, **spec}})
        owner = self.cluster.get(kind, name)
        for each, count in pods.items():
            for index in range(count):
                item = {"apiVersion": "v1", "kind": "Pod", **template(gpus.get(each, 0))}
                item["metadata"] |= {
                    "name": f"{name}-{each.lower()}-{index}",
                    "labels": {"training.kubeflow.org/job-name": name,
                               "training.kubeflow.org/operator-name": f"{name}-controller",
                               "training.kubeflow.org/replica-type": each.lower(),
                               "training.kubeflow.org/replica-index": str(index)},
                    "ownerReferences": [{"apiVersion": owner["apiVersion"], "kind": kind, "name": name,
                                         "uid": owner["metadata"]["uid"],
                                         "controller": True, "blockOwnerDeletion": True}]}
                self.cluster.create(item)
        return name

    def test_pods_of_a_pytorchjob_and_of_an_mpijob_are_gangs(self):
        wait_for("the kinds to be known", lambda: {"pytorchjob", "mpijob"} <= set(self.cluster.api.discover()))
        torch = self.owned("PyTorchJob", "v1", "pytorchReplicaSpecs", {"Master": 2, "Worker": 2},
                           {"Master": 1, "Worker": 3})
        mpi = self.owned("MPIJob", "v2beta1", "mpiReplicaSpecs", {"Worker": 2}, {"Launcher": 1, "Worker": 4})
        first = self.one_alone([torch, mpi], 4)
        for name, members in zip((torch, mpi), self.members(torch, mpi)):
            self.assertEqual([item["metadata"]["labels"].get(SIZE) for item in members.values()], ["4"] * 4, name)
        launcher = self.cluster.get("pod", "mpijob-launcher-0")
        self.assertNotIn(SIZE, launcher["metadata"]["labels"])
        self.cluster.delete("pytorchjob" if first == torch else "mpijob", first)
        second = mpi if first == torch else torch
        self.assertEqual(self.one_alone([second], 4), second)

    def take_turn(self, name, size):
        """Begins rounds until the job has its turn, with all of its pods bound as one gang."""
        def has_turn():
            if self.one_alone(["set", "train"], size) == name:
                return True
            self.begin_round("turns")
            return False
        wait_for(f"{name} to have its turn", has_turn, LONG)

    def test_a_suspended_jobset_and_a_suspended_trainjob_go_on_as_gangs(self):
        self.order("turns", "las")
        self.create(job_set("set", replicated("driver", 1, 1, 0), replicated("workers", 2, 2, 1), queue="turns",
                            startupPolicy={"startupPolicyOrder": "InOrder"}))
        self.one_alone(["set"], 4)
        self.create(train_job("train", 4, 1, queue="turns"))
        self.await_ordered("turns", 2)
        for name in ("train", "set", "train"):
            self.take_turn(name, 4)
        for name, kind in (("set", "JobSet"), ("train", "TrainJob")):
            workload = self.workload(name)
            self.assertEqual(workload["metadata"]["ownerReferences"][0]["kind"], kind)
            self.assertIn('"served":', workload["metadata"]["annotations"]["synergy.io/rounds"])

    def report_progress(self, name, remaining):
        """Writes the training's progress as Trainer's status server does with its feature gate
        TrainJobStatus. That server runs only in pods, because it takes the issuer of tokens from
        its own token."""
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        read = {"progressPercentage": 40, "estimatedRemainingSeconds": remaining, "lastUpdatedTime": now}
        self.cluster.patch("trainjob", name, {"status": {"trainerStatus": read}}, "status")

    def test_trainjobs_report_their_remaining_time_by_status(self):
        self.order("turns", "srtf")
        self.create(train_job("long", 2, 1, queue="turns"), train_job("short", 2, 1, queue="turns"))
        # A training's report counts only when all of its pods run.
        wait_for("both to run", lambda: self.running("long", "short") == [2, 2], LONG)
        self.await_ordered("turns", 2)
        for name, remaining in (("long", 7200), ("short", 600)):
            self.report_progress(name, remaining)
        status = self.read("explain", "job", "short")["trainerStatus"]
        self.assertEqual((status["progressPercentage"], status["remainingSeconds"]), (40, 600))
        # The controller needs one round to see the report, and one to decide by it.
        for _ in range(2):
            self.begin_round("turns")
        # The user stops the short TrainJob, and another one takes its place.
        workload = self.workload("short")["metadata"]["name"]
        self.cluster.patch("workload", workload, {"spec": {"active": False}})
        self.create(train_job("later", 2, 1, queue="turns"))
        wait_for("the later one to run", lambda: self.running("later") == [2], LONG)
        self.report_progress("later", 3600)
        # The priority was raised in a round that also recorded it.
        remaining = wait_for("how long the short one still needs to be noted", lambda: json.loads(
            self.workload("short")["metadata"]["annotations"]["synergy.io/rounds"]).get("remaining"))
        self.assertLessEqual(remaining, 600)
        self.cluster.patch("workload", workload, {"spec": {"active": True}})
        self.await_ordered("turns", 3)
        self.by_a_round("turns", "the longest one to lose its turn to the short one",
                        lambda: (self.bound("short"), self.bound("long")) == (2, 0))
        wait_for("the event",
                 lambda: any(text.startswith("its turn ends; next: short") for text in self.cluster.events("long")))

    def test_an_elastic_trainjob_keeps_its_nodes_and_gets_an_event(self):
        self.order("turns", "optimus")
        self.create(elastic_train_job("rigid", 2))
        wait_for("it to run", lambda: self.bound("rigid") == 2, LONG)
        wait_for("the event", lambda: any("Kubeflow Trainer does not allow changes of a TrainJob's number of "
                                          "nodes" in text for text in self.cluster.events("rigid")))
        # Trainer refuses the change:
        self.assertIn("immutable", self.cluster.complaint("PATCH", "trainjob", "rigid",
                                                          {"spec": {"suspend": True, "trainer": {"numNodes": 1}}}))

    def test_room_for_a_launcher_is_held_while_its_gang_is_bound(self):
        # The workers get at least 3 CPU and could use 9 each: all of the 18 that the six fillers
        # leave. The launcher must be on their node, so it comes after them.
        fillers = [fungible.pod(f"filler-{number}", "insensitive") for number in range(6)]
        self.cluster.create(*fillers)
        wait_for("the other GPUs to be taken", lambda: len(self.cluster.bound()) == len(fillers))
        beside = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"role": "worker"}}, "topologyKey": "kubernetes.io/hostname"}]}}
        for name, cpu, gang in (("apart", 9, False), ("held", 4, True)):
            workers, launcher = replicated("workers", 1, 2, 1), replicated("launcher", 1, 1, 0)
            size = 3 if gang else 2
            of_gang = {"synergy.io/gang": name, SIZE: str(size)}
            in_pods = workers["template"]["spec"]["template"], launcher["template"]["spec"]["template"]
            in_pods[0]["metadata"]["labels"] = {"role": "worker", "synergy.io/profile": "sensitive", **of_gang}
            in_pods[1]["metadata"]["labels"] = of_gang if gang else {}
            in_pods[1]["spec"]["affinity"] = beside
            in_pods[1]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "10"
            self.create(job_set(name, workers, launcher))
            self.one_alone([name], 2, size)
            # A member grows from its fair share. That figure is up to 2 s old, so a pod of the
            # previous test may still reduce it.
            for item in self.members(name)[0].values():
                self.assertAlmostEqual(trainers.milli_cpu(item), 1000 * cpu, delta=200)
            pod_name = next(key for key in self.cluster.pods() if key.startswith(f"{name}-launcher-"))
            if gang:
                wait_for("the launcher to run",
                         lambda: self.cluster.get("pod", pod_name)["spec"].get("nodeName") == NODE)
            else:
                # No room is reserved for a pod that is not a member, so the workers have grown into
                # its room.
                wait_for("the launcher to be refused",
                         lambda: any("Insufficient cpu" in text for text in self.cluster.events(pod_name)))
                self.assertNotIn("nodeName", self.cluster.get("pod", pod_name)["spec"])
            self.cluster.delete("jobset", name, wait=True)

    def wait_for_pods_ready(self, limit, seconds=READY):
        """Configures Kueue to evict workloads whose pods are not ready in time, and to deactivate
        them after `limit` evictions."""
        file = self.cluster.state / "kueue/etc/kueue/config.yaml"

        def configure(text):
            file.write_text(text, encoding="utf-8")
            self.cluster.script("restart", "kueue")
        if not self.kueue_settings:
            self.kueue_settings = file.read_text(encoding="utf-8")
            self.addCleanup(configure, self.kueue_settings)
        configure(f"{self.kueue_settings}waitForPodsReady: {{timeout: {seconds}s, requeuingStrategy: "
                  f"{{backoffBaseSeconds: 1, backoffLimitCount: {limit}}}}}\n")

    def restart_extender(self, settings=""):
        self.extender.end()
        self.extender.log.close()
        type(self).extender = Extender(self.cluster, settings=settings)
        self.extender.start()

    def wait_for_nodes(self, seconds):
        """Configures how long gangs wait for room on one node."""
        self.restart_extender(f"locality: {{nodeWait: {seconds}s}}\n")

    def condition(self, name, kind):
        return next((entry for entry in self.workload(name)["status"].get("conditions", []) if entry["type"] == kind),
                    {})

    def requeued(self, name):
        """Returns how often Kueue has requeued the job because its pods were not ready in time."""
        return self.workload(name)["status"].get("requeueState", {}).get("count", 0)

    def hold(self, how):
        """Stops Kueue from admitting more to the queue, or lets it again."""
        self.cluster.patch("clusterqueue", "ready", {"spec": {"stopPolicy": how}})

    def await_spread(self, name):
        wait_for(f"{name} to run", lambda: self.bound(name) == 2, LONG)
        self.assertEqual({item["spec"]["nodeName"] for item in self.members(name)[0].values()}, {"v100-1", "v100-2"})
        wait_for("Kueue to see its pods ready", lambda: self.condition(name, "PodsReady").get("status") == "True")

    def holds_nothing(self):
        names = ("held_gangs", "gangs_waiting_for_locality", "vacant_places")
        return all(self.extender.metric(f"synergy_extender_{name}") == 0 for name in names)

    def put_back_once(self):
        """Runs a gang that first waits too long for a node, so that Kueue requeues it, and then
        runs with shorter waits."""
        self.wait_for_pods_ready(1)
        self.addCleanup(self.restart_extender)
        self.wait_for_nodes(300)
        # Half of each node is occupied: the gang could fit on one of them, but not now.
        for node in ("v100-1", "v100-2"):
            self.cluster.create(pod(f"on-{node}", 4, "1", "10G", nodeSelector={"kubernetes.io/hostname": node}))
        wait_for("the nodes to be half full", lambda: len(self.cluster.bound()) == 2)
        gang = job_set("gang", replicated("workers", 1, 2, 4), queue="ready")
        del gang["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["nodeSelector"]
        self.order("ready", "las")
        self.create(gang)
        wait_for("its turn", lambda: self.workload("gang").get("status", {}).get("admission"))
        # Kueue admits it again only after the waits are shorter.
        self.addCleanup(self.hold, "None")
        self.hold("Hold")
        names = set()  # Kueue deletes its pods when it puts it back

        def waits():
            names.update(self.members("gang")[0])
            return any("it waits for room within one node until" in text
                       for name in names for text in self.cluster.events(name))
        wait_for("it to wait for a node", waits)
        self.assertEqual(self.extender.metric("synergy_extender_held_gangs"), 0)
        wait_for("Kueue to put it back", lambda: self.requeued("gang") == 1)
        # From now on, Kueue waits as long as the machine needs.
        self.wait_for_pods_ready(1, seconds=600)
        wait_for("nothing of it to be held", self.holds_nothing)
        # Its next pods do not wait too long.
        self.wait_for_nodes(1)
        self.hold("None")
        self.await_spread("gang")
        self.assertEqual(self.requeued("gang"), 1, "Kueue has forgotten that")

    def lose_turn_to(self, name):
        """Creates another job, to which the gang loses its turn."""
        self.create(job_set(name, replicated("workers", 1, 1, 1), queue="ready"))
        self.await_ordered("ready", 2)
        self.by_a_round("ready", "the other one to have its turn", lambda: self.bound(name) == 1)

    def test_kueue_puts_back_a_gang_that_waits_too_long_for_a_node_and_it_runs_with_shorter_waits(self):
        self.put_back_once()
        # A lost turn does not count as such an eviction.
        self.lose_turn_to("other")
        self.assertEqual((self.requeued("gang"), self.workload("gang")["spec"]["active"], self.bound("gang")),
                         (1, True, 0))
        self.assertEqual(self.condition("gang", "Evicted")["reason"], "Preempted")

    @tiers.long  # slow
    def test_a_gang_that_kueue_gives_up_is_left_alone_until_it_has_another_workload(self):
        self.put_back_once()
        # An eviction that follows later adds to the earlier ones.
        self.wait_for_pods_ready(1)
        self.wait_for_nodes(300)
        self.lose_turn_to("other")
        self.cluster.delete("jobset", "other")
        wait_for("Kueue to give it up", lambda: not self.workload("gang")["spec"]["active"], LONG)
        wait_for("its pods to be gone", lambda: not self.members("gang")[0])
        wait_for("nothing of it to be held", self.holds_nothing)
        self.assertTrue(self.cluster.get("jobset", "gang")["spec"]["suspend"])
        # Kueue takes the job's quota back a moment later.
        read = wait_for("it to be stopped",
                        lambda: (read := self.read("explain", "job", "gang"))["job"]["state"] == "stopped" and read)
        self.assertIn("by Kueue when its pods were not ready in time", " ".join(read["remarks"]))
        # Synergy does not change its priority: in the queue the gang would come after this job,
        # which has had less service.
        priority = self.workload("gang")["spec"]["priority"]
        self.create(job_set("later", replicated("workers", 1, 1, 1), queue="ready"))
        wait_for("the later one to run",
                 lambda: self.bound("later") == 1 and self.workload("later")["spec"]["priority"] == 1)
        self.begin_round("ready")
        self.assertEqual((self.workload("gang")["spec"]["priority"], priority), (1, 1))
        self.cluster.delete("jobset", "later")
        self.wait_for_nodes(1)
        # Kueue 0.15 never admits a Workload again that it has deactivated, even if it is activated.
        # After that Workload is deleted, Kueue creates another one.
        given_up = self.workload("gang")["metadata"]
        self.cluster.delete("workload", given_up["name"])
        wait_for("another Workload",
                 lambda: any(queues.job_of(item) == "gang" and item["metadata"]["uid"] != given_up["uid"]
                             for item in self.cluster.get("workloads")["items"]))
        self.await_spread("gang")
        self.assertEqual(self.requeued("gang"), 0)

    def failing(self):
        """Returns the template of a pod that fails on the real node because of its own program."""
        script = "echo \"ModuleNotFoundError: No module named 'apex'\"; exit 1"
        limits = {GPU: "1", "memory": "64Mi"}
        return {"metadata": {}, "spec": {
            "nodeSelector": {"synergy.test/node": "real"}, "restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "train", "image": "synergy.test/busybox:1", "command": ["sh", "-c", script],
                            "resources": {"limits": limits, "requests": {**limits, "cpu": "10m"}}}]}}

    def test_futile_retries_end_by_the_workload_in_a_queue_and_by_the_jobset_outside(self):
        asked = {"synergy.io/retries": "stop-futile"}
        self.addCleanup(self.cluster.patch, "localqueue", "real",
                        {"metadata": {"annotations": {key: None for key in asked}}})
        self.cluster.patch("localqueue", "real", {"metadata": {"annotations": asked}})
        outside = job_set("outside", replicated("workers", 1, 1, 1), failurePolicy={"maxRestarts": 100})
        outside["metadata"]["annotations"] = asked
        outside["spec"]["replicatedJobs"][0]["template"]["spec"] |= {"backoffLimit": 0, "template": self.failing()}
        queued = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "queued", "labels": {QUEUE: "real"}},
                  "spec": {"backoffLimit": 6, "template": self.failing()}}
        self.create(outside, queued)

        def messages(name):
            return [text for text in self.cluster.events(name) if text.startswith("Suspended")]
        wait_for("both to be suspended", lambda: messages("outside") and messages("queued"), LONG)
        self.assertTrue(self.cluster.get("jobset", "outside")["spec"]["suspend"])
        self.assertFalse(self.workload("queued")["spec"]["active"])
        wait_for("Kueue to suspend the Job", lambda: self.cluster.get("job", "queued")["spec"]["suspend"])
        failed = self.cluster.get("job", "queued")["status"]["failed"]
        # Runs the command from the event:
        for name in ("outside", "queued"):
            command = re.search(r"To resume it: kubectl (.*)", messages(name)[0])[1]
            self.cluster.kubectl(*shlex.split(command))
        self.assertTrue(self.workload("queued")["spec"]["active"])
        wait_for("the Job to run again",
                 lambda: self.cluster.get("job", "queued")["status"].get("failed", 0) > failed, LONG)

    def test_a_jobset_and_single_jobs_take_turns_on_a_real_node_and_lose_nothing(self):
        folder = self.cluster.folder / "checkpoints"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.order("real", "las")
        with queues.Watcher(self.cluster, "real") as watcher:
            # Its work outlasts its turn, however late the round is.
            self.create(turns.job_set("set", "real", 3600, folder))
            ranks = [turns.rank_of("set", rank) for rank in range(2)]
            wait_for("the JobSet to train", lambda: all(turns.runs(folder, rank) for rank in ranks))
            work = 10  # seconds
            self.create(*(turns.training(name, "real", work, folder) for name in ("a", "b")))
            self.await_ordered("real", 3)
            self.by_a_round("real", "the single ones to train",
                            lambda: all(turns.runs(folder, name) for name in ("a", "b")))
            wait_for("them to finish", lambda: turns.all_completed(self.cluster, ["a", "b"]), LONG)
            wait_for("the JobSet to train again",
                     lambda: all(len(turns.runs(folder, rank)) > 1 for rank in ranks), LONG)
        ranks, singles = ([turns.runs(folder, name) for name in names] for names in (ranks, ("a", "b")))
        for history in ranks + singles:
            self.assertEqual(turns.lost_iterations(history), [0] * (len(history) - 1))
        for history in singles:
            self.assertEqual(history[-1][1][-1][1], work * turns.PER_SECOND)
        # Both pods of the JobSet lost their turn and got another one, and at each moment only one
        # of the two had the GPUs: the JobSet, or the single jobs.
        self.assertEqual([len(history) for history in ranks + singles], [2, 2, 1, 1])
        self.assertEqual(watcher.turns, {"set": 2, "a": 1, "b": 1})
        self.assertFalse([holders for holders in watcher.holders if "set" in holders and len(holders) > 1],
                         "a single job had quota beside the JobSet")


if __name__ == "__main__":
    failures.main()
