"""Elastic Jobs in a Kueue queue (docs/internals/optimus.md): workers move from running jobs to one
that arrives and to those that gain most by them, and never exceed the quota. Uses a simulated node
and, with trainings that write checkpoints, a real one."""

import collections
import shutil

import elastic
import failures
import fungible
import queues
import trainers
import turns
from cluster import wait_for

GPUS = 4  # in each queue
REAL_ROUND = 8  # seconds, for real trainings
RESTART = 2  # seconds that a restart costs a training on the real node
STEP = 200  # milliseconds of one worker's GPU per iteration


def endless(name, workers, **bounds):
    """Returns a Job for the simulated node."""
    pod = fungible.pod("x", "sensitive")
    return elastic.elastic(name, "simulated", workers, {"metadata": {}, "spec": pod["spec"]}, **bounds)


def training(name, seconds, folder):
    """Returns a Job for the real node. `seconds`: how long its work takes one worker, with which it
    starts."""
    return elastic.training(name, "real", 1, round(seconds * 1000 / STEP), folder, STEP)


class OptimusTest(queues.QueueTest):
    """Kubeflow Trainer is absent, although the controller's configuration names it: no turn may
    depend on it."""

    gpus = GPUS
    objects = (queues.FLAVOR, *queues.of_turns("simulated", GPUS), *queues.of_turns("real", GPUS), fungible.SENSITIVE,
               turns.PROFILE)

    def folder(self, name):
        """Returns an empty folder for checkpoints."""
        folder = self.cluster.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def jobs(self):
        return {item["metadata"]["name"]: item for item in self.cluster.get("jobs")["items"]}

    def running(self):
        """Returns job -> number of workers, for the Jobs that are not suspended and whose pods all
        run."""
        pods = [item for item in self.cluster.get("pods")["items"] if trainers.is_running(item)
                and not item["metadata"].get("deletionTimestamp")]
        count = collections.Counter(item["metadata"]["labels"].get("batch.kubernetes.io/job-name") for item in pods)
        return {name: item["spec"]["parallelism"] for name, item in self.jobs().items()
                if not item["spec"]["suspend"] and count[name] == item["spec"]["parallelism"]}

    def await_workers(self, **expected):
        wait_for(f"workers {expected}", lambda: self.running() == expected)

    def test_an_arrival_gets_workers_and_a_stopped_job_stays_stopped(self):
        self.order("simulated", "fifo", workers="Elastic")
        self.create(endless("a", 2), endless("b", 2))
        self.await_workers(a=2, b=2)
        self.create(endless("stopped", 3))
        wait_for("it to be queued", lambda: "stopped" in self.workloads("simulated"))
        self.cluster.patch("workload", self.workload("stopped")["metadata"]["name"], {"spec": {"active": False}})
        with elastic.Watcher(self.cluster, "simulated") as watcher:
            self.create(endless("c", 2))
            self.await_ordered("simulated", 3)
            # Their speeds are unknown: each gets its least size, and the first keeps the rest.
            self.by_a_round("simulated", "all to run", lambda: self.running() == {"a": 2, "b": 1, "c": 1})
            self.begin_round("simulated")
            self.begin_round("simulated")
        self.assertEqual(self.running(), {"a": 2, "b": 1, "c": 1})
        self.assertEqual(watcher.most, GPUS)
        self.assertEqual(watcher.sizes, {"a": [2], "b": [2, 1], "c": [2, 1], "stopped": [3]})
        self.assertTrue(self.jobs()["stopped"]["spec"]["suspend"])
        self.assertIs(self.workload("stopped")["spec"]["active"], False)
        read = wait_for("the event",
                        lambda: [text for text in self.cluster.events("b") if text.startswith("from 2 to 1 workers: ")])
        self.assertEqual(len(read), 1)
        # A running job is protected again, by its priority.
        self.assertEqual({name: self.workload(name)["spec"]["priority"] for name in "abc"}, dict.fromkeys("abc", 1))

    def test_users_changes_stay_and_kueue_continues_without_a_leader(self):
        self.order("simulated", "fifo", workers="Elastic")
        self.create(endless("a", 2))
        self.await_workers(a=2)
        self.begin_round("simulated")
        self.cluster.patch("job", "a", {"spec": {"parallelism": 3, "completions": 3}})
        self.await_workers(a=3)
        self.begin_round("simulated")
        self.begin_round("simulated")
        self.assertEqual(self.running(), {"a": 3})
        # The state is as if the controller had been killed after its last write.
        self.stop_controller()
        self.cluster.patch("job", "a", {"spec": {"suspend": True, "parallelism": 1, "completions": 1}})
        self.await_workers(a=1)
        self.start_controller()
        wait_for("the band to be written again", lambda: self.workload("a")["spec"].get("priority") == 1)
        self.begin_round("simulated")
        self.assertEqual(self.running(), {"a": 1})

    def test_the_controller_may_change_nothing_else_of_jobs(self):
        rigid = endless("rigid", 2, most=2)
        del rigid["metadata"]["annotations"][elastic.MOST]
        self.create(endless("a", 2), rigid)
        self.assertFalse(self.may("update", "batch", "jobs"))
        self.assertTrue(self.may("patch", "batch", "jobs"))
        # It has these rights for pre-runs.
        for refused in (self.refusal("POST", "job", None, endless("other", 2)), self.refusal("DELETE", "job", "a")):
            self.assertIn("may only create and delete trials", refused)

        def asked(name, **spec):
            return self.refusal("PATCH", "job", name, {"spec": spec})

        self.assertIn("have the annotations", asked("rigid", suspend=True, parallelism=1, completions=1))
        self.assertIn("within the range of its annotations", asked("a", suspend=True, parallelism=9, completions=9))
        self.assertIn("within the range of its annotations", asked("a", suspend=False, parallelism=1, completions=1))
        self.assertIn("may only change spec.suspend", asked("a", suspend=True, parallelism=1, completions=1,
                                                            backoffLimit=0))
        self.assertEqual(asked("a", suspend=True, parallelism=1, completions=1), "")
        # The controller may suspend any Job whose retries are futile.
        for name in ("a", "rigid"):
            noted = {"metadata": {"annotations": {"synergy.io/retries-stopped": "now"}}, "spec": {"suspend": True}}
            self.assertEqual(self.refusal("PATCH", "job", name, noted), "")
            noted["metadata"]["annotations"][elastic.MOST] = "9"
            self.assertIn("may only change annotations of its own", self.refusal("PATCH", "job", name, noted))

    def test_a_job_near_its_target_loss_gives_workers_to_one_far_from_it(self):
        """Both jobs have the same number of iterations and are equally fast; their logs show the
        same losses."""
        folder = self.folder("losses")
        self.create(queues.round_policy("real", "fifo", REAL_ROUND, workers="Elastic"),
                    *(elastic.training(name, "real", 2, 1_000_000, folder, STEP, half_loss=200, loss=loss)
                    for name, loss in (("near", 0.1), ("far", 0.001))))
        self.await_workers(near=1, far=3)

    def test_real_trainings_give_workers_to_one_that_arrives_lose_nothing_and_all_finish(self):
        folder = self.folder("checkpoints")
        work = {"a": 100, "b": 100, "c": 30}
        with elastic.Watcher(self.cluster, "real") as watcher:
            self.create(queues.round_policy("real", "fifo", REAL_ROUND, cost=RESTART, workers="Elastic"),
                        *(training(name, work[name], folder) for name in "ab"))
            wait_for("both to grow", lambda: min(self.running().get(name, 0) for name in "ab") >= 2)
            self.create(training("c", work["c"], folder))
            times = wait_for("all to finish", lambda: turns.all_completed(self.cluster, "abc"), 900)
        print(f"completion times {times}; workers: {dict(watcher.sizes)}", flush=True)
        self.assertLessEqual(watcher.most, GPUS)
        self.assertIn(1, watcher.sizes["a"][1:] + watcher.sizes["b"][1:],
                      "nobody gave a worker to the one that arrived")
        for name, seconds in work.items():
            history = turns.runs(folder, name)
            self.assertEqual(history[-1][1][-1][1], round(seconds * 1000 / STEP))
            self.assertEqual(turns.lost_iterations(history), [0] * (len(history) - 1))


if __name__ == "__main__":
    failures.main()
