"""Measures elastic trainings on a real node of six GPUs: two that run and one that arrives, under
`policy: optimus` and with equal shares. scripts/bench.sh optimus runs it; docs/internals/optimus.md
has the figures.

  optimus_bench.py [--runs N] [--round SECONDS] [--instance N] [--json FILE]

Each training begins with one worker. One of the first two becomes slower with more workers, which
the policy must find out. For equal shares, this program sets the sizes when rounds begin, with the
write that the controller uses; the first Jobs get the remaining GPUs. The exit status is 1 if an
iteration was lost, if more GPUs were given out than exist, or if the sum of the completion times is
not below that of equal shares.
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import sys
import tempfile
import threading
import time

import elastic
import queues
import trainers
import turns
from cluster import Extender, own_cluster, wait_for
from real_nodes import explained, log

GPUS = 6
QUEUE = "real"
# Job -> its iterations, the milliseconds of one, and the milliseconds that each worker adds.
JOBS = {"scales": (1600, 400, 5), "does-not": (900, 100, 60), "arrives": (400, 400, 5)}
FIRST = ("scales", "does-not")
RESTART = 5  # seconds


@contextlib.contextmanager
def cluster_with_kueue(folder, instance):
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(own_cluster(
            folder, instance, "--real-nodes", "1", "--simulated-nodes", "0", "--controller", os.environ["SYNERGY_BIN"],
            "--agents", "--kueue"))
        trainers.load_image(cluster)
        trainers.advertise_gpus(cluster, GPUS)
        cluster.create(queues.FLAVOR, *queues.of_turns(QUEUE, GPUS), turns.PROFILE)
        wait_for("the profile to be judged",
                 lambda: cluster.get("trainingprofile", "takes-turns").get("status", {}).get("demand"))
        extender = Extender(cluster)
        stack.callback(extender.log.close)
        extender.start()
        stack.callback(extender.end)
        yield cluster


def share_equally(cluster, round_seconds, ended):
    """Sets equal sizes when rounds begin; shrinks Jobs before it grows others."""
    while not ended.wait(round_seconds - time.time() % round_seconds):
        jobs = [item for item in cluster.get("jobs")["items"] if not item["status"].get("completionTime")]
        jobs.sort(key=lambda item: list(JOBS).index(item["metadata"]["name"]))
        changes = []
        for place, item in enumerate(jobs):
            share = GPUS // len(jobs) + (1 if place < GPUS % len(jobs) else 0)
            if share != item["spec"]["parallelism"]:
                changes.append((share - item["spec"]["parallelism"], item["metadata"]["name"], share))
        for _, name, share in sorted(changes):
            size = {"suspend": True, "parallelism": share, "completions": share}
            cluster.kubectl("patch", "job", name, "--type", "merge", "--patch", json.dumps({"spec": size}))


def train(cluster, folder, name):
    iterations, step, exchange = JOBS[name]
    cluster.create(elastic.training(name, QUEUE, 1, iterations, folder, step, exchange, GPUS))


def run(cluster, number, way, round_seconds):
    """Makes one run, and returns its figures."""
    folder = cluster.folder / "checkpoints" / f"{number}-{way}"
    folder.mkdir(parents=True)
    ended = threading.Event()
    equal = threading.Thread(target=share_equally, args=(cluster, round_seconds, ended))
    if way == "optimus":
        cluster.create(queues.round_policy(QUEUE, "fifo", round_seconds, least=round_seconds // 2, cost=RESTART,
                                           workers="Elastic"))
    time.sleep(round_seconds - time.time() % round_seconds + 2)
    with elastic.Watcher(cluster, QUEUE) as watcher:
        for name in FIRST:
            train(cluster, folder, name)
        if way == "equal":
            equal.start()
        time.sleep(4 * round_seconds)
        train(cluster, folder, "arrives")
        with explained(cluster):
            times = wait_for("all to finish", lambda: turns.all_completed(cluster, JOBS), 600)
    ended.set()
    if way == "equal":
        equal.join()
    histories = [turns.runs(folder, name) for name in JOBS]
    facts = {"way": way, "seconds": {name: times[name] for name in JOBS}, "total": sum(times.values()),
             "workers": {name: watcher.sizes[name] for name in JOBS}, "most_gpus": watcher.most,
             "starts": sum(map(len, histories)),
             "lost_iterations": sum(map(sum, map(turns.lost_iterations, histories)))}
    cluster.kubectl("delete", "jobs", "--all", "--cascade=foreground")
    cluster.kubectl("delete", "roundpolicies", "--all")
    wait_for("the queue to be empty", lambda: not cluster.get("workloads")["items"])
    return facts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--round", type=int, default=20)
    parser.add_argument("--instance", type=int, default=9)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory(prefix="synergy-optimus.") as folder:
        with cluster_with_kueue(pathlib.Path(folder), options.instance) as cluster:
            for number in range(options.runs):
                for way in ("optimus", "equal"):
                    results.append(run(cluster, number, way, options.round))
                    log(json.dumps(results[-1]))
    totals = {way: statistics.mean(facts["total"] for facts in results if facts["way"] == way)
              for way in ("optimus", "equal")}
    goals = {"completion times together below those of equal shares": totals["optimus"] < totals["equal"],
             "no iteration lost": not any(facts["lost_iterations"] for facts in results),
             "within the quota": all(facts["most_gpus"] <= GPUS for facts in results),
             "workers moved": all(len(facts["workers"]["scales"]) > 1 for facts in results)}
    log(f"completion times together: {totals['optimus']:.0f} s, with equal shares {totals['equal']:.0f} s "
        f"({totals['optimus'] / totals['equal'] - 1:+.1%})")
    for goal, met in goals.items():
        log(f"{'met   ' if met else 'MISSED'}  {goal}")
    if options.json:
        options.json.write_text(
            json.dumps({"round": options.round, "runs": results, "totals": totals, "goals": goals}, indent=2) + "\n",
            encoding="utf-8")
    return 0 if all(goals.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
