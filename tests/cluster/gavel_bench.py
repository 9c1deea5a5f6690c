"""Gavel's policies in Kueue's queues beside the simulator: jobs on simulated nodes with one GPU each of three products, with time
compressed. scripts/bench.sh gavel-cluster runs it.

  gavel_bench.py [--jobs N] [--per-type N] [--round SECONDS] [--seed N] [--policy NAME,...] [--instance N] [--json FILE]

Simulated pods do nothing, so this program keeps their checkpoints: a pod's work is the time that it has run, by the speed of its job on
its node's product, and the pod is ended when all turns of its job together make its work.
"""

import argparse
import csv
import json
import os
import pathlib
import random
import statistics
import subprocess
import tempfile
import time

import queues
from api import PODS, Api
from cluster import GPU, Extender, own_cluster, wait_for
from queues import QUEUE

PRODUCT = "nvidia.com/gpu.product"
TYPES = ("v100", "p100", "k80")
# Speeds on them, in units of that on a v100 (src/sim/gavel/throughputs.csv).
SPEEDS = {"resnet": (1, 0.597, 0.141), "cyclegan": (1, 0.542, 0.113), "transformer": (1, 0.59, 0.203), "a3c": (1, 0.791, 0.479),
          "recommendation": (1, 2.315, 1.51)}
SIMULATED_ROUND = 300  # seconds
CHECK = "synergy-rounds"


def make_jobs(options):
    """Name -> model, arrival and work on a v100, in seconds of this clock."""
    chance = random.Random(options.seed)
    jobs, arrival = {}, 0.0
    for number in range(options.jobs):
        work = options.round * 10 ** chance.uniform(0.3, 1.1)
        jobs[f"job-{number:03}"] = (chance.choice(list(SPEEDS)), arrival, work)
        arrival += chance.expovariate(1 / options.between)
    return jobs


def training(name, model):
    container = {"name": "train", "image": "synergy.test/busybox:1", "resources": {"limits": {GPU: "1"}}}
    template = {"metadata": {"labels": {"synergy.io/workload": model}, "annotations": {"synergy.io/checkpoint": "true"}},
                "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "tolerations": [{"operator": "Exists"}],
                         "containers": [container]}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": {QUEUE: "typed"}}, "spec": {"template": template}}


def profile(model, gpu_type, speed):
    return {"apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile", "metadata": {"name": f"{model}-{gpu_type}"},
            "spec": {"workload": model, "gpuProduct": gpu_type, "processMemory": "1Mi",
                     "points": [{"cpu": 1, "memory": "1Gi", "throughput": speed}]}}


class Play:
    """One policy's run."""

    def __init__(self, cluster, jobs, options):
        self.cluster, self.jobs, self.options = cluster, jobs, options
        self.api = Api(cluster)
        self.nodes = {item["metadata"]["name"]: TYPES.index(item["metadata"]["labels"][PRODUCT]) for item in cluster.get("nodes")["items"]}
        self.done = dict.fromkeys(jobs, 0.0)
        self.seen, self.ended, self.finished, self.starts = {}, set(), {}, 0

    def look(self, now):
        for pod in self.api.items(PODS):
            uid, job = pod["metadata"]["uid"], pod["metadata"]["labels"]["job-name"]
            if pod["status"].get("phase") != "Running" or pod["metadata"].get("deletionTimestamp") or uid in self.ended:
                self.seen.pop(uid, None)
                continue
            model, _, work = self.jobs[job]
            before = self.seen.get(uid)
            self.starts += before is None
            self.done[job] += (now - before) * SPEEDS[model][self.nodes[pod["spec"]["nodeName"]]] if before is not None else 0
            self.seen[uid] = now
            if self.done[job] >= work:
                self.ended.add(uid)
                self.finished[job] = now
                self.api.annotate(pod["metadata"]["name"], {"synergy.test/run-seconds": "0"})

    def run(self, policy):
        item = queues.round_policy("typed", policy, self.options.round, least=0, cost=0)
        self.cluster.create(item)
        # Rounds begin at multiples of their length.
        time.sleep(self.options.round - time.time() % self.options.round)
        started, coming = time.monotonic(), sorted(self.jobs.items(), key=lambda entry: entry[1][1])
        while len(self.finished) < len(self.jobs):
            now = time.monotonic() - started
            while coming and coming[0][1][1] <= now:
                name, (model, _, _) = coming.pop(0)
                self.cluster.create(training(name, model))
            self.look(now)
            if now > self.options.limit:
                raise AssertionError(f"{len(self.jobs) - len(self.finished)} jobs have not finished after {now:.0f} s")
            time.sleep(0.25)
        self.cluster.kubectl("delete", "roundpolicy", "typed")
        self.cluster.kubectl("delete", "jobs", "--all")
        wait_for("all to be gone", lambda: not self.cluster.get("workloads")["items"])
        return {job: self.finished[job] - self.jobs[job][1] for job in self.jobs}


