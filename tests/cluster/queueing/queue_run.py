"""Measures how long jobs take that take turns in a Kueue queue on simulated nodes, on a real
control plane and in `synergy simulate`.

Simulated pods do nothing, so this module computes their work. While a job's pod runs, its training
proceeds at the profile's speed for the amounts in force. It resumes where it was when the job has
its next turn, and ends the pod when its work is done. A stand-in agent on each node reports how
long each training still takes.
"""

import contextlib
import csv
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import queues
import replay
from api import PODS, Api, ApiError, PodWatch
from cluster import GPU, free_port, wait_for
from queues import QUEUE
from stand_in_agent import StandInAgent

BATCH = "/apis/batch/v1/namespaces/default/jobs"
START = 2  # seconds after each start without iterations
REPORTED_EVERY = 0.5  # seconds


def job(name, queue, model, gpus):
    labels = {"synergy.io/profile": model, "synergy.io/enforcement": "strict"}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": {QUEUE: queue}},
            "spec": {"backoffLimit": 0, "template": {
                "metadata": {"labels": labels, "annotations": {"synergy.io/checkpoint": "true"}},
                "spec": {"schedulerName": "synergy-scheduler", "restartPolicy": "Never",
                         "terminationGracePeriodSeconds": 0,
                         "containers": [{"name": "train", "image": "synergy.test/busybox:1",
                                         "resources": {"limits": {GPU: str(gpus)}}}]}}}}


@contextlib.contextmanager
def agents_of(cluster, nodes):
    """Runs an agent for each of these nodes. Yields node -> agent."""
    with contextlib.ExitStack() as stack:
        port = free_port()
        yield {node: stack.enter_context(StandInAgent(cluster, node, f"127.0.0.{2 + number}", port))
               for number, node in enumerate(nodes)}


