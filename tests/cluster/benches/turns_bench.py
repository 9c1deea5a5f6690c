"""Measures how long trainings take when they take turns on real nodes, in a Kueue queue under las,
and compares that with synergy-lab rounds. Each node has one GPU, and all nodes see the checkpoints.
scripts/bench.sh turns runs it; docs/evidence/queues.md has the figures.

  turns_bench.py [--runs N] [--round SECONDS] [--instance N] [--json FILE]

Three trainings of one pod share two GPUs; then a JobSet of two pods and three such trainings share
them. Each has work for two rounds, less the cost of its starts: the simulator passes GPUs on only
when a round begins, and the comparison must not depend on that. The exit status is 1 if a
completion time is more than 5 % off, or if an iteration was lost.
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

import queues
import trainers
import turns
from cluster import Extender, own_cluster, wait_for
from real_nodes import explained, log

NODES = 2
QUEUE = "real"
# Seconds by which a training's work is shorter than two rounds, without and with a JobSet, whose
# pods start together. In the simulator, a training whose start cost makes it need a third round
# holds up others for a whole round.
LEFT_FOR_STARTS = {False: 4, True: 9}
AHEAD = 2  # seconds by which the JobSet arrives first, as in the simulator
GOAL = 0.05


@contextlib.contextmanager
def cluster_with_kueue(folder, instance):
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(own_cluster(
            folder, instance, "--real-nodes", str(NODES), "--simulated-nodes", "0",
            "--controller", os.environ["SYNERGY_BIN"], "--agents", "--kueue", "--training-operators"))
        trainers.load_image(cluster)
        trainers.advertise_gpus(cluster, 1)
        cluster.create(queues.FLAVOR, *queues.of_turns(QUEUE, NODES), turns.PROFILE)
        wait_for("the profile to be judged",
                 lambda: cluster.get("trainingprofile", "takes-turns").get("status", {}).get("demand"))
        extender = Extender(cluster)
        stack.callback(extender.log.close)
        extender.start()
        stack.callback(extender.end)
        yield cluster


def run(cluster, number, with_job_set, round_seconds):
    """Makes one run, and returns its figures."""
    folder = cluster.folder / "checkpoints" / f"{number}-{'job-set' if with_job_set else 'jobs'}"
    folder.mkdir(parents=True)
    work, singles = 2 * round_seconds - LEFT_FOR_STARTS[with_job_set], ["a", "b", "c"]
    jobs, files, works = list(singles), list(singles), [work] * len(singles)
    cluster.create(queues.round_policy(QUEUE, "las", round_seconds, least=5, cost=2))
    begins = ((time.time() + AHEAD) // round_seconds + 1) * round_seconds
    time.sleep(begins - (AHEAD if with_job_set else 0) - time.time())
    created = time.time()
    if with_job_set:
        cluster.create(turns.job_set("set", QUEUE, work, folder, NODES))
        jobs.append(turns.job_of("set"))
        files += [turns.rank_of("set", rank) for rank in range(NODES)]
        works.insert(0, (work, NODES))
        time.sleep(begins - time.time())
    cluster.create(*(turns.training(name, QUEUE, work, folder) for name in singles))
    with explained(cluster):
        real = wait_for("all to finish", lambda: turns.all_completed(cluster, jobs), 8 * round_seconds + 60)
    histories = [turns.runs(folder, file) for file in files]
    pairs, cost = turns.beside_simulator(cluster.folder, histories, real.values(), works, created, NODES, "las",
                                         round_seconds)
    facts = {"job_set": with_job_set, "real_seconds": [pair[0] for pair in pairs],
             "simulated_seconds": [round(pair[1], 1) for pair in pairs], "start_cost": round(cost, 2),
             "lost_turns": sum(map(len, histories)) - len(files),
             "lost_iterations": sum(map(sum, map(turns.lost_iterations, histories))),
             "off": [round(pair[0] / pair[1] - 1, 4) for pair in pairs]}
    cluster.kubectl("delete", "jobs,jobsets", "--all", "--cascade=foreground")
    cluster.kubectl("delete", "roundpolicy", QUEUE)
    wait_for("the queue to be empty", lambda: not cluster.get("workloads")["items"])
    return facts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--round", type=int, default=60)
    parser.add_argument("--instance", type=int, default=10)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory(prefix="synergy-turns.") as folder:
        with cluster_with_kueue(pathlib.Path(folder), options.instance) as cluster:
            for number in range(options.runs):
                for with_job_set in (False, True):
                    results.append(run(cluster, number, with_job_set, options.round))
                    log(json.dumps(results[-1]))
    worst = max(abs(off) for facts in results for off in facts["off"])
    mean = statistics.mean(off for facts in results for off in facts["off"])
    goals = {"completion times within 5 % of the simulator's": worst <= GOAL,
             "no iteration lost": not any(facts["lost_iterations"] for facts in results),
             "turns were taken": all(facts["lost_turns"] for facts in results)}
    log(f"completion times: {worst:.1%} off at most, {mean:+.1%} on average")
    for goal, met in goals.items():
        log(f"{'met   ' if met else 'MISSED'}  {goal}")
    if options.json:
        options.json.write_text(
            json.dumps({"round": options.round, "runs": results, "worst": worst, "goals": goals}, indent=2) + "\n",
            encoding="utf-8")
    return 0 if all(goals.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
