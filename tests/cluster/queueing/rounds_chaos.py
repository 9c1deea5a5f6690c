"""Runs many jobs that take turns in a Kueue queue, on simulated nodes, and kills the controller
again and again. Checks that every job finishes, that the quota is never exceeded, and that no job's
service is lost. scripts/bench.sh rounds-chaos runs it.

  rounds_chaos.py [--jobs N] [--seconds N] [--kill-every N] [--round N] [--least N] [--gpus N] [--nodes N] [--seed N]
                  [--instance N] [--json FILE]

A killed leader has a successor after ten seconds, and a round that would have begun meanwhile is
skipped. If a round is 1 or 1.5 times as long as the time between two kills, it can happen that no
round begins at all.

Simulated pods do nothing, so this program keeps their checkpoints: it ends a job's pod when the
job's pods, over all turns, have run for as long as the work takes.
"""

import argparse
import calendar
import json
import os
import pathlib
import random
import subprocess
import tempfile
import time

import queues
from api import PODS, Api, ApiError
from cluster import GPU, ROOT, Extender, own_cluster, wait_for
from queues import QUEUE

BATCH = "/apis/batch/v1/namespaces/default/jobs"
WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"


def moment(text):
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))


def job(name, gpus):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": {QUEUE: "chaos"}},
            "spec": {"template": {"metadata": {"annotations": {"synergy.io/checkpoint": "true"}}, "spec": {
                # The pod names its scheduler, because the webhook that sets it is sometimes down.
                "schedulerName": "synergy-scheduler", "restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
                "tolerations": [{"operator": "Exists"}], "nodeSelector": {"synergy.test/node": "simulated"},
                "containers": [{"name": "train", "image": "synergy.test/busybox:1",
                                "resources": {"limits": {GPU: str(gpus)}}}]}}}}


