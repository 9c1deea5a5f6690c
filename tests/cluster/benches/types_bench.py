"""Measures how long jobs take in a Kueue queue on simulated nodes of three products when one of
Gavel's policies chooses their GPU type (docs/internals/gavel.md), and compares that with
synergy-lab rounds. It also measures what a policy gains by knowing each job's speed on each
product. scripts/bench.sh types runs it.

  types_bench.py [--trace FILE] [--jobs N] [--policies NAME,NAME] [--nodes N] [--round S]
  [--compression N]
                 [--arrivals N] [--cost S] [--goal X] [--patience S] [--keep FOLDER] [--instance N]
                 [--json FILE]

The jobs come from a trace of Gavel's authors, with the speeds that they measured on each type
(research/gavel/throughputs.csv). All times are divided by the compression, except rounds and the
cost of a move. A node has one GPU, so a job of several GPUs is a gang over as many nodes.

Simulated pods do nothing, so this program keeps their checkpoints: it ends a job's pods when they
have done its work over all turns, at the speed of the product that each turn ran on. The simulator
gets the arrival times of the jobs and the mean cost of a start, from the decision to the running
pods. It then runs many times with jobs that come up to a second later: a smaller difference can
decide on which type a job finds GPUs, and so when it completes. The real run is one of many
possible runs, and so is each simulated one. The exit status is 1 if a goal is missed.
"""

import argparse
import collections
import csv
import datetime
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import tempfile
import time

import queues
from api import ApiError, PodWatch
from cluster import GPU, ROOT, Extender, own_cluster, wait_for
from queues import QUEUE
from real_nodes import log

TYPES = ("v100", "p100", "k80")
PRODUCT = "nvidia.com/gpu.product"
LOCAL = "typed"
LEAST = 0.01
JITTER = 1  # seconds by which jobs arrive later in the other simulations, at most
SIMULATIONS = 30
GATHER = 1  # seconds from the first arrival to the simulator's first round


class Job:
    """A job of the trace. `speeds`: relative to the first type; `work`: seconds on the first
    type."""

    def __init__(self, number, row, table, compression):
        self.name = f"job-{number:02}"
        self.model, self.gpus = row[0], int(row[6])
        throughputs = [table[self.model, self.gpus][name] for name in TYPES]
        # If the table has no speed on a type, the job gets a tiny one, so that both sides use the
        # same.
        self.speeds = {name: max(each / throughputs[0], LEAST) for name, each in zip(TYPES, throughputs)}
        self.work = float(row[5]) / throughputs[0] / compression
        self.arrival = float(row[9])
        # Each number of GPUs makes a workload of its own, because its speeds differ.
        self.kind = re.sub("[^a-z0-9]+", "-", f"{self.model} {self.gpus}".lower()).strip("-")

    def manifest(self):
        container = {"name": "train", "image": "synergy.test/busybox:1", "resources": {"limits": {GPU: "1"}}}
        labels = {"synergy.io/workload": self.kind, "synergy.io/tensor-skew": "0"}
        template = {"metadata": {"labels": labels, "annotations": {"synergy.io/checkpoint": "true"}},
                    "spec": {"tolerations": [{"operator": "Exists"}], "restartPolicy": "Never",
                             "terminationGracePeriodSeconds": 0, "subdomain": self.name, "containers": [container]}}
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": self.name, "labels": {QUEUE: LOCAL}},
                "spec": {"completionMode": "Indexed", "parallelism": self.gpus, "completions": self.gpus,
                         "template": template}}

    def profiles(self):
        for name, speed in self.speeds.items():
            yield {"apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile",
                   "metadata": {"name": f"{self.kind}-{name}"},
                   "spec": {"workload": self.kind, "gpuProduct": name, "processMemory": "1Mi",
                            "points": [{"cpu": 1, "memory": "1Gi", "throughput": round(speed, 6)}]}}


def read_trace(options):
    with open(ROOT / "research/gavel/throughputs.csv", encoding="utf-8", newline="") as file:
        table = {(row["model"], int(row["gpus"])): {name: float(row[name]) for name in TYPES}
                 for row in csv.DictReader(file)}
    lines = options.trace.read_text(encoding="utf-8").splitlines()[:options.jobs]
    jobs = [Job(number, line.split("\t"), table, options.compression) for number, line in enumerate(lines)]
    for job in jobs:
        job.arrival = (job.arrival - jobs[0].arrival) / options.arrivals
    return jobs


