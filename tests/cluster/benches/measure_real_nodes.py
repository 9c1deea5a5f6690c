"""Measures trainers and arriving pods on four real nodes. scripts/bench.sh nodes builds what it
needs and runs it."""

import argparse
import json
import os
import pathlib
import signal
import sys

import arrivals
import speeds
import trainers
from real_nodes import real_nodes, log


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ways", default=",".join(trainers.WAYS), help="proportional first (%(default)s)")
    parser.add_argument("--rounds", type=int, default=4,
                        help="number of rounds; each runs all ways, in another order (%(default)s)")
    parser.add_argument("--seconds", type=float, default=15,
                        help="seconds for which iterations are counted (%(default)s)")
    parser.add_argument("--cycles", type=int, default=5,
                        help="number of cycles, in each of which two pods arrive and leave (%(default)s)")
    parser.add_argument("--instance", type=int, default=6,
                        help="number from which the cluster's ports and addresses follow (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the orders (%(default)s)")
    parser.add_argument("--sensitive-first", action="store_true",
                        help="create the pods in the order in which kube-scheduler itself mixes the kinds")
    parser.add_argument("--goals", action="store_true",
                        help="print which goals are met; exit status 1 if any is missed")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures to this file")
    arguments = parser.parse_args()
    results, stages = [], []
    # The folder is always the same, so that a run removes what a killed run has left.
    state = pathlib.Path(os.environ.get("XDG_STATE_HOME", pathlib.Path.home() / ".local/state"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with real_nodes(state / f"synergy/real-nodes-{arguments.instance}", arguments.instance) as cluster:
        if arguments.rounds:
            results = speeds.compare(cluster, arguments.ways.split(","), arguments.rounds, arguments.seconds,
                                     arguments.seed, shuffled=not arguments.sensitive_first)
        if arguments.cycles:
            arriving = arrivals.Arrivals(cluster)
            for _ in range(arguments.cycles):
                arriving.cycle()
            stages = arriving.stages
    goals = {}
    if results:
        table = speeds.summary(results)
        speeds.show_summary(table)
        goals |= speeds.goals(table)
    if stages:
        arrivals.show_arrivals(stages)
        goals |= arrivals.goals(stages)
    if arguments.json:
        arguments.json.write_text(json.dumps({"rounds": results, "arrivals": stages}, indent=1), encoding="utf-8")
    if not arguments.goals:
        return 0
    for goal, met in goals.items():
        log(f"{'met   ' if met else 'MISSED'} {goal}")
    return 0 if all(goals.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
