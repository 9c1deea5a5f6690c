"""Measures how right the predicted starts of GPU reservations are, on a real control plane with
simulated nodes. scripts/bench.sh promises runs it; docs/internals/reservations.md has the figures.

  promises_bench.py [--jobs N] [--nodes N] [--max N] [--error SIGMA] [--seed N]
                     [--instance N] [--json FILE]

Stand-in node agents report the remaining time of each job, which is wrong by one lognormal factor
for each job (--error: its sigma). Half of the jobs have an activeDeadlineSeconds of one to three
times their duration. Jobs arrive faster than the nodes can serve them. The error of a prediction is
|predicted wait - true wait| / true wait, from the first prediction for a job on; waits below a
minute do not count. A start is late without a reason if it is later than predicted by more than the
jobs named in the prediction overran, and the seconds in which the controller plans and kube-
scheduler tries again. The exit status is 1 if a goal is missed.
"""

import argparse
import contextlib
import datetime
import json
import math
import os
import pathlib
import random
import statistics
import sys
import tempfile
import time

from cluster import Extender, free_port, own_cluster, pod
from stand_in_agent import StandInAgent

ANNOTATION = "synergy.io/gpu-reservation"
GPUS = 8  # of a node
SIZES = {1: 4, 2: 2, 4: 2, 8: 2}  # GPUs of a job -> weight
MEDIAN, SIGMA, LEAST, MOST = 150, 0.7, 45, 900  # of durations, in seconds
LOAD = 1.15  # of what the nodes can do
COUNTED = 60  # seconds; shorter waits do not count
# Seconds from the end of a job to the start of the next: this program looks once a second, the
# controller plans every five seconds, and kube-scheduler tries again after at most ten.
SLACK = 16
GOALS = {"median": 0.2, "p90": 0.6}
PATIENCE = 3600  # in seconds, for the whole run


class Job:
    """A pod that waits, runs for its duration, and ends."""

    def __init__(self, number, at, draws, error):
        self.name, self.at = f"job-{number}", at
        self.gpus = draws.choices(list(SIZES), SIZES.values())[0]
        self.duration = min(max(draws.lognormvariate(math.log(MEDIAN), SIGMA), LEAST), MOST)
        self.factor = draws.lognormvariate(0, error)
        self.deadline = round(self.duration * draws.uniform(1, 3)) + 5 if draws.random() < 0.5 else None
        self.uid = self.node = self.started = self.ended = None
        self.promise = None  # (when, predicted start, jobs it waits for)

    def object(self):
        spec = {"activeDeadlineSeconds": self.deadline} if self.deadline else {}
        return pod(self.name, self.gpus, "1", "1G", **spec)

    def remaining(self, now):
        """Returns the reported remaining time."""
        return max(self.started + self.duration - now, 0) * self.factor

    def overrun(self, promised_at):
        """Returns by how much it ends later than it was reported to at that time."""
        end = self.started + self.duration
        return end - promised_at - self.remaining(promised_at) if self.started < promised_at else 0

    def facts(self, jobs):
        """Returns what came of its prediction; None if that does not count."""
        if not self.promise:
            return None
        when, predicted, awaited = self.promise
        wait = self.started - when
        if wait < COUNTED:
            return None
        known = [jobs[name] for name in awaited if name in jobs]
        allowed = max([0, *(job.overrun(when) for job in known)]) + SLACK
        return {"job": self.name, "gpus": self.gpus, "waited": round(when - self.at), "true": round(wait, 1),
                "predicted": round(predicted - when, 1), "error": round(abs(predicted - self.started) / wait, 3),
                "error_as_long_again": round(abs(when - self.at - wait) / wait, 3),
                "late": round(self.started - predicted, 1), "allowed": round(allowed, 1)}


