"""Trainings that take turns in a Kueue queue on real nodes: Jobs and JobSets that write
checkpoints, the runs of each, and the times at which the simulator ends them."""

import csv
import os
import pathlib
import re
import statistics
import subprocess
import time

import trainers
from cluster import ROOT
from queues import QUEUE

PER_SECOND = 20  # iterations per second
PROFILE = trainers.profile("insensitive") | {"metadata": {"name": "takes-turns"}}
RUN = re.compile(r"^time=(\S+) (began|saved)=(\d+)$", re.M)
# A model of the reference data that more CPU does not make faster, and the seconds of one
# iteration.
MODEL, ITERATION = "bert", 0.011


def template(name, seconds, folder, file):
    """Returns the template of a pod with one GPU and work for `seconds`, which keeps its checkpoint
    in that file of the folder. All nodes see the folder."""
    arguments = ["--workers", "1", "--cpu-per-iteration", "0.25", "--gpu-step", str(1000 / PER_SECOND),
                 "--lines", str(PER_SECOND // 2),
                 "--iterations", str(round(seconds * PER_SECOND)), "--checkpoint-file", f"/checkpoints/{file}"]
    labels = {"synergy.io/profile": "takes-turns", "synergy.io/enforcement": "shared"}
    pod = trainers.pod_with(name, "insensitive", arguments, labels, {})
    pod["spec"] |= {"nodeSelector": {"synergy.test/node": "real"}, "terminationGracePeriodSeconds": 20,
                    "volumes": [{"name": "checkpoints", "hostPath": {"path": str(folder)}}]}
    pod["spec"]["containers"][0]["volumeMounts"] = [{"name": "checkpoints", "mountPath": "/checkpoints"}]
    annotations = {"synergy.io/checkpoint": "true"}
    return {"metadata": {"labels": pod["metadata"]["labels"], "annotations": annotations}, "spec": pod["spec"]}


def training(name, queue, seconds, folder):
    """Returns a Job of one such pod."""
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": {QUEUE: queue}},
            "spec": {"template": template(name, seconds, folder, name)}}


def job_set(name, queue, seconds, folder, size=2):
    """Returns a JobSet of `size` such pods, which train together. job_of() names its Job, and
    rank_of() the files of its checkpoints."""
    workers = {"name": "workers", "replicas": 1, "template": {"spec": {
        "completions": size, "parallelism": size,
        "template": template(name, seconds, folder, rank_of(name, "$(JOB_COMPLETION_INDEX)"))}}}
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
            "metadata": {"name": name, "labels": {QUEUE: queue}}, "spec": {"replicatedJobs": [workers]}}


def job_of(name):
    return f"{name}-workers-0"


def rank_of(name, rank):
    return f"{name}-{rank}"


def runs(folder, name):
    """Returns the runs of that training: for each, the (time, iteration) at which it began and
    those of its checkpoints."""
    result = []
    file = folder / name
    for moment, what, count in RUN.findall(file.read_text(encoding="utf-8") if file.exists() else ""):
        point = (float(moment), int(count))
        if what == "began":
            result.append((point, []))
        else:
            result[-1][1].append(point)
    return result


def lost_iterations(history):
    """Returns, for each run but the first, how many iterations before the previous run's last
    checkpoint it began. If that run wrote no checkpoint, its beginning counts instead."""
    return [(saved[-1] if saved else began)[1] - after[1] for (began, saved), (after, _) in zip(history, history[1:])]


def idle_gaps(histories, created, gpus):
    """Returns how long a GPU was idle before each run, since another run ended or, at first, since
    the trainings' creation."""
    free = [created] * gpus
    ended = sorted(saved[-1][0] for history in histories for _, saved in history if saved)
    gaps = []
    for began in sorted(began[0] for history in histories for began, _ in history):
        free += [moment for moment in ended if moment <= began]
        ended = [moment for moment in ended if moment > began]
        gaps.append(began - free.pop(0))
    return gaps


def completion_times(cluster, names):
    """Returns the seconds from creation to completion of the Jobs that have completed, by the API
    server's clock."""
    def moment(text):
        return time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))

    return {item["metadata"]["name"]: moment(item["status"]["completionTime"])
            - moment(item["metadata"]["creationTimestamp"])
            for item in cluster.get("jobs")["items"] if item["metadata"]["name"] in names
            and item["status"].get("completionTime")}


def all_completed(cluster, names):
    """Returns the completion times once all Jobs have completed, and something false before."""
    found = completion_times(cluster, names)
    return len(found) == len(names) and found


def simulated(folder, works, gpus, order, round_seconds, restart_cost):
    """Returns the completion times that synergy-lab rounds predicts for trainings that arrive at
    the same time. Each of `works` is its seconds, or a tuple of seconds and GPUs."""
    trace, ends = folder / "trace.csv", folder / "simulated.csv"
    sizes = [work if isinstance(work, tuple) else (work, 1) for work in works]
    rows = [f"{number},{MODEL},0,{round(seconds / ITERATION)},{own}" for number, (seconds, own) in enumerate(sizes)]
    trace.write_text("\n".join(["job_id,model,arrival_s,total_iterations,gpus", *rows, ""]), encoding="utf-8")
    profiles = ROOT / "tests/data/synergy/reference/profiles.json"
    command = [pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy-lab", "rounds", "--trace", trace,
               "--profiles", profiles, "--servers", "1",
               "--gpus", gpus, "--cpus", 3 * gpus, "--memory", f"{63 * gpus}GB", "--mechanism", "proportional",
               "--policy", order,
               "--round", f"{round_seconds}s", "--restart-cost", f"{restart_cost * 1000:.0f}ms", "--jobs-csv", ends,
               "--quiet"]
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    with open(ends, encoding="utf-8", newline="") as file:
        return [float(row["finish_s"]) - float(row["submit_s"]) for row in csv.DictReader(file)]


def beside_simulator(folder, histories, real, works, created, gpus, order, round_seconds):
    """Returns [(real, simulated)] of the sorted completion times, and the cost of a start. A
    simulated start costs what one cost here."""
    cost = statistics.mean(idle_gaps(histories, created, gpus))
    return list(zip(sorted(real), sorted(simulated(folder, works, gpus, order, round_seconds, cost)))), cost