class QueueRun:
    """Creates the jobs as they arrive, and ends each when its work is done. `agents`: node ->
    agent."""

    def __init__(self, cluster, queue, jobs, fair_share, agents):
        self.cluster, self.queue, self.jobs, self.agents = cluster, queue, jobs, agents
        self.trainings = {f"job-{number}": replay.Training(model, gpus, seconds, fair_share)
                          for number, model, _, gpus, seconds in jobs}
        self.running = {}  # job -> uid of its pod
        self.created, self.bound = {}, {}  # uid of a pod -> time
        self.placed, self.started = [], []  # seconds that the bind and the start of each pod took
        self.starts = 0
        self.own = threading.local()
        self.seen = 0

    def run(self, seconds=1800):
        deadline = time.monotonic() + seconds
        with PodWatch(Api(self.cluster)) as watch, ThreadPoolExecutor(4) as callers:
            calls, arriving, reported = [], list(self.jobs), 0
            began = time.monotonic()
            while any(training.ended is None for training in self.trainings.values()):
                now = time.monotonic()
                while arriving and began + arriving[0][2] <= now:
                    number, model, _, gpus, _ = arriving.pop(0)
                    name = f"job-{number}"
                    self.trainings[name].created = now
                    calls.append(callers.submit(self.call, "POST", BATCH, job(name, self.queue, model, gpus)))
                self.follow(watch)
                calls += [callers.submit(self.end, pod) for pod in self.finished()]
                if now - reported > REPORTED_EVERY:
                    self.report()
                    reported = now
                if now > deadline:
                    left = [name for name, training in self.trainings.items() if training.ended is None]
                    raise AssertionError(f"after {seconds} s: {left}")
                with watch.news:
                    watch.news.wait(0.01)
            for call in calls:
                call.result()
        self.cluster.delete("jobs")
        wait_for("the queue to be empty", lambda: not self.cluster.get("workloads")["items"])

    def call(self, *arguments):
        """Makes a call with this thread's client, whose calls share a connection."""
        if not hasattr(self.own, "api"):
            self.own.api = Api(self.cluster)
        return self.own.api.call(*arguments)

    def end(self, pod):
        try:
            self.call("PATCH", f"{PODS}/{pod}", {"metadata": {"annotations": {"synergy.test/run-seconds": "0"}}},
                      "application/merge-patch+json")
        except ApiError as error:
            if error.status != 404:  # the job has just lost its turn
                raise

    def follow(self, watch):
        with watch.news:
            events, self.seen = watch.events[self.seen:], len(watch.events)
        for moment, kind, item in events:
            name, uid = item["metadata"].get("labels", {}).get("job-name"), item["metadata"]["uid"]
            training = self.trainings.get(name)
            if training is None or training.ended is not None:
                continue
            self.created.setdefault(uid, moment)
            if kind == "DELETED" or item["metadata"].get("deletionTimestamp"):
                self.stop(name, uid, moment)
                continue
            if item["spec"].get("nodeName") and uid not in self.bound:
                self.bound[uid] = moment
                self.placed.append(moment - self.created[uid])
            given = replay.in_force(item)
            if given is not None and item["status"].get("phase") == "Running":
                self.go_on(name, item, given, moment)

    def stop(self, name, uid, moment):
        if self.running.get(name, (None, None))[0] != uid:
            return
        del self.running[name]
        training = self.trainings[name]
        training.work(max(moment, training.at))
        training.speed = 0.0

    def go_on(self, name, item, given, moment):
        training, uid = self.trainings[name], item["metadata"]["uid"]
        if self.running.get(name, (None, None))[0] != uid:
            self.running[name] = (uid, item["spec"]["nodeName"], item["metadata"]["name"])
            self.starts += 1
            self.started.append(moment - self.bound[uid])
            training.started, training.at, training.speed = moment, moment + START, 0.0
        training.give(given, max(moment, training.at))

    def finished(self):
        """Returns the pods whose trainings have just completed their work."""
        now = time.monotonic()
        for name, (_, _, pod) in self.running.items():
            training = self.trainings[name]
            if training.ended is not None or now < training.at:
                continue
            training.work(now)
            if training.left <= 0:
                training.ended = now
                yield pod

    def report(self):
        reports = {node: {} for node in self.agents}
        for name, (uid, node, _) in self.running.items():
            training = self.trainings[name]
            if training.speed and training.left > 0:
                left = training.left / training.speed
                reports[node][uid] = {"uid": uid, "format": "tqdm", "remaining": round(left * 1e9)}
        for node, agent in self.agents.items():
            agent.reports = reports[node]

    def mean(self):
        return statistics.mean(training.ended - training.created for training in self.trainings.values())


def run(cluster, queue, policy, round_seconds, least, jobs, fair_share, agents):
    """Runs these jobs in that queue under that policy; returns the run."""
    cluster.create(queues.round_policy(queue, policy, round_seconds, least, START))
    wait_for("the queue to be ordered", lambda: cluster.get("roundpolicy", queue).get("status", {}).get(
        "queues", [{}])[0].get("ready"))
    course = QueueRun(cluster, queue, jobs, fair_share, agents)
    course.run()
    cluster.delete("roundpolicy", queue)
    return course


def simulated_mean(cluster, folder, policy, round_seconds, least, jobs, courses):
    """Returns the mean completion time that the simulator predicts with the latencies of these
    runs."""
    latencies = {"schedule": 0.01, "bind": statistics.median(sum((each.placed for each in courses), [])) - 0.01,
                 "start": statistics.median(sum((each.started for each in courses), []))}
    trace, times = folder / "queue.csv", folder / "queue-jobs.csv"
    replay.write_trace(trace, jobs)
    replay.synergy(cluster, "simulate", "--cluster", folder / "cluster.json", "--trace", trace,
                   "--mechanism", "synergy-strict", "--policy", policy, "--kueue",
                   "--queue-rounds", f"length={round_seconds}s,least-run={least}s",
                   "--round", f"{replay.ROUND}s", "--restart-cost", f"{START}s",
                   "--latency", replay.latency_text(latencies), "--jobs-csv", times, "--quiet")
    with open(times, encoding="utf-8") as file:
        return statistics.mean(float(row["finish_s"]) - float(row["submit_s"]) for row in csv.DictReader(file))