class Course:
    def __init__(self, cluster, options):
        self.cluster, self.options = cluster, options
        self.api = Api(cluster)
        self.random = random.Random(options.seed)
        self.gpus = {f"job-{number:03}": self.random.choices((1, 2, 4), (7, 2, 1))[0] for number in range(options.jobs)}
        self.work = {name: self.random.randint(*options.work) for name in self.gpus}  # seconds
        self.ran = {}  # job -> pod -> seconds
        self.ended = set()
        self.finished = set()
        self.served = {}  # job -> GPU-seconds in Synergy's record
        self.noted = {}  # job -> GPU-seconds (recorded, by its pods' times), when it last waited
        self.quota_since = {}
        self.turns = []  # lengths of lost turns in seconds
        self.lost_turns = {}  # job -> lost turns in Synergy's record
        self.kills = self.looks = self.most = 0
        self.violations = []

    def violated(self, what):
        if what not in self.violations:
            print(what, flush=True)
            self.violations.append(what)

    def look(self):
        self.looks += 1
        self.look_at_pods(self.api.items(PODS))
        self.look_at_workloads(self.api.items(WORKLOADS))

    def look_at_pods(self, pods):
        held = 0
        for pod in pods:
            name, metadata = pod["metadata"]["labels"]["job-name"], pod["metadata"]
            # A pod that is being deleted does not use quota: the next job's pods run on other GPUs.
            if pod["status"].get("phase") != "Running" or metadata.get("deletionTimestamp"):
                continue
            held += self.gpus[name]
            ran = self.ran.setdefault(name, {})
            ran[metadata["name"]] = time.time() - moment(
                pod["status"]["containerStatuses"][0]["state"]["running"]["startedAt"])
            if sum(ran.values()) >= self.work[name] and metadata["name"] not in self.ended:
                self.api.annotate(metadata["name"], {"synergy.test/run-seconds": "0"})
                self.ended.add(metadata["name"])
        self.most = max(self.most, held)
        if held > self.options.gpus:
            self.violated(f"pods with {held} GPUs run at a time")

    def look_at_workloads(self, workloads):
        admitted = 0
        for workload in workloads:
            name = workload["metadata"]["ownerReferences"][0]["name"]
            conditions = {entry["type"]: entry for entry in workload.get("status", {}).get("conditions", [])}
            has = {kind: entry["status"] == "True" for kind, entry in conditions.items()}
            if has.get("Finished"):
                self.finished.add(name)
                continue
            runs = has.get("QuotaReserved", False)
            admitted += self.gpus[name] * runs
            self.look_at_turn(name, runs, conditions)
            note = json.loads(workload["metadata"].get("annotations", {}).get("synergy.io/rounds", "{}"))
            self.look_at_note(name, runs, note)
        if admitted > self.options.gpus:
            self.violated(f"{admitted} GPUs of {self.options.gpus} are given away")

    def look_at_turn(self, name, runs, conditions):
        since = self.quota_since.pop(name, None)
        if runs:
            self.quota_since[name] = moment(conditions["QuotaReserved"]["lastTransitionTime"])
        if since is None or self.quota_since.get(name) == since:
            return
        self.turns.append(moment(conditions["Evicted"]["lastTransitionTime"]) - since)

    def look_at_note(self, name, runs, note):
        served = note.get("served", 0)
        if served < self.served.get(name, 0):
            self.violated(f"{name} had had {self.served[name]:.1f} GPU-seconds, and now {served:.1f}")
        self.served[name] = served
        lost = note.get("lostTurns", 0)
        if lost < self.lost_turns.get(name, 0):
            self.violated(f"{name} had lost {self.lost_turns[name]} turns, and now {lost}")
        self.lost_turns[name] = lost
        if not runs and self.ran.get(name):
            self.noted[name] = (served, sum(self.ran[name].values()) * self.gpus[name])

    def kill(self):
        self.kills += 1
        return subprocess.Popen([str(ROOT / "scripts/cluster.sh"), "--state", str(self.cluster.state), "restart",
                                 "synergy-controller", "KILL"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def run(self):
        """Creates half of the jobs at once, and the others during the first half of the time."""
        coming = sorted(0 if self.random.random() < 0.5 else self.random.uniform(0, self.options.seconds / 2)
                        for _ in self.gpus)
        names, helpers, second, started = list(self.gpus), [], 0, time.monotonic()
        all_kills = self.options.seconds // self.options.kill_every
        while (len(self.finished) < len(self.gpus)
               or self.kills < all_kills) and second < self.options.seconds + self.options.patience:
            elapsed = time.monotonic() - started
            while coming and coming[0] <= elapsed:
                coming.pop(0)
                name = names.pop(0)
                self.api.call("POST", BATCH, job(name, self.gpus[name]))
            try:
                self.look()
            except ApiError as error:
                if error.status != 404:  # the pod was just deleted
                    raise
            # The times of the kills are fixed, even if a busy machine looks late.
            if self.kills < min(all_kills, elapsed // self.options.kill_every):
                helpers.append(self.kill())
            if second % 30 == 0:
                print(
                    f"{second:4} s: {len(self.gpus) - len(coming)} jobs have come, {len(self.finished)} are finished, "
                    f"{len(self.turns)} turns lost, {self.kills} kills", flush=True)
            second = max(second + 1, int(time.monotonic() - started))
            time.sleep(max(0.0, started + second - time.monotonic()))
        for helper in helpers:
            helper.wait(timeout=300)
        for name in sorted(set(self.gpus) - self.finished):
            self.violated(f"{name} has not finished")
        return self.report(time.monotonic() - started)

    def report(self, seconds):
        noted, measured = (sum(column) for column in zip(*self.noted.values())) if self.noted else (0, 0)
        return {"jobs": len(self.gpus), "finished": len(self.finished), "seconds": round(seconds), "kills": self.kills,
                "looks": self.looks,
                "quota_gpus": self.options.gpus, "most_gpus_at_a_time": self.most, "lost_turns": len(self.turns),
                "taken_by_rounds": sum(self.lost_turns.values()),
                "lost_within_least_run": sum(turn < self.options.least - 1 for turn in self.turns),
                "noted_gpu_seconds": round(noted), "measured_gpu_seconds": round(measured),
                "violations": self.violations}


def options_of(arguments=None):
    parser = argparse.ArgumentParser()
    for name, default in (("jobs", 100), ("seconds", 600), ("kill-every", 20), ("round", 13), ("least", 10),
                          ("gpus", 16), ("nodes", 3), ("seed", 1), ("instance", 10)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--work", type=int, nargs=2, default=(25, 95), help="seconds of work of a job, from and to")
    parser.add_argument("--patience", type=int, default=600,
                        help="seconds after the last kill in which all have to finish")
    parser.add_argument("--json", type=pathlib.Path)
    return parser.parse_args(arguments)


def run(cluster, options):
    """Yields a cluster with the queue `chaos` and an extender."""
    cluster.create(queues.round_policy("chaos", "las", options.round, options.least, options.least // 2))
    wait_for("the policy to be ready", lambda: cluster.get("roundpolicy", "chaos").get("status", {}).get("conditions"))
    return Course(cluster, options).run()


def main():
    options = options_of()
    with tempfile.TemporaryDirectory(prefix="synergy-chaos.") as folder, own_cluster(
            pathlib.Path(folder), options.instance, "--real-nodes", "0", "--simulated-nodes", str(options.nodes),
            "--controller", os.environ["SYNERGY_BIN"], "--kueue") as cluster:
        cluster.create(queues.FLAVOR, *queues.of_turns("chaos", options.gpus))
        extender = Extender(cluster)
        extender.start()
        try:
            result = run(cluster, options)
        finally:
            extender.end()
            extender.log.close()
    print(json.dumps(result, indent=2))
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return 1 if result["violations"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