def simulate(jobs, options, policy, folder):
    """The mean completion time by `synergy simulate`, in seconds of this clock; a start costs `--start` of them."""
    scale = SIMULATED_ROUND / options.round
    with open(folder / "trace.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["job_id", "model", "arrival_s", "total_iterations", "gpus", "iter_time_s_at_fair", "duration_s_at_fair"])
        for number, (model, arrival, work) in enumerate(jobs.values()):
            iterations = round(work * scale)
            writer.writerow([number, model, f"{arrival * scale:.3f}", iterations, 1, 1, iterations])

    typed = [{"model": model, "gpuProduct": gpu_type, "gpus": 1, "points": [{"cpu": 1, "memory": "1Gi", "throughput": speed}]} for model, speeds in SPEEDS.items() for gpu_type, speed in zip(TYPES, speeds)]
    (folder / "types.json").write_text(json.dumps({"profiles": typed}), "utf-8")
    subprocess.run([str(pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy"), "simulate", "--trace", str(folder / "trace.csv"),
                    "--type-profiles", str(folder / "types.json"),
                    "--types", ",".join(f"{each}={options.per_type}" for each in TYPES), "--gpus", "1", "--cpus", "4", "--memory", "40",
                    "--policy", policy, "--mechanism", "proportional", "--round", f"{SIMULATED_ROUND}s",
                    "--restart-cost", f"{options.start * scale:.0f}s", "--jobs-csv", str(folder / "jobs.csv")],
                   check=True, stdout=subprocess.DEVNULL)
    with open(folder / "jobs.csv", encoding="utf-8") as file:
        return statistics.mean(float(row["finish_s"]) - float(row["submit_s"]) for row in csv.DictReader(file)) / scale


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=36)
    parser.add_argument("--per-type", type=int, default=4, help="nodes of each product")
    parser.add_argument("--round", type=int, default=10)
    parser.add_argument("--between", type=float, default=4, help="seconds between arrivals, on average")
    parser.add_argument("--start", type=float, default=2, help="seconds that a GPU stands idle when a job starts on it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--policy", default="gavel-las,gavel-las-agnostic")
    parser.add_argument("--limit", type=float, default=3000)
    parser.add_argument("--instance", type=int, default=14)
    parser.add_argument("--only-simulated", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    jobs = make_jobs(options)
    results = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for policy in options.policy.split(","):
            results[policy] = {"simulated": simulate(jobs, options, policy, folder)}
            print(f"{policy}: {results[policy]['simulated']:.1f} s by the simulator", flush=True)
        if options.only_simulated:
            return
        shapes = [{"name": each, "count": options.per_type, "gpus": 1, "cpu": 4, "memory": "40G", "labels": {PRODUCT: each}} for each in TYPES]
        (folder / "shapes.yaml").write_text(json.dumps(shapes), "utf-8")
        with own_cluster(folder, options.instance, "--real-nodes", "0", "--simulated-nodes", "1", "--shape", str(folder / "shapes.yaml"),
                         "--controller", os.environ["SYNERGY_BIN"], "--kueue") as cluster:
            checked = {"admissionChecksStrategy": {"admissionChecks": [{"name": CHECK}]}, "preemption": {"withinClusterQueue": "LowerPriority"}}
            cluster.create(queues.FLAVOR, queues.kueue("AdmissionCheck", CHECK, controllerName="synergy.io/rounds"),
                           *queues.queue("typed", {GPU: str(3 * options.per_type)}, **checked),
                           *(profile(model, each, speed) for model, speeds in SPEEDS.items() for each, speed in zip(TYPES, speeds)))
            extender = Extender(cluster)
            extender.start()
            try:
                for policy in options.policy.split(","):
                    play = Play(cluster, jobs, options)
                    times = play.run(policy)
                    results[policy] |= {"real": statistics.mean(times.values()), "starts": play.starts}
                    simulated, real = results[policy]["simulated"], results[policy]["real"]
                    print(f"{policy}: mean completion time {real:.1f} s, {simulated:.1f} s by the simulator "
                          f"({(real / simulated - 1):+.1%}); {play.starts} starts", flush=True)
            finally:
                extender.end()
                extender.log.close()
    if options.json:
        options.json.write_text(json.dumps(results), "utf-8")


if __name__ == "__main__":
    main()
