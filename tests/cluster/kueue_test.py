"""Synergy beside Kueue: single Pods that Kueue manages keep what they were created with, since Kueue deletes them when
their containers change; pods of Jobs that it manages are like all others; RoundPolicies say whose turn it is. On a
simulated node; and trainings that write checkpoints take turns on a real one."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import time
import unittest
import urllib.request

import fungible
import queues
import trainers
import turns
from cluster import GPU, Extender, own_cluster, wait_for
from fungible import INSENSITIVE, SENSITIVE
from queues import CLASS, QUEUE

INSTANCE = int(os.environ.get("SYNERGY_TEST_INSTANCE", "10"))
MANAGED = "kueue.x-k8s.io/managed"
SHARE = "3"  # CPU of a node for each of its GPUs
WATCHED = 30  # seconds
ROUND = 8  # seconds
ROUNDS = "synergy.io/rounds"
CHECKPOINTS = {"synergy.io/checkpoint": "true"}
REAL_GPUS = 2
TEAM = 10  # the value of a class of priority
SAVES = fungible.profile("saves", (1, 1), (3, 3))
SAVES["spec"]["checkpoints"] = True


def queued(item, name="queue"):
    item["metadata"].setdefault("labels", {})[QUEUE] = name
    return item


def training(name, annotations, queue="turns", **spec):
    """A Job of one GPU that trains for ever, in the queue of which one has its turn, or in that one."""
    template = fungible.pod("x", "sensitive", annotations, **spec)
    return queued({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
                   "spec": {"template": {"metadata": {"annotations": annotations}, "spec": template["spec"]}}}, queue)


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
            folder, INSTANCE, "--real-nodes", "1", "--simulated-nodes", "1", "--controller", os.environ["SYNERGY_BIN"], "--agents", "--kueue"))
        trainers.load_image(cls.cluster)
        trainers.advertise_gpus(cls.cluster, REAL_GPUS)
        cls.cluster.create(queues.FLAVOR, *queues.queue("queue"), *queues.of_turns("turns", 1), *queues.of_turns("two", 2),
                           *queues.of_turns("real", REAL_GPUS),
                           queues.priority_class("team", TEAM), SENSITIVE, SAVES, turns.PROFILE)
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

    def take_turns(self, *jobs):
        """Has the jobs in a queue whose only GPU goes to whoever has had least."""
        self.cluster.create(queues.round_policy("turns", "las", ROUND), *jobs)
        for job in jobs:
            self.addCleanup(self.cluster.kubectl, "delete", "job", job["metadata"]["name"])
        self.addCleanup(self.cluster.kubectl, "delete", "roundpolicy", "turns", "--ignore-not-found")

    def workloads(self, queue="turns"):
        """Those that take turns, by the name of their Jobs."""
        return {item["metadata"]["ownerReferences"][0]["name"]: item for item in self.cluster.get("workloads")["items"]
                if item["spec"]["queueName"] == queue}

    def on_turn(self, queue="turns"):
        """The Jobs that are not suspended."""
        return {item["metadata"]["name"] for item in self.cluster.get("jobs")["items"]
                if item["metadata"]["labels"][QUEUE] == queue and not item["spec"]["suspend"]}

    def await_turn(self, name):
        wait_for(f"{name} to have its turn", lambda: self.on_turn() == {name}, 4 * ROUND + 30)

    def synergy(self, *arguments):
        done = subprocess.run([str(pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy"), *arguments, "--output", "json"],
                              env=self.cluster.environment, check=True, capture_output=True)
        return json.loads(done.stdout)

    def priorities(self, queue="turns"):
        return {name: item["spec"].get("priority", 0) for name, item in self.workloads(queue).items()}

    def test_jobs_that_checkpoint_take_turns_and_have_their_priorities_back(self):
        jobs = [training("a", CHECKPOINTS), training("b", {})]
        # Of the second its profile says it.
        jobs[1]["spec"]["template"]["metadata"]["labels"] = {"synergy.io/profile": SAVES["metadata"]["name"]}
        for job in jobs:
            job["metadata"]["labels"][CLASS] = "team"
        self.take_turns(*jobs)
        for name in ("b", "a", "b"):
            self.await_turn(name)
            self.assertEqual(self.priorities()[name], TEAM + 1)
        had = {name: json.loads(item["metadata"]["annotations"][ROUNDS]).get("served", 0) for name, item in self.workloads().items()}
        self.assertGreater(had["a"], 0)
        # Who has its turn, who is next, and what both have waited for.
        shown = self.synergy("queue", "turns")[0]
        self.assertEqual([(item["job"], item["band"], item["place"]) for item in shown["workloads"]], [("b", "runs", None), ("a", "next", 1)])
        told = self.synergy("explain", "job", "a")
        self.assertEqual((told["job"]["state"], told["job"]["why"]), ("waits", "it is next when GPUs become free"))
        self.assertGreaterEqual(told["job"]["service"]["attainedGpuSeconds"], had["a"])
        # The first as well, where it was given its turn before it had to leave it.
        self.assertIn(told["job"]["service"]["lostTurns"], (1, 2))
        self.assertGreater(told["job"]["service"]["fairShareDelaySeconds"], 1)
        lost = [event["message"] for event in told["events"] if event["reason"] == "SynergyTurnLost"]
        self.assertIn("its turn goes to b; it had 1 GPUs for ", lost[0])
        status = self.cluster.get("roundpolicy", "turns")["status"]
        self.assertEqual([(entry["type"], entry["status"]) for entry in status["conditions"]], [("Ready", "True")])
        self.assertEqual([(entry["name"], entry["gpus"]) for entry in status["queues"]], [("turns", 1)])
        # Nobody decides: who has its turn keeps it, for as long as it takes.
        self.addCleanup(self.cluster.script, "start", "synergy-controller")
        self.cluster.script("stop", "synergy-controller", "KILL")
        holder = self.on_turn()
        for _ in range(2 * ROUND):
            time.sleep(1)
            self.assertEqual(self.on_turn(), holder, "somebody was suspended though nobody knows whose turn it is")
        self.cluster.script("start", "synergy-controller")
        self.await_turn(*({"a", "b"} - holder))
        # What they have had is not forgotten.
        for name, item in self.workloads().items():
            self.assertGreaterEqual(json.loads(item["metadata"]["annotations"][ROUNDS]).get("served", 0), had[name])
        self.cluster.kubectl("delete", "roundpolicy", "turns")
        wait_for("the priorities to come back", lambda: self.priorities() == {"a": TEAM, "b": TEAM})
        holder = self.on_turn()
        for item in self.workloads().values():
            self.assertNotIn(ROUNDS, item["metadata"].get("annotations", {}))
        time.sleep(ROUND)
        self.assertEqual(self.on_turn(), holder)

    def test_a_job_that_does_not_checkpoint_and_a_plain_pod_run_to_their_end(self):
        # Kueue does not suspend pods, it deletes them.
        plain = queued(fungible.pod("plain", "sensitive", CHECKPOINTS), "two")
        self.cluster.create(queues.round_policy("two", "las", ROUND), training("stays", {}, "two"), plain)
        for kind, name in (("job", "stays"), ("job", "later"), ("roundpolicy", "two")):
            self.addCleanup(self.cluster.kubectl, "delete", kind, name, "--ignore-not-found")
        self.running("plain")
        wait_for("the job to have its turn", lambda: self.on_turn("two") == {"stays"})
        uid = self.pod("plain")["metadata"]["uid"]
        self.cluster.create(training("later", CHECKPOINTS, "two"))
        wait_for("all to be known", lambda: self.priorities("two") == {"stays": 1, "plain": 1, "later": 0})
        for _ in range(2 * ROUND):
            time.sleep(1)
            self.assertEqual(self.on_turn("two"), {"stays"})
            self.assertEqual((uid, "Running"), (self.pod("plain")["metadata"]["uid"], self.pod("plain")["status"]["phase"]))

    def test_a_job_that_has_quota_and_finds_no_node_is_told_so(self):
        self.take_turns(training("nowhere", {}, nodeSelector={"no": "such-node"}))
        self.await_turn("nowhere")
        delayed = wait_for("its wait to count", lambda: (told := self.synergy("explain", "job", "nowhere")["job"])
                           and (told["service"] or {}).get("fragmentationDelaySeconds", 0) > 2 and told)
        self.assertEqual((delayed["state"], delayed["band"]), ("unplaced", "runs"))
        self.assertEqual(delayed["podsWithoutNode"], list(self.cluster.pods()))
        self.assertLess(delayed["service"]["fairShareDelaySeconds"], delayed["service"]["fragmentationDelaySeconds"] + 10)

    def train(self, order, **work):
        """Creates real trainings with so many seconds of work, as a round begins, in a queue of two GPUs; returns their folder and when."""
        folder = self.cluster.folder / "checkpoints" / order
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        wait_for("the queue to be empty", lambda: not any(item["spec"]["queueName"] == "real" for item in self.cluster.get("workloads")["items"]))
        self.cluster.create(queues.round_policy("real", order, ROUND))
        self.addCleanup(self.cluster.kubectl, "delete", "roundpolicy", "real")
        time.sleep(ROUND - time.time() % ROUND)
        for name, seconds in work.items():
            self.cluster.create(turns.training(name, "real", seconds, folder))
            self.addCleanup(self.cluster.kubectl, "delete", "job", name)
        return folder, time.time()

    def test_trainings_on_a_real_node_take_turns_lose_nothing_and_all_finish(self):
        # Three rounds each: in the second one, or the third, each of the first two has had more than another one.
        seconds = 3 * ROUND
        work = dict.fromkeys("abc", seconds)
        folder, created = self.train("las", **work)
        real = wait_for("all to finish", lambda: turns.all_completed(self.cluster, work), 240)
        histories = [turns.runs(folder, name) for name in work]
        for history in histories:
            self.assertEqual(history[-1][1][-1][1], seconds * turns.PER_SECOND)
            self.assertEqual(turns.lost_iterations(history), [0] * (len(history) - 1))
        # Who came last did not wait for another one's end, and more than one was interrupted.
        self.assertLess(max(history[0][0][0] for history in histories), min(history[-1][1][-1][0] for history in histories))
        self.assertGreaterEqual(sum(map(len, histories)), len(work) + 2)
        times, cost = turns.beside_simulator(self.cluster.folder, histories, real.values(), work.values(), created, REAL_GPUS, "las", ROUND)
        print(f"completion times under las, and by the simulator (a start costs {cost:.1f} s): {times}", flush=True)

    def knows_its_end(self, name):
        """Whether the controller has heard from the node, for some seconds, how long it still needs."""
        with urllib.request.urlopen(self.cluster.environment["SYNERGY_CONTROLLER_URL"] + "/progress", timeout=10) as answer:
            pods = json.load(answer).get("pods") or []
        return any(pod["name"].startswith(name + "-") and pod.get("remaining") and pod["iteration"] >= 5 * turns.PER_SECOND
                   for pod in pods)

    def test_the_shortest_training_on_a_real_node_takes_a_turn_and_finishes_first(self):
        folder, _ = self.train("srtf", short=25, long=300)
        wait_for("both to be known", lambda: self.knows_its_end("short") and self.knows_its_end("long"))
        # Its user stops the short one, and another one takes its GPU.
        workload = next(item["metadata"]["name"] for item in self.cluster.get("workloads")["items"]
                        if item["metadata"]["ownerReferences"][0]["name"] == "short")
        self.cluster.kubectl("patch", "workload", workload, "--type", "merge", "--patch", '{"spec": {"active": false}}')
        self.cluster.create(turns.training("later", "real", 300, folder))
        self.addCleanup(self.cluster.kubectl, "delete", "job", "later")
        wait_for("the other one to be known", lambda: self.knows_its_end("later"))
        self.cluster.kubectl("patch", "workload", workload, "--type", "merge", "--patch", '{"spec": {"active": true}}')
        wait_for("the short one to finish", lambda: turns.all_completed(self.cluster, ["short"]), 120)
        self.assertEqual(turns.lost_iterations(turns.runs(folder, "short")), [0])
        # By its log, too.
        again = [int(count) for message in self.cluster.events("short") for count in re.findall(r": (\d+) iterations are done again", message)]
        self.assertEqual(again, [0])
        # One of the long ones gave way, and goes on where it was.
        long = [turns.runs(folder, name) for name in ("long", "later")]
        gave_way = [history[0] for history in long if history[0][1]]
        self.assertEqual(len(gave_way), 1)
        wait_for("it to run again", lambda: [len(turns.runs(folder, name)) for name in ("long", "later")] in ([1, 2], [2, 1]))
        for name in ("long", "later"):
            self.assertEqual(sum(turns.lost_iterations(turns.runs(folder, name))), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
