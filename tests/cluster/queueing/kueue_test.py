"""Synergy beside Kueue. Single Pods that Kueue manages keep the size with which they were created,
because Kueue deletes them when their containers change. Pods of Kueue's Jobs are like all others.
RoundPolicies decide which job has its turn: on a simulated node, and on a real one for trainings
that write checkpoints."""

import json
import re
import shlex
import shutil
import time

import failures
import fungible
import helm
import queues
import tiers
import turns
from cluster import GPU, wait_for
from fungible import INSENSITIVE, SENSITIVE
from queues import CLASS, QUEUE

MANAGED = "kueue.x-k8s.io/managed"
SHARE = "3"  # CPU of a node for each of its GPUs, as a quantity
ROUND = 3  # seconds
ROUNDS = "synergy.io/rounds"
CHECKPOINTS = {"synergy.io/checkpoint": "true"}
REAL_GPUS = 2
REAL_ROUND = 8  # seconds, if rounds begin by themselves: containers need some of them to start
TEAM = 10  # the value of a priority class
PRERUN = "synergy.io/prerun"
TRIAL_OF = "synergy.io/prerun-of"  # label: the UID of the Job of which it is a copy
SAVES = fungible.profile("saves", (1, 1), (3, 3))
SAVES["spec"]["checkpoints"] = True


def queued(item, name="queue"):
    item["metadata"].setdefault("labels", {})[QUEUE] = name
    return item


def training(name, annotations, queue="turns", **spec):
    """Returns a Job with one GPU that trains without end, in this queue. Only one Job at a time has
    its turn in the default one."""
    template = fungible.pod("x", "sensitive", annotations, **spec)
    return queued({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
                   "spec": {"template": {"metadata": {"annotations": annotations}, "spec": template["spec"]}}}, queue)


def tried_queues():
    """Returns a queue for one Job of two GPUs, and the queue for its trials."""
    tried, local = queues.queue("tried", {GPU: "2"})
    local["metadata"]["annotations"] = {f"{PRERUN}-queue": "trials"}
    return tried, local, *queues.queue("trials", {GPU: "1"})


def tried(name, limit=None):
    """Returns a Job of two GPUs that asks for a trial."""
    spec = fungible.pod("x", "sensitive")["spec"]
    spec["containers"][0]["resources"] = {"limits": {GPU: "2"}}
    job = queued({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {
        "backoffLimit": 4, "template": {"spec": spec}}}, "tried")
    if limit:
        job["metadata"]["annotations"] = {PRERUN: limit}
    return job


def filler(cpu):
    """Returns a pod that keeps its request, so that the others have no room to grow. It does not
    change their fair share."""
    item = fungible.pod("filler", "")
    item["spec"]["containers"][0]["resources"]["requests"] = {"cpu": cpu}
    return item


def cpu(item):
    return item["spec"]["containers"][0]["resources"]["requests"]["cpu"]