class Course:
    """Follows the jobs' pods while they run. Each run of a job is (began, ended, product)."""

    def __init__(self, cluster, jobs):
        self.cluster, self.jobs = cluster, {job.name: job for job in jobs}
        self.products = {node["metadata"]["name"]: node["metadata"]["labels"].get(PRODUCT)
                         for node in cluster.get("nodes")["items"]}
        self.came, self.finished = {}, {}
        self.runs = collections.defaultdict(list)
        self.running = collections.defaultdict(dict)  # job -> its running pods -> their product
        self.done = collections.Counter()  # job -> seconds of work in completed runs
        self.ended = set()  # uids of pods that this program has ended
        self.succeeded = collections.defaultdict(set)
        self.events = 0

    def began(self, name):
        return len(self.running[name]) == self.jobs[name].gpus

    def follow(self, watch):
        with watch.news:
            news = watch.events[self.events:]
        self.events += len(news)
        for moment, kind, pod in news:
            name, uid = pod["metadata"]["labels"].get("job-name"), pod["metadata"]["uid"]
            if name not in self.came:
                continue
            pods, phase = self.running[name], pod["status"].get("phase")
            if phase == "Succeeded":
                self.succeeded[name].add(uid)
                if len(self.succeeded[name]) == self.jobs[name].gpus:
                    self.finished.setdefault(name, moment)
            if phase == "Running" and kind != "DELETED" and "deletionTimestamp" not in pod["metadata"]:
                if uid not in pods:
                    pods[uid] = (pod["metadata"]["name"], self.products[pod["spec"]["nodeName"]])
                    if self.began(name):
                        self.runs[name].append([moment, None, next(iter(pods.values()))[1]])
            elif uid in pods:
                if self.began(name):
                    run = self.runs[name][-1]
                    run[1] = moment
                    self.done[name] += (moment - run[0]) * self.jobs[name].speeds[run[2]]
                del pods[uid]

    def end_what_is_done(self):
        """Ends all pods of each job that has done its work."""
        now = time.monotonic()
        for name, pods in self.running.items():
            if not self.began(name):
                continue
            run = self.runs[name][-1]
            if self.done[name] + (now - run[0]) * self.jobs[name].speeds[run[2]] < self.jobs[name].work:
                continue
            for uid, (pod, _) in pods.items():
                if uid not in self.ended:
                    try:
                        self.cluster.api.annotate(pod, {"synergy.test/run-seconds": "0"})
                    except ApiError as error:
                        # The pod was just evicted, or the connection was idle for too long: the
                        # next look will show it.
                        log(f"{pod}: {error}")
                        continue
                    self.ended.add(uid)

    def run(self, round_seconds, patience):
        waiting = list(self.jobs.values())
        self.most = 0  # the most GPUs in use at the same time
        with PodWatch(self.cluster.api) as watch:
            time.sleep(round_seconds - (time.time() + GATHER) % round_seconds)
            self.began_at, self.wall = time.monotonic(), time.time()
            reported = 0
            while len(self.finished) < len(self.jobs):
                elapsed = time.monotonic() - self.began_at
                while waiting and waiting[0].arrival <= elapsed:
                    job = waiting.pop(0)
                    self.came[job.name] = time.monotonic()
                    self.cluster.create(job.manifest())
                self.follow(watch)
                self.end_what_is_done()
                self.most = max(self.most, sum(map(len, self.running.values())))
                if elapsed >= reported:
                    reported += 60
                    log(f"{elapsed:4.0f} s: {len(self.came)} jobs have arrived, {len(self.finished)} have finished")
                if elapsed > patience:
                    raise AssertionError(
                        f"not finished after {patience} s: {sorted(set(self.jobs) - set(self.finished))}")
                time.sleep(0.05)

    def times(self):
        return {name: self.finished[name] - self.came[name] for name in self.jobs}

    def moves(self):
        """Returns how many starts were on another product than the start before."""
        return sum(before[2] != after[2] for runs in self.runs.values() for before, after in zip(runs, runs[1:]))


def decisions(cluster, course):
    """Returns job -> the times at which the controller decided that it runs or moves, by the
    controller's log."""
    owners = {}
    for item in cluster.get("workloads")["items"]:
        owners[f"default/{item['metadata']['name']}"] = item["metadata"]["ownerReferences"][0]["name"]
    found = collections.defaultdict(list)
    for line in (cluster.state / "logs/synergy-controller.log").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line) if line.startswith("{") else {}
        raised = entry.get("msg") == "priority" and int(entry["to"]) > int(entry["from"])
        moved = (entry.get("msg") == "admission check" and entry.get("answer") == "Retry"
                 and entry["because"].startswith("its turn moves"))
        if (raised or moved) and entry["workload"] in owners:
            at = datetime.datetime.fromisoformat(entry["time"].replace("Z", "+00:00")).timestamp()
            found[owners[entry["workload"]]].append(at - course.wall + course.began_at)
    return found