def seconds_of(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Run:
    def __init__(self, cluster, agents, options):
        self.cluster, self.agents = cluster, {agent.node: agent for agent in agents}
        draws = random.Random(options.seed)
        work = sum(gpus * weight for gpus, weight in SIZES.items()) / sum(SIZES.values()) * MEDIAN * math.exp(
            SIGMA ** 2 / 2)
        rate = LOAD * options.nodes * GPUS / work  # jobs a second
        self.jobs, at = {}, 0.0
        for number in range(options.jobs):
            job = Job(number, at, draws, options.error)
            self.jobs[job.name] = job
            at += draws.expovariate(rate)

    def look(self, now):
        for item in self.cluster.get("pods")["items"]:
            job = self.jobs[item["metadata"]["name"]]
            job.uid = item["metadata"]["uid"]
            reserved = item["metadata"].get("annotations", {}).get(ANNOTATION)
            if reserved and not job.promise and not job.started:
                reserved = json.loads(reserved)
                job.promise = now, seconds_of(reserved["likely"]), [
                    name.partition("/")[2] for name in reserved["waitsFor"]]
            if not job.started and item["spec"].get("nodeName") and item["status"].get("phase") == "Running":
                job.node, job.started = item["spec"]["nodeName"], now

    def serve(self, now):
        """Ends the jobs that are done, and reports the others' progress."""
        for job in self.jobs.values():
            if not job.started or job.ended:
                continue
            reports = self.agents[job.node].reports
            if now < job.started + job.duration:
                reports[job.uid] = {"uid": job.uid, "format": "tqdm", "remaining": round(job.remaining(now) * 1e9),
                                    "iterations": round(10 * (now - job.started), 1)}
                continue
            job.ended = now
            reports.pop(job.uid, None)
            self.cluster.patch("pod", job.name, {"status": {"phase": "Succeeded"}}, "status")

    def go(self):
        begin = time.time()
        waiting = list(self.jobs.values())
        for job in waiting:
            job.at += begin
        printed = begin
        while any(not job.started for job in self.jobs.values()):
            now = time.time()
            if now > begin + PATIENCE:
                raise AssertionError("jobs have not started: " + ", ".join(
                    job.name for job in self.jobs.values() if not job.started))
            while waiting and waiting[0].at <= now:
                self.cluster.create(waiting.pop(0).object())
            self.look(now)
            self.serve(now)
            if now - printed >= 60:
                printed = now
                print(f"{now - begin:5.0f} s: {sum(bool(job.started) for job in self.jobs.values())} started, "
                      f"{sum(bool(job.ended) for job in self.jobs.values())} ended, "
                      f"{sum(bool(job.promise) for job in self.jobs.values())} predicted", flush=True)
            time.sleep(max(0, now + 1 - time.time()))
        return time.time() - begin


def figures(run, seconds, options):
    found = [facts for job in run.jobs.values() if (facts := job.facts(run.jobs))]
    if len(found) < 10:
        raise AssertionError(f"only {len(found)} predictions of waits of a minute and more")

    def quantiles(key):
        values = sorted(facts[key] for facts in found)
        return {"median": statistics.median(values), "p90": values[math.ceil(0.9 * len(values)) - 1]}
    errors = quantiles("error")
    late = [facts["job"] for facts in found if facts["late"] > facts["allowed"]]
    return {"jobs": options.jobs, "nodes": options.nodes, "max": options.max,
            "seed": options.seed, "error_sigma": options.error,
            "seconds": round(seconds), "predictions": len(found), "error": errors,
            "as_long_again": quantiles("error_as_long_again"), "late_without_reason": late,
            "goals": {"median": errors["median"] <= GOALS["median"], "p90": errors["p90"] <= GOALS["p90"]},
            "each": found}


def main():
    parser = argparse.ArgumentParser()
    for name, default in (("jobs", 200), ("nodes", 16), ("max", 4), ("seed", 1), ("instance", 9)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--error", type=float, default=0.3)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="synergy-promises.")))
        cluster = stack.enter_context(own_cluster(
            folder, options.instance, "--real-nodes", "0", "--simulated-nodes", str(options.nodes),
            "--controller", os.environ["SYNERGY_BIN"]))
        names = sorted(node["metadata"]["name"] for node in cluster.get("nodes")["items"])
        port = free_port()
        agents = [stack.enter_context(StandInAgent(cluster, name, f"127.0.1.{number}", port))
                  for number, name in enumerate(names, 1)]
        stack.enter_context(cluster.controller(
            progress=agents[0].settings(), profiling="{enabled: false}",
            reservations=f"{{enabled: true, after: 10s, max: {options.max}}}"))
        extender = Extender(cluster, settings="reservations: {enabled: true}\n")
        stack.callback(extender.log.close)
        extender.start()
        stack.callback(extender.end)
        run = Run(cluster, agents, options)
        result = figures(run, run.go(), options)
    print(json.dumps({key: value for key, value in result.items() if key != "each"}, indent=2))
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return 0 if all(result["goals"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