class KueueTest(queues.QueueTest):
    gpus = REAL_GPUS
    objects = (queues.FLAVOR, *queues.queue("queue"), *queues.of_turns("turns", 1), *queues.of_turns("two", 2),
               *queues.of_turns("real", REAL_GPUS), *queues.of_turns("strict", 4, queueingStrategy="StrictFIFO"),
               *tried_queues(), queues.priority_class("team", TEAM), SENSITIVE, SAVES, turns.PROFILE)

    def pod(self, name):
        return self.cluster.get("pod", name)

    def running(self, *names):
        def all_run():
            pods = self.cluster.pods()
            self.assertLessEqual(set(names), set(pods), "a pod has been deleted")
            return all(pods[name]["status"].get("phase") == "Running" for name in names) and pods

        return wait_for(f"{', '.join(names)} to run", all_run)

    def has(self, name, amount):
        wait_for(f"{name} to have {amount} CPU", lambda: cpu(self.pod(name)) == amount)

    def await_divisions(self):
        """Waits until the tuner has begun and completed one division of every node."""
        before = self.metric("synergy_tuner_rounds_total")
        wait_for("the node to be divided again", lambda: self.metric("synergy_tuner_rounds_total") >= before + 2)

    def counted(self, item):
        """Returns the resources for which Kueue has admitted the pod or Job."""
        workload = next(entry for entry in self.cluster.get("workloads")["items"]
                        if entry["metadata"]["ownerReferences"][0]["uid"] == item["metadata"]["uid"])
        self.assertIn(("Admitted", "True"),
                      [(entry["type"], entry["status"]) for entry in workload["status"]["conditions"]])
        return workload["status"]["admission"]["podSetAssignments"][0]["resourceUsage"]

    def test_a_single_pod_keeps_what_it_was_created_with_while_its_neighbour_grows(self):
        self.cluster.create(queued(fungible.pod("kueues", "sensitive")))
        # The node has room for the pod's demand.
        item = self.running("kueues")["kueues"]
        self.assertEqual((item["metadata"]["labels"][MANAGED], item["spec"]["schedulerName"]),
                         ("true", "synergy-scheduler"))
        self.assertEqual(json.loads(item["metadata"]["annotations"]["synergy.io/demand"])["cpu"], "9")
        self.assertEqual(cpu(item), SHARE)
        self.assertEqual(self.counted(item)["cpu"], SHARE)
        # The neighbour is bound with no more than its share, and grows when there is room.
        self.cluster.create(filler("18"))
        self.running("filler")
        self.cluster.create(fungible.pod("ours", "sensitive"))
        self.assertEqual(cpu(self.running("ours")["ours"]), SHARE)
        self.cluster.delete("pod", "filler")
        self.has("ours", "9")
        self.await_divisions()
        after = self.pod("kueues")
        self.assertEqual((after["metadata"]["uid"], cpu(after), after["metadata"].get("deletionTimestamp")),
                         (item["metadata"]["uid"], SHARE, None))
        # If Synergy resized the pod, Kueue would delete it:
        self.cluster.kubectl("patch", "pod", "kueues", "--subresource", "resize", "--patch",
                             json.dumps({
                                 "spec": {"containers": [{"name": "train", "resources": {"requests": {"cpu": "4"}}}]}}))
        wait_for("Kueue to delete it", lambda: "kueues" not in self.cluster.pods())
        wait_for("Kueue to say why", lambda: "No matching Workload" in " ".join(self.cluster.events("kueues")))

    def test_a_profile_that_comes_while_a_single_pod_waits_changes_nothing(self):
        self.cluster.create(filler("22"))
        self.running("filler")
        self.cluster.create(queued(fungible.pod("kueues", "insensitive")))
        wait_for("Kueue to let it go", lambda: not self.pod("kueues")["spec"].get("schedulingGates"))
        self.create(INSENSITIVE)
        self.cluster.create(fungible.pod("ours", "insensitive"))
        self.assertEqual(cpu(self.running("ours")["kueues"]), SHARE)
        self.cluster.delete("pod", "filler")
        item = self.running("kueues")["kueues"]
        self.assertEqual(cpu(item), SHARE)
        self.assertEqual(self.counted(item)["cpu"], SHARE)

    def test_pods_of_a_job_that_kueue_manages_are_like_all_others(self):
        template = fungible.pod("x", "sensitive")
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train", "labels": {QUEUE: "queue"}},
               "spec": {"template": {"metadata": {"labels": template["metadata"]["labels"]}, "spec": template["spec"]}}}
        self.cluster.create(filler("21"))
        self.running("filler")
        self.create(job)
        name = wait_for("the job's pod", lambda: set(self.cluster.pods()) - {"filler"}).pop()
        item = self.running(name)[name]
        self.assertNotIn(MANAGED, item["metadata"]["labels"])
        self.assertEqual(cpu(item), SHARE)
        self.cluster.delete("pod", "filler")
        self.has(name, "9")
        self.await_divisions()
        self.assertEqual(self.pod(name)["metadata"]["uid"], item["metadata"]["uid"])
        job = self.cluster.get("job", "train")
        self.assertFalse(job["spec"]["suspend"])
        self.assertEqual(self.counted(job), {GPU: "1"})

    def test_job_templates_are_sized_before_kueue_counts(self):
        shipped = self.cluster.get("mutatingwebhookconfiguration", "synergy")["webhooks"][0]["clientConfig"]
        hooks = next(item for item in helm.template({"kueue": {"sizeTemplates": True}})
                     if item["kind"] == "MutatingWebhookConfiguration")["webhooks"]
        hook = next(entry for entry in hooks if entry["name"] == "jobs.synergy.io")
        hook["clientConfig"] = shipped | {"url": shipped["url"].rsplit("/", 1)[0] + "/mutate-job"}
        hook["timeoutSeconds"] = 20
        # The quota has room for one pod of the share.
        self.create({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
                     "metadata": {"name": "templates"}, "webhooks": [hook]}, *queues.queue("narrow", {"cpu": "5"}))

        def job(name):
            spec = fungible.pod(name, "")["spec"]
            return queued({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
                           "spec": {"template": {"spec": spec}}}, "narrow")

        def requests(name):
            template = self.cluster.get("job", name)["spec"]["template"]
            return template["spec"]["containers"][0]["resources"]["requests"]

        def is_sized():
            self.create(job("first"))
            if requests("first").get("cpu") == SHARE:
                return True
            self.cluster.kubectl("delete", "job", "first")
            return False

        # For two seconds the controller also uses the share that pods of other tests left.
        wait_for("the API server to call the webhook, and the webhook to know the share", is_sized)
        wait_for("Kueue to start it", lambda: not self.cluster.get("job", "first")["spec"]["suspend"])
        self.assertEqual(self.counted(self.cluster.get("job", "first"))["cpu"], SHARE)
        self.create(job("second"))
        wait_for("the quota to be used up", lambda: any(
            "insufficient unused quota for cpu" in condition["message"]
            for item in self.cluster.get("workloads")["items"]
            if item["metadata"]["ownerReferences"][0]["name"] == "second"
            for condition in item.get("status", {}).get("conditions", [])))
        self.assertTrue(self.cluster.get("job", "second")["spec"]["suspend"])
        self.cluster.kubectl("delete", "job", "first")

    def trials(self):
        return {item["metadata"]["name"]: item for item in self.cluster.get("jobs")["items"]
                if TRIAL_OF in item["metadata"].get("labels", {})}

    def await_trial(self, name):
        """Creates a Job that waits for another one, and returns the running pod of its trial."""
        self.create(tried("holder"))
        wait_for("the other one to have the quota", lambda: not self.cluster.get("job", "holder")["spec"]["suspend"])
        self.create(tried(name, "5m"))
        uid = self.cluster.get("job", name)["metadata"]["uid"]
        pod = wait_for("the pod of its trial", lambda: self.cluster.get(
            "pods", labelSelector=f"batch.kubernetes.io/job-name=prerun-{uid}")["items"])[0]
        return self.running(pod["metadata"]["name"])[pod["metadata"]["name"]]

    def test_a_job_whose_trial_fails_by_its_own_fault_is_stopped_before_it_starts(self):
        pod = self.await_trial("bert")
        container, = pod["spec"]["containers"]
        self.assertEqual(container["resources"]["limits"][GPU], "1")
        self.assertIn({"name": "SYNERGY_PRERUN", "value": "1"}, container["env"])
        self.assertEqual(pod["spec"]["priorityClassName"], "synergy-prerun")
        self.assertEqual(pod["spec"]["preemptionPolicy"], "Never")
        trial, = self.trials().values()
        self.assertEqual(trial["spec"]["backoffLimit"], 0)
        self.assertEqual(self.workload(trial["metadata"]["name"])["spec"]["maximumExecutionTimeSeconds"], 300)
        ended = {"exitCode": 127, "reason": "Error", "startedAt": pod["status"]["startTime"],
                 "finishedAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
        status, = pod["status"]["containerStatuses"]
        self.cluster.end_pod(pod["metadata"]["name"], "Failed",
                             containerStatuses=[status | {"ready": False, "state": {"terminated": ended}}])
        message = wait_for("it to be stopped", lambda: [
            text for text in self.cluster.events("bert") if text.startswith("Deactivated before its start")])[0]
        self.assertIn("command: the command does not exist or cannot run", message)
        self.assertFalse(self.workload("bert")["spec"]["active"])
        self.assertEqual(list(self.trials()), [trial["metadata"]["name"]], "its log remains")
        # Its user starts it nevertheless.
        self.cluster.kubectl(*shlex.split(re.search(r"nevertheless: kubectl (.*)", message)[1]))
        self.cluster.delete("job", "holder")
        wait_for("it to start", lambda: not self.cluster.get("job", "bert")["spec"]["suspend"])
        wait_for("its trial to be gone", lambda: not self.trials())
        self.assertTrue(self.workload("bert")["spec"]["active"])

    def test_a_trial_ends_when_its_job_starts_under_any_leader(self):
        pod = self.await_trial("bert")
        before = self.trials()
        self.stop_controller()
        self.start_controller()
        wait_for("the next leader to note it",
                 lambda: f"{PRERUN}-trial" in self.workload("bert")["metadata"].get("annotations", {}))
        self.assertEqual({name: item["metadata"]["uid"] for name, item in self.trials().items()},
                         {name: item["metadata"]["uid"] for name, item in before.items()})
        self.cluster.delete("job", "holder")
        wait_for("it to start", lambda: not self.cluster.get("job", "bert")["spec"]["suspend"])
        wait_for("its trial to be gone",
                 lambda: not self.trials() and pod["metadata"]["name"] not in self.cluster.pods())
        started, = wait_for("its own pod", lambda: self.cluster.get(
            "pods", labelSelector="batch.kubernetes.io/job-name=bert")["items"])
        self.assertNotIn("SYNERGY_PRERUN", json.dumps(started["spec"]))
        # Other users cannot make trials, and the controller cannot make other Jobs.
        forged = tried("forged")
        forged["metadata"]["labels"][TRIAL_OF] = self.cluster.get("job", "bert")["metadata"]["uid"]
        self.assertIn("only synergy-controller creates", self.cluster.complaint("POST", "job", body=forged))
        change = {"metadata": {"labels": {TRIAL_OF: "x"}}}
        self.assertIn("only synergy-controller creates", self.cluster.complaint("PATCH", "job", "bert", change))
        self.assertIn("may only create and delete trials", self.refusal("POST", "job", None, tried("other")))
        self.assertIn("may only create and delete trials", self.refusal("DELETE", "job", "bert"))
        self.assertIn("a trial has one pod", self.refusal("POST", "job", None, forged | {
            "metadata": forged["metadata"] | {"name": f"prerun-{forged['metadata']['labels'][TRIAL_OF]}"}}))

    def on_turn(self, queue="turns"):
        """Returns the Jobs that are not suspended."""
        return {item["metadata"]["name"] for item in self.cluster.get("jobs")["items"]
                if item["metadata"]["labels"][QUEUE] == queue and not item["spec"]["suspend"]}

    def await_turn(self, name):
        wait_for(f"{name} to have its turn", lambda: self.on_turn() == {name})

    def watcher(self, queue="turns"):
        return queues.Watcher(self.cluster, queue)

    def test_jobs_that_checkpoint_take_turns_and_have_their_priorities_back(self):
        jobs = [training("a", CHECKPOINTS), training("b", {})]
        # The second job's profile says that it checkpoints.
        jobs[1]["spec"]["template"]["metadata"]["labels"] = {"synergy.io/profile": SAVES["metadata"]["name"]}
        for job in jobs:
            job["metadata"]["labels"][CLASS] = "team"
        with self.watcher() as watcher:
            self.create(queues.round_policy("turns", "las", ROUND), *jobs)
            wait_for("both to have had two turns", lambda: min(watcher.look().turns[name] for name in "ab") >= 2)
            # No job gets or loses a turn while the figures are compared.
            self.begin_round("turns")
            holder = wait_for("one to have its turn, and to be protected", lambda: next(
                (name for name in "ab" if self.on_turn() == {name}
                 and self.priorities("turns") == dict.fromkeys("ab", TEAM) | {name: TEAM + 1}), None))
        other = "b" if holder == "a" else "a"
        self.assertEqual(watcher.most, 1)
        self.assertEqual(watcher.holders[-1], {holder})
        had = {name: json.loads(item["metadata"]["annotations"][ROUNDS]).get("served", 0)
               for name, item in self.workloads("turns").items()}
        self.assertGreater(min(had.values()), 0)
        # The command shows the job that has its turn, the next one, and the waits of both.
        shown = self.read("queue", "turns")[0]
        self.assertEqual([(item["job"], item["band"], item["place"]) for item in shown["workloads"]],
                         [(holder, "runs", None), (other, "next", 1)])
        read = wait_for("an event about its lost turn", lambda: (read := self.read("explain", "job", other))
                        and any(event["reason"] == "SynergyTurnLost" for event in read["events"]) and read)
        self.assertEqual((read["job"]["state"], read["job"]["why"]), ("waits", "it is next when GPUs become free"))
        self.assertGreaterEqual(read["job"]["service"]["attainedGpuSeconds"], had[other])
        # The first turn does not count as lost if the other job was chosen before this one had run.
        self.assertIn(read["job"]["service"]["lostTurns"], (watcher.turns[other] - 1, watcher.turns[other]))
        self.assertGreater(read["job"]["service"]["fairShareDelaySeconds"], 1)
        lost = [event["message"] for event in read["events"] if event["reason"] == "SynergyTurnLost"]
        self.assertIn(f"its turn ends; next: {holder}; it had 1 GPU for ", lost[0])
        status = self.cluster.get("roundpolicy", "turns")["status"]
        self.assertEqual([(entry["type"], entry["status"]) for entry in status["conditions"]], [("Ready", "True")])
        self.assertEqual([(entry["name"], entry["gpus"]) for entry in status["queues"]], [("turns", 1)])
        # Without a leader, a job keeps its turn.
        self.stop_controller()
        self.cluster.patch("roundpolicy", "turns", {"spec": {"roundSeconds": ROUND}})
        with self.watcher() as watcher:
            time.sleep(2 * ROUND)
        self.assertEqual(watcher.turns, {holder: 1}, "a job was suspended although no leader decides whose turn it is")
        self.start_controller()
        self.await_turn(other)
        # Their attained service is not lost.
        for name, item in self.workloads("turns").items():
            self.assertGreaterEqual(json.loads(item["metadata"]["annotations"][ROUNDS]).get("served", 0), had[name])
        self.begin_round("turns")
        self.cluster.delete("roundpolicy", "turns")
        wait_for("the priorities to come back", lambda: self.priorities("turns") == {"a": TEAM, "b": TEAM})
        holder, = wait_for("one to have its turn", lambda: len(holders := self.on_turn()) == 1 and holders)
        with self.watcher() as watcher:
            for item in self.workloads("turns").values():
                self.assertNotIn(ROUNDS, item["metadata"].get("annotations", {}))
            time.sleep(ROUND)
        self.assertEqual(watcher.turns, {holder: 1})

    def test_a_job_that_does_not_checkpoint_and_a_plain_pod_run_to_their_end(self):
        # Kueue does not suspend pods: it deletes them.
        plain = queued(fungible.pod("plain", "sensitive", CHECKPOINTS), "two")
        self.create(queues.round_policy("two", "las", ROUND), training("stays", {}, "two"), plain)
        self.running("plain")
        wait_for("the job to have its turn", lambda: self.on_turn("two") == {"stays"})
        uid = self.pod("plain")["metadata"]["uid"]
        self.create(training("later", CHECKPOINTS, "two"))
        wait_for("all to be known", lambda: self.priorities("two") == {"stays": 1, "plain": 1, "later": 0})
        with self.watcher("two") as watcher:
            # The controller's own account, updated once a second, measures the time.
            waited = 'synergy_rounds_delay_seconds_total{cluster_queue="two",delay="fair_share"}'
            before = self.metric(waited)
            wait_for("two rounds to pass", lambda: self.metric(waited) >= before + 2 * ROUND)
            self.assertEqual((uid, "Running"),
                             (self.pod("plain")["metadata"]["uid"], self.pod("plain")["status"]["phase"]))
        self.assertIn({"stays", "plain"}, watcher.holders)
        self.assertEqual(watcher.turns, {"stays": 1, "plain": 1})

    def test_jobs_pass_a_large_one_under_strict_fifo_if_they_do_not_delay_it(self):
        """A job has two of four GPUs for an hour at most, and another one waits for three."""
        def job(name, gpus):
            item = training(name, {}, "strict")
            item["spec"] |= {"parallelism": gpus, "completions": gpus}
            return item

        first = job("first", 2)
        first["metadata"]["labels"]["kueue.x-k8s.io/max-exec-time-seconds"] = "3600"
        self.create(queues.round_policy("strict", "fifo", ROUND, backfill="InTime"), first)
        wait_for("the first job to run", lambda: self.on_turn("strict") == {"first"})
        with self.watcher("strict") as watcher:
            self.create(job("large", 3))
            created = self.workload("large")["metadata"]["creationTimestamp"]
            # Kueue orders Workloads by their creation, in seconds.
            wait_for("the next second", lambda: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()) > created)
            # Both small ones fit beside the first job, but only one beside the large one.
            self.create(job("small-1", 1), job("small-2", 1))
            wait_for("one to pass the large job", lambda: self.on_turn("strict") == {"first", "small-1"})
            given = self.priorities("strict")
            self.assertGreater(given["small-1"], given["large"])
            self.cluster.delete("job", "first")
            wait_for("the large job to run", lambda: self.on_turn("strict") == {"large", "small-1"})
        self.assertEqual(watcher.turns, {"first": 1, "small-1": 1, "large": 1})

    def test_a_job_with_quota_and_without_a_node_is_explained(self):
        self.create(queues.round_policy("turns", "las", ROUND),
                    training("nowhere", {}, nodeSelector={"no": "such-node"}))
        self.await_turn("nowhere")

        before = []

        def goes_on():
            """Returns whether the job's wait for a node has grown since the last look, and its wait
            for quota has not."""
            read = self.read("explain", "job", "nowhere")["job"]
            service = read["service"] or {}
            waits = [service.get(name, 0) for name in ("fairShareDelaySeconds", "fragmentationDelaySeconds")]
            before.append(waits)
            counts = len(before) > 1 and before[-2][1] > 0 and waits[1] > before[-2][1] and waits[0] == before[-2][0]
            return counts and read["band"] == "runs" and read

        read = wait_for("its wait for a node to count, and no other one, and its band to be written", goes_on)
        self.assertEqual(read["state"], "unplaced")
        self.assertEqual(read["podsWithoutNode"], list(self.cluster.pods()))

    def train(self, **work):
        """Creates real trainings with so many seconds of work each, in a queue of two GPUs; returns
        their folder."""
        folder = self.cluster.folder / "checkpoints"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.create(*(turns.training(name, "real", seconds, folder) for name, seconds in work.items()))
        return folder

    @tiers.long  # training_operators_test.py tests the same with a JobSet among them
    def test_trainings_on_a_real_node_take_turns_lose_nothing_and_all_finish(self):
        # Each has work for three rounds: in the second or third round, each of the first two has
        # had more service than another one.
        seconds = 3 * REAL_ROUND
        work = dict.fromkeys("abc", seconds)
        self.create(queues.round_policy("real", "las", REAL_ROUND))
        time.sleep(REAL_ROUND - time.time() % REAL_ROUND)
        created = time.time()
        folder = self.train(**work)
        real = wait_for("all to finish", lambda: turns.all_completed(self.cluster, work))
        histories = [turns.runs(folder, name) for name in work]
        for history in histories:
            self.assertEqual(history[-1][1][-1][1], seconds * turns.PER_SECOND)
            self.assertEqual(turns.lost_iterations(history), [0] * (len(history) - 1))
        # The last one did not have to wait until another one ended, and more than one was
        # interrupted.
        self.assertLess(max(history[0][0][0] for history in histories),
                        min(history[-1][1][-1][0] for history in histories))
        self.assertGreaterEqual(sum(map(len, histories)), len(work) + 2)
        times, cost = turns.beside_simulator(self.cluster.folder, histories, real.values(), work.values(), created,
                                             REAL_GPUS, "las", REAL_ROUND)
        print(f"completion times under las, and by the simulator (a start costs {cost:.1f} s): {times}", flush=True)

    def has_its_end(self, name):
        """Returns whether the controller knows the remaining time of a pod of the job that has
        trained for at least five seconds."""
        return any(pod["name"].startswith(name + "-") and pod.get("remaining")
                   and pod["iteration"] >= 5 * turns.PER_SECOND
                   for pod in self.progress())

    def test_the_shortest_training_on_a_real_node_takes_a_turn_and_finishes_first(self):
        self.order("real", "srtf")
        folder = self.train(long=3600)
        wait_for("the long one to be known", lambda: self.has_its_end("long"))
        self.create(turns.training("short", "real", 25, folder))
        wait_for("the short one to be known", lambda: self.has_its_end("short"))
        # The user stops the short training, and another one takes its GPU.
        workload = self.workload("short")["metadata"]["name"]
        self.cluster.patch("workload", workload, {"spec": {"active": False}})
        self.create(turns.training("later", "real", 3600, folder))
        wait_for("the other one to be known", lambda: self.has_its_end("later"))
        self.cluster.patch("workload", workload, {"spec": {"active": True}})
        self.await_ordered("real", 3)
        self.by_a_round("real", "the short one to have its turn",
                        lambda: not self.cluster.get("job", "short")["spec"]["suspend"])
        wait_for("the short one to finish", lambda: turns.all_completed(self.cluster, ["short"]))
        self.assertEqual(turns.lost_iterations(turns.runs(folder, "short")), [0])
        # The short training's log also shows it.
        again = wait_for("the event", lambda: [int(count) for message in self.cluster.events("short")
                                               for count in re.findall(r": (\d+) iterations are repeated", message)])
        self.assertEqual(again, [0])
        # One of the long trainings gave way, and resumed where it was.
        long = [turns.runs(folder, name) for name in ("long", "later")]
        gave_way = [history[0] for history in long if history[0][1]]
        self.assertEqual(len(gave_way), 1)
        wait_for("it to run again",
                 lambda: [len(turns.runs(folder, name)) for name in ("long", "later")] in ([1, 2], [2, 1]))
        for name in ("long", "later"):
            self.assertEqual(sum(turns.lost_iterations(turns.runs(folder, name))), 0)


if __name__ == "__main__":
    failures.main()
