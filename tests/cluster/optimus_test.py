"""Elastic Jobs in a queue of Kueue's (docs/optimus.md): workers go from those that run to one that arrives and to those that gain
by them, and never to more than the quota. On a simulated node, and trainings that write checkpoints on a real one."""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import time
import unittest

import elastic
import fungible
import queues
import trainers
import turns
from cluster import Extender, own_cluster, wait_for

INSTANCE = int(os.environ.get("SYNERGY_TEST_INSTANCE", "9"))
ROUND = 12  # seconds
GPUS = 4  # of each queue
RESTART = 5  # seconds that it costs a training on the real node
STEP = 200  # milliseconds of one worker's GPU for an iteration
CONTROLLER = "synergy-controller"


def endless(name, workers, **bounds):
    """On a simulated node."""
    pod = fungible.pod("x", "sensitive")
    return elastic.elastic(name, "simulated", workers, {"metadata": {}, "spec": pod["spec"]}, **bounds)


def training(name, seconds, folder):
    """On the real node, with work for so long for one worker, with which it comes."""
    return elastic.training(name, "real", 1, round(seconds * 1000 / STEP), folder, STEP)


class OptimusTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(os.environ["SYNERGY_TEST_STATE"]) / "optimus"
        cls.cluster = cls.enterClassContext(own_cluster(
            folder, INSTANCE, "--real-nodes", "1", "--simulated-nodes", "1", "--controller", os.environ["SYNERGY_BIN"], "--agents", "--kueue"))
        trainers.load_image(cls.cluster)
        trainers.advertise_gpus(cls.cluster, GPUS)
        cls.cluster.create(queues.FLAVOR, *queues.of_turns("simulated", GPUS), *queues.of_turns("real", GPUS), fungible.SENSITIVE, turns.PROFILE)
        wait_for("the profile to be judged", lambda: cls.cluster.get("tp", "sensitive").get("status", {}).get("demand"))
        # As where Trainer is not there any more: nobody's turn may hang on it.
        settings = cls.cluster.state / "synergy-controller.yaml"
        settings.write_text(settings.read_text(encoding="utf-8").replace("elasticTrainJobs: false", "elasticTrainJobs: true"), encoding="utf-8")
        cls.cluster.script("restart", CONTROLLER)
        cls.extender = Extender(cls.cluster)
        cls.extender.start()
        cls.addClassCleanup(cls.extender.log.close)
        cls.addClassCleanup(cls.extender.end)

    def setUp(self):
        self.addCleanup(self.cluster.clear)

    def divide(self, queue, *jobs, cost=1):
        """By gain, a second after a round began."""
        self.cluster.create(queues.round_policy(queue, "optimus", ROUND, cost=cost))
        self.addCleanup(self.cluster.kubectl, "delete", "roundpolicy", queue)
        wait_for("the queue to be ordered", lambda: self.cluster.get("roundpolicy", queue).get("status", {}).get("queues", [{}])[0].get("ready"))
        self.await_round()
        self.add(*jobs)

    def add(self, *jobs):
        for job in jobs:
            self.addCleanup(self.cluster.kubectl, "delete", "job", job["metadata"]["name"], "--ignore-not-found")
        self.cluster.create(*jobs)

    def await_round(self):
        time.sleep(ROUND - time.time() % ROUND + 1)

    def jobs(self):
        return {item["metadata"]["name"]: item for item in self.cluster.get("jobs")["items"]}

    def running(self):
        """Workers of each Job that is not suspended, once that many pods of it run."""
        pods = [item for item in self.cluster.get("pods")["items"] if trainers.is_running(item) and not item["metadata"].get("deletionTimestamp")]
        count = collections.Counter(item["metadata"]["labels"].get("batch.kubernetes.io/job-name") for item in pods)
        return {name: item["spec"]["parallelism"] for name, item in self.jobs().items()
                if not item["spec"]["suspend"] and count[name] == item["spec"]["parallelism"]}

    def await_workers(self, **expected):
        wait_for(f"workers {expected}", lambda: self.running() == expected, 4 * ROUND + 30)

    def workload(self, job):
        return next(item for item in self.cluster.get("workloads")["items"] if item["metadata"]["ownerReferences"][0]["name"] == job)

    def patch(self, kind, name, change, *options, check=True):
        return self.cluster.kubectl("patch", kind, name, "--type", "merge", "--patch", json.dumps(change), *options, check=check)

    def test_one_that_arrives_gets_workers_of_those_that_run_within_the_quota_and_who_was_stopped_stays_so(self):
        self.divide("simulated", endless("a", 2), endless("b", 2))
        self.await_workers(a=2, b=2)
        self.add(endless("stopped", 3))
        wait_for("it to be queued", lambda: any(item["metadata"]["ownerReferences"][0]["name"] == "stopped"
                                                for item in self.cluster.get("workloads")["items"]))
        self.patch("workload", self.workload("stopped")["metadata"]["name"], {"spec": {"active": False}})
        with elastic.Watcher(self.cluster, "simulated") as watcher:
            self.add(endless("c", 2))
            # Nobody knows how fast they are: each has its least, and what is left over who came first keeps.
            self.await_workers(a=2, b=1, c=1)
            self.await_round()
            self.await_round()
        print(f"{watcher.looks} looks; workers: {dict(watcher.sizes)}", flush=True)
        self.assertEqual(self.running(), {"a": 2, "b": 1, "c": 1})
        self.assertGreater(watcher.looks, 50)
        self.assertLessEqual(watcher.most, GPUS)
        self.assertEqual(watcher.sizes, {"a": [2], "b": [2, 1], "c": [2, 1], "stopped": [3]})
        self.assertTrue(self.jobs()["stopped"]["spec"]["suspend"])
        self.assertIs(self.workload("stopped")["spec"]["active"], False)
        told = [message for message in self.cluster.events("b") if message.startswith("from 2 to 1 workers: ")]
        self.assertEqual(len(told), 1)
        # Who runs is protected again.
        self.assertEqual({name: self.workload(name)["spec"]["priority"] for name in "abc"}, dict.fromkeys("abc", 1))

    def test_what_a_user_makes_of_a_job_stays_and_kueue_goes_on_while_nobody_decides(self):
        self.divide("simulated", endless("a", 2))
        self.await_workers(a=2)
        self.await_round()
        self.patch("job", "a", {"spec": {"parallelism": 3, "completions": 3}})
        self.await_workers(a=3)
        self.await_round()
        self.await_round()
        self.assertEqual(self.running(), {"a": 3})
        # As if it had been killed with what it wrote last.
        self.addCleanup(self.cluster.script, "start", CONTROLLER)
        self.cluster.script("stop", CONTROLLER, "KILL")
        self.patch("job", "a", {"spec": {"suspend": True, "parallelism": 1, "completions": 1}})
        self.await_workers(a=1)
        self.cluster.script("start", CONTROLLER)
        wait_for("the band to be written again", lambda: self.workload("a")["spec"].get("priority") == 1, 4 * ROUND + 30)
        self.await_round()
        self.assertEqual(self.running(), {"a": 1})

    def test_the_controller_may_change_nothing_else_of_jobs(self):
        self.add(endless("a", 2), endless("rigid", 2, most=2))
        self.cluster.kubectl("annotate", "job", "rigid", "synergy.io/max-workers-")
        for verb in ("create", "delete", "update"):
            self.assertEqual(self.cluster.kubectl("auth", "can-i", verb, "jobs", "--as", CONTROLLER, check=False).strip(), "no")

        def asked(name, **spec):
            command = [self.cluster.environment.get("SYNERGY_KUBECTL", "kubectl"), "patch", "job", name, "--type", "merge", "--as", CONTROLLER,
                       "--patch", json.dumps({"spec": spec})]
            return subprocess.run(command, env=self.cluster.environment, capture_output=True, text=True, check=False).stderr

        self.assertIn("have the annotations", asked("rigid", suspend=True, parallelism=1, completions=1))
        self.assertIn("as its annotations allow", asked("a", suspend=True, parallelism=9, completions=9))
        self.assertIn("as its annotations allow", asked("a", suspend=False, parallelism=1, completions=1))
        self.assertIn("and nothing else", asked("a", suspend=True, parallelism=1, completions=1, backoffLimit=0))
        self.assertEqual(asked("a", suspend=True, parallelism=1, completions=1), "")

    def test_who_is_near_the_loss_that_it_wants_gives_workers_to_who_is_far_from_it(self):
        """Both count to the same number of iterations, and are as fast; their logs tell the same losses."""
        folder = self.cluster.folder / "losses"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        jobs = [elastic.training(name, "real", 2, 1_000_000, folder, STEP, half_loss=200, loss=loss)
                for name, loss in (("near", 0.1), ("far", 0.001))]
        self.divide("real", *jobs, cost=1)
        self.await_workers(near=1, far=3)

    def test_real_trainings_give_workers_to_one_that_arrives_lose_nothing_and_all_finish(self):
        folder = self.cluster.folder / "checkpoints"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        with elastic.Watcher(self.cluster, "real") as watcher:
            self.divide("real", training("a", 240, folder), training("b", 240, folder), cost=RESTART)
            wait_for("both to grow", lambda: min(self.running().get(name, 0) for name in "ab") >= 2, 8 * ROUND)
            self.add(training("c", 90, folder))
            times = wait_for("all to finish", lambda: turns.all_completed(self.cluster, "abc"), 420)
        print(f"completion times {times}; {watcher.looks} looks; workers: {dict(watcher.sizes)}", flush=True)
        self.assertLessEqual(watcher.most, GPUS)
        self.assertIn(1, watcher.sizes["a"][1:] + watcher.sizes["b"][1:], "nobody gave a worker to the one that arrived")
        for name, seconds in (("a", 240), ("b", 240), ("c", 90)):
            history = turns.runs(folder, name)
            self.assertEqual(history[-1][1][-1][1], round(seconds * 1000 / STEP))
            self.assertEqual(turns.lost_iterations(history), [0] * (len(history) - 1))
            self.assertLess(times[name], seconds if name != "c" else 240, "it had no more than one worker")


if __name__ == "__main__":
    unittest.main(verbosity=2)
