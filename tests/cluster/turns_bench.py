"""How long trainings take that take turns on real nodes, in a queue of Kueue's under las, against what synergy simulate says. Each
node has one GPU, and all see the checkpoints. scripts/bench.sh turns runs it; docs/queues.md has the figures.

  turns_bench.py [--runs N] [--round SECONDS] [--instance N] [--json FILE]

Three trainings with work for two rounds each, less what their starts cost, have two GPUs: the simulator gives what a training leaves
to the next one only as a round begins, and that must not be what is compared. Exit status 1 when a completion time is more than 5 %
off, or an iteration was lost.
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
from real_nodes import explained, say

NODES = 2
QUEUE = "real"
LEFT_FOR_STARTS = 4  # seconds of two rounds
GOAL = 0.05


@contextlib.contextmanager
def cluster_with_kueue(folder, instance):
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(own_cluster(
            folder, instance, "--real-nodes", str(NODES), "--simulated-nodes", "0", "--controller", os.environ["SYNERGY_BIN"], "--agents",
            "--kueue"))
        trainers.load_image(cluster)
        trainers.advertise_gpus(cluster, 1)
        cluster.create(queues.FLAVOR, *queues.of_turns(QUEUE, NODES), turns.PROFILE)
        wait_for("the profile to be judged", lambda: cluster.get("trainingprofile", "takes-turns").get("status", {}).get("demand"))
        extender = Extender(cluster)
        stack.callback(extender.log.close)
        extender.start()
        stack.callback(extender.end)
        yield cluster


def run(cluster, number, round_seconds):
    """One run's facts."""
    folder = cluster.folder / "checkpoints" / str(number)
    folder.mkdir(parents=True)
    work = dict.fromkeys(("a", "b", "c"), 2 * round_seconds - LEFT_FOR_STARTS)
    cluster.create(queues.round_policy(QUEUE, "las", round_seconds, least=5, cost=2))
    time.sleep(round_seconds - time.time() % round_seconds)
    created = time.time()
    cluster.create(*(turns.training(name, QUEUE, seconds, folder) for name, seconds in work.items()))
    with explained(cluster):
        real = wait_for("all to finish", lambda: turns.all_completed(cluster, work), 6 * round_seconds + 60)
    histories = [turns.runs(folder, name) for name in work]
    pairs, cost = turns.beside_simulator(cluster.folder, histories, real.values(), work.values(), created, NODES, "las", round_seconds)
    facts = {"real_seconds": [pair[0] for pair in pairs], "simulated_seconds": [round(pair[1], 1) for pair in pairs], "start_cost": round(cost, 2),
             "lost_turns": sum(map(len, histories)) - len(work), "lost_iterations": sum(map(sum, map(turns.lost_iterations, histories))),
             "off": [round(pair[0] / pair[1] - 1, 4) for pair in pairs]}
    cluster.kubectl("delete", "jobs", "--all")
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
                results.append(run(cluster, number, options.round))
                say(json.dumps(results[-1]))
    worst = max(abs(off) for facts in results for off in facts["off"])
    mean = statistics.mean(off for facts in results for off in facts["off"])
    goals = {"completion times within 5 % of the simulator's": worst <= GOAL,
             "no iteration lost": not any(facts["lost_iterations"] for facts in results),
             "turns were taken": all(facts["lost_turns"] for facts in results)}
    say(f"completion times: {worst:.1%} off at most, {mean:+.1%} on average")
    for goal, met in goals.items():
        say(f"{'met   ' if met else 'MISSED'}  {goal}")
    if options.json:
        options.json.write_text(json.dumps({"round": options.round, "runs": results, "worst": worst, "goals": goals}, indent=2) + "\n",
                                encoding="utf-8")
    return 0 if all(goals.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