def start_costs(cluster, course):
    """Returns, for each start, the seconds from the decision to the running pods."""
    decided = decisions(cluster, course)
    costs = {"starts": [], "moves": []}
    for name, runs in course.runs.items():
        for place, (began, _, product) in enumerate(runs):
            before = course.came[name] if place == 0 else runs[place - 1][1]
            moved = place > 0 and runs[place - 1][2] != product
            last = [at for at in decided[name] if at <= began and (place == 0 or at >= runs[place - 1][0])]
            # The decision to move a job may come while it still runs.
            since = max([before, *last]) if not moved or not last else last[-1]
            costs["moves" if moved else "starts"].append(began - since)
    return costs


def simulate(folder, jobs, course, policy, options, cost, chance=None):
    """Returns the completion time of each job in seconds, and how many starts were not a job's
    first."""
    late = [chance.uniform(0, JITTER) if chance else 0 for _ in jobs]
    trace, profiles, ends = folder / "trace.csv", folder / "types.yaml", folder / "ends.csv"
    rows = [f"{number},{job.kind},{course.came[job.name] - course.began_at + late[number]:.3f},"
            f"1000,{job.gpus},{job.work:.3f}"
            for number, job in enumerate(jobs)]
    trace.write_text("\n".join(["job_id,model,arrival_s,total_iterations,gpus,duration_s_at_fair", *rows, ""]),
                     encoding="utf-8")
    entries = [{"model": job.kind, "gpuProduct": name,
                "points": [{"cpu": 1, "memory": "1Gi", "throughput": round(speed / job.gpus, 9)}]}
               for job in {job.kind: job for job in jobs}.values() for name, speed in job.speeds.items()]
    profiles.write_text(json.dumps({"profiles": entries}), encoding="utf-8")
    command = [pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy-lab", "rounds", "--trace", trace,
               "--type-profiles", profiles,
               "--types", ",".join(f"{name}={options.nodes}" for name in TYPES), "--gpus", 1, "--cpus", 4,
               "--memory", "16GB",
               "--mechanism", "proportional", "--policy", policy, "--round", f"{options.round}s",
               "--restart-cost", f"{cost * 1000:.0f}ms", "--jobs-csv", ends, "--output", "json", "--quiet"]
    done = subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True)
    with open(ends, encoding="utf-8", newline="") as file:
        times = [float(row["finish_s"]) - float(row["submit_s"]) for row in csv.DictReader(file)]
    return times, json.loads(done.stdout)["restarts"]


def measure(cluster, jobs, policy, options):
    """Measures one policy, and returns its figures."""
    cluster.create(queues.round_policy(LOCAL, policy, options.round, least=1, cost=options.cost))
    wait_for("the policy to be ready", lambda: cluster.get("roundpolicy", LOCAL).get("status", {}).get("conditions"))
    course = Course(cluster, jobs)
    course.run(options.round, options.patience)
    costs = start_costs(cluster, course)
    cost = statistics.mean(costs["starts"] + costs["moves"])
    simulated, restarts = simulate(cluster.folder, jobs, course, policy, options, cost)
    others = [statistics.mean(simulate(cluster.folder, jobs, course, policy, options, cost, random.Random(number))[0])
              for number in range(SIMULATIONS)]
    real = list(course.times().values())
    off = sorted(mine / theirs - 1 for mine, theirs in zip(real, simulated))
    facts = {"policy": policy, "mean_seconds": statistics.mean(real),
             "simulated_mean_seconds": statistics.mean(simulated),
             "off": statistics.mean(real) / statistics.mean(simulated) - 1,
             "simulated_with_later_arrivals": {"least": min(others), "mean": statistics.mean(others),
                                               "most": max(others)},
             "off_by_job": {"least": off[0], "median": statistics.median(off), "most": off[-1]},
             "starts_after_the_first": sum(map(len, course.runs.values())) - len(jobs),
             "simulated_starts_after_the_first": restarts,
             "moves": course.moves(),
             "start_cost": {name: round(statistics.mean(each or [0]), 2) for name, each in costs.items()},
             "longest_start": max(costs["starts"] + costs["moves"]), "most_gpus": course.most}
    cluster.kubectl("delete", "jobs", "--all", "--cascade=foreground")
    cluster.kubectl("delete", "roundpolicy", LOCAL)
    wait_for("the queue to be empty", lambda: not cluster.get("workloads")["items"])
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        (options.keep / f"{policy}.json").write_text(json.dumps({
            "facts": facts, "costs": costs, "real": real, "simulated": simulated,
            "runs": {name: [[began - course.began_at, ended and ended - course.began_at, product]
                            for began, ended, product in runs]
                     for name, runs in course.runs.items()}}, indent=1), encoding="utf-8")
    return facts


