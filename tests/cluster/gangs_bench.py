"""The race of two gangs (gang_race.py), many times. scripts/bench.sh gangs runs it.

  gangs_bench.py [--rounds N] [--seed N] [--instance N] [--json FILE]

In every fourth round a member of one of the gangs is deleted in the middle, and comes again.
"""

import argparse
import json
import pathlib
import statistics
import tempfile
import time

from cluster import Extender, own_cluster
from gang_race import SIZE, GangRace


def race(cluster, options):
    nodes = sorted(node["metadata"]["name"] for node in cluster.get("nodes")["items"])
    extender = Extender(cluster, settings="gangHold: 15s\n")
    extender.start()
    course = GangRace(cluster, extender, *nodes, options.seed)
    violations = []
    started = time.monotonic()
    try:
        for number in range(options.rounds):
            course.run(number, loses=number % 4 == 3)
            if number % 10 == 9:
                print(f"{number + 1:4} rounds, {time.monotonic() - started:.0f} s", flush=True)
    except AssertionError as error:
        violations.append(f"round {len(course.seconds)}: {error}")
    finally:
        extender.end()
        extender.log.close()
    seconds = sorted(course.seconds) or [0.0]
    return {"rounds": len(course.seconds), "seed": options.seed, "members": SIZE, "looks": course.looks, "members_lost": course.lost,
            "seconds": round(time.monotonic() - started),
            "seconds_for_both_gangs": {"least": round(seconds[0], 1), "median": round(statistics.median(seconds), 1),
                                       "most": round(seconds[-1], 1)}, "violations": violations}


def main():
    parser = argparse.ArgumentParser()
    for name, default in (("rounds", 100), ("seed", 5), ("instance", 8)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="synergy-gangs.") as folder, own_cluster(
            pathlib.Path(folder), options.instance, "--real-nodes", "0", "--simulated-nodes", "2") as cluster:
        result = race(cluster, options)
    print(json.dumps(result, indent=2))
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return 1 if result["violations"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