def shapes(nodes):
    return json.dumps([{"name": name, "count": nodes, "gpus": 1, "cpu": 4, "memory": "16G", "labels": {PRODUCT: name}}
                       for name in TYPES])


def span(facts):
    """Returns the smallest and the largest of the simulated means."""
    others = facts["simulated_with_later_arrivals"]
    return min(others["least"], facts["simulated_mean_seconds"]), max(others["most"], facts["simulated_mean_seconds"])


def in_range(value, least, most, tolerance):
    return least * (1 - tolerance) <= value <= most * (1 + tolerance)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trace", type=pathlib.Path, default=ROOT / "tests/data/gavel/runs/cont_single_80.trace")
    parser.add_argument("--jobs", type=int, default=80)
    parser.add_argument("--policies", default="gavel-las,gavel-las-agnostic")
    parser.add_argument("--nodes", type=int, default=12, help="number of nodes of each product")
    parser.add_argument("--round", type=int, default=20)
    parser.add_argument("--compression", type=float, default=120, help="compression of the jobs' work")
    parser.add_argument("--arrivals", type=float, default=360, help="compression of the time from one job to the next")
    parser.add_argument("--cost", type=int, default=4, help="seconds that a move costs, as the policy states")
    parser.add_argument("--goal", type=float, default=0.05)
    parser.add_argument("--patience", type=int, default=2400)
    parser.add_argument("--instance", type=int, default=11)
    parser.add_argument("--keep", type=pathlib.Path, help="folder in which to store the runs of every job")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    jobs = read_trace(options)
    results = []
    with tempfile.TemporaryDirectory(prefix="synergy-types.") as folder:
        folder = pathlib.Path(folder)
        (folder / "shapes.yaml").write_text(shapes(options.nodes), encoding="utf-8")
        with own_cluster(folder, options.instance, "--real-nodes", "0", "--simulated-nodes", "1",
                         "--shape", str(folder / "shapes.yaml"),
                         "--controller", os.environ["SYNERGY_BIN"], "--kueue") as cluster:
            gpus = options.nodes * len(TYPES)
            profiles = {profile["metadata"]["name"]: profile for job in jobs for profile in job.profiles()}
            cluster.create(queues.FLAVOR,
                           queues.kueue("AdmissionCheck", queues.CHECK, controllerName="synergy.io/rounds"),
                           *queues.of_turns(LOCAL, gpus, **queues.CHECKED), *profiles.values())
            settings = cluster.state / "synergy-controller.yaml"
            settings.write_text(settings.read_text(encoding="utf-8").replace("{level: debug}", "{format: json}"),
                                encoding="utf-8")
            cluster.script("restart", "synergy-controller")
            extender = Extender(cluster)
            extender.start()
            try:
                for policy in options.policies.split(","):
                    results.append(measure(cluster, jobs, policy, options))
                    log(json.dumps(results[-1]))
            finally:
                extender.end()
                extender.log.close()
    goals = {f"{facts['policy']}: mean completion time within {options.goal:.0%} of the simulator's range": in_range(
        facts["mean_seconds"], *span(facts), options.goal) for facts in results}
    goals["never more GPUs than there are"] = all(facts["most_gpus"] <= gpus for facts in results)
    if len(results) == 2:
        aware, agnostic = results
        gain = agnostic["mean_seconds"] / aware["mean_seconds"]
        least, most = span(agnostic)[0] / span(aware)[1], span(agnostic)[1] / span(aware)[0]
        log(f"{agnostic['policy']} takes {gain:.2f} times as long as {aware['policy']}; by the simulator "
            f"{least:.2f} to {most:.2f}")
        goals["the second policy takes as much longer as the simulator says"] = gain > 1 and in_range(
            gain, least, most, options.goal)
    for goal, met in goals.items():
        log(f"{'met   ' if met else 'MISSED'}  {goal}")
    if options.json:
        options.json.write_text(json.dumps({"runs": results, "goals": goals}, indent=2) + "\n", encoding="utf-8")
    return 0 if all(goals.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
