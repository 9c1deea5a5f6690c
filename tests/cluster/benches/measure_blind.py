"""Measures how well trainers without profiles do on four real nodes. scripts/bench.sh profiling
builds what it needs and runs it."""

import argparse
import json
import os
import pathlib
import random
import signal
import sys

import blind
import gang_trainers
import odd_trainers
from real_nodes import real_nodes, log


# While a floor rises, it is written before the CPU follows.
LONGEST_BELOW = 10


def goals(rounds):
    met = {}
    for way in sorted({facts["enforcement"] for facts in rounds}):
        here = [facts for facts in rounds if facts["enforcement"] == way]
        for run in ("blind", "again"):
            least = min(facts[run]["total"] / facts[run]["by_hand"] for facts in here)
            met[f"{way}, {run}: at least 0.98 of hand-made profiles ({least:.3f})"] = least >= 0.98
        for kind in blind.MOST:
            lost = max(facts["measured"].get(kind, {}).get("lostIterations", 0) for facts in here) / (
                3600 * blind.MOST[kind])
            met[f"{way}, {kind}: less than 1 % of the first hour lost ({lost:.2%})"] = lost < 0.01
        late = [facts["blind"]["gain"][0.8] for facts in here]
        met[f"{way}: 80 % of the gain within 60 s ({', '.join(map(str, late))} s)"] = all(
            seconds and seconds <= 60 for seconds in late)
        worst = max((abs(error) for facts in here for kind, status in facts["measured"].items()
                     for _, error in blind.errors(status, kind)[0]), default=1)
        met[f"{way}: each measured point within 5 % ({worst:.1%})"] = worst <= 0.05
    of_seconds = [error for facts in rounds for kind, status in facts["measured"].items() if kind == "sensitive"
                  for error in [blind.errors(status, kind)[1]] if error is not None]
    spread = f"{min(of_seconds):+.1%} to {max(of_seconds):+.1%}, rounds: {len(of_seconds)}" if of_seconds else "unknown"
    met[f"sensitive: CPU seconds of an iteration within 3 % ({spread})"] = bool(of_seconds) and max(
        map(abs, of_seconds)) <= 0.03
    below = max(facts["blind"]["below_floor"] for facts in rounds)
    met[f"no pod below its floor for more than {LONGEST_BELOW} s ({below:.0f} s)"] = below <= LONGEST_BELOW
    met["no container restarted"] = not any(facts[run]["restarts"] for facts in rounds for run in ("blind", "again"))
    return met


def odd_round(cluster, kinds, seconds, least):
    facts, below = odd_trainers.train(cluster, kinds, seconds, least)
    odd_trainers.show(kinds, facts)
    explanations = {name: odd_trainers.explained(cluster, name)
            for name, odd in kinds.items() if odd.concluded == odd_trainers.SILENT}
    cluster.clear()
    return {"facts": facts, "below_floor": below, "explained": explanations}


def odd_trainers_of(state, instance, names):
    """Measures all kinds of odd trainers, or those named. The measurements follow each other: eight
    trainers on four small nodes, two ranks of one training on two of those nodes, and trainers that
    need a node with more than a core."""
    rounds = []
    small, large = ({name: odd for name, odd in kinds.items() if not names or name in names}
                    for kinds in (odd_trainers.KINDS, odd_trainers.WHOLE_CORES))
    ranks = not names or "ranks" in names
    if small or ranks:
        with real_nodes(state / f"synergy/odd-{instance}", instance, profiles=False) as cluster:
            if small:
                rounds.append(odd_round(cluster, small, 420, 240))
            if ranks:
                facts, below = gang_trainers.train(cluster, 420)
                rounds.append({"facts": facts, "below_floor": below, "explained": {}})
    if large:
        with real_nodes(state / f"synergy/odd-{instance}", instance, profiles=False, nodes=1, cpu=1500,
                        gpus=1) as cluster:
            for name, odd in large.items():
                rounds.append(odd_round(cluster, {name: odd}, 600, odd.least))
    met = {}
    kinds = {**small, **large, **(dict.fromkeys(gang_trainers.PODS, gang_trainers.ODD) if ranks else {})}
    for each in rounds:
        for name, facts in each["facts"].items():
            wrong = "; ".join(odd_trainers.faults(kinds[name], facts))
            met[f"{name} ({kinds[name].what}): {wrong or 'as expected'}"] = not wrong
        for name, remarks in each["explained"].items():
            met[f"{name}: explain says that it has its fair share"] = any("fair share" in remark for remark in remarks)
    below = max(each["below_floor"] for each in rounds)
    met[f"no pod below its floor for more than {LONGEST_BELOW} s ({below:.0f} s)"] = below <= LONGEST_BELOW
    return rounds, met


def judged(arguments, rounds, met):
    """Prints which goals were met; returns the exit status."""
    if arguments.json:
        arguments.json.write_text(json.dumps(rounds, indent=1), encoding="utf-8")
    if not arguments.goals:
        return 0
    for goal, is_met in met.items():
        log(f"{'met   ' if is_met else 'MISSED'} {goal}")
    return 0 if all(met.values()) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ways", default="strict,shared", help="(%(default)s)")
    parser.add_argument("--rounds", type=int, default=5,
                        help="number of rounds; each creates the trainers in another order (%(default)s)")
    parser.add_argument("--seconds", type=int, default=180,
                        help="length of a round from the start of the trainers (%(default)s)")
    parser.add_argument("--log", choices=blind.LOGS, default="bar", help="what the trainers print (%(default)s)")
    parser.add_argument("--instance", type=int, default=6,
                        help="number from which the cluster's ports and addresses follow (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the orders (%(default)s)")
    parser.add_argument("--kinds", nargs="?", const="", metavar="NAME,...",
                        help="instead, measure trainers whose speed is hard to measure once: all, or these")
    parser.add_argument("--goals", action="store_true",
                        help="print which goals are met; exit status 1 if any is missed")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures to this file")
    arguments = parser.parse_args()
    state = pathlib.Path(os.environ.get("XDG_STATE_HOME", pathlib.Path.home() / ".local/state"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if arguments.kinds is not None:
        names = [name for name in arguments.kinds.split(",") if name]
        unknown = set(names) - {*odd_trainers.KINDS, *odd_trainers.WHOLE_CORES, "ranks"}
        if unknown:
            parser.error(f"--kinds: there is no {', '.join(sorted(unknown))}")
        return judged(arguments, *odd_trainers_of(state, arguments.instance, names))
    blind.log_form = arguments.log
    draw = random.Random(arguments.seed)
    rounds = []
    with real_nodes(state / f"synergy/blind-{arguments.instance}", arguments.instance, profiles=False) as cluster:
        for number in range(arguments.rounds):
            for way in arguments.ways.split(","):
                log(f"round {number + 1} of {arguments.rounds}")
                rounds.append(blind.compare(cluster, way, draw, arguments.seconds))
                # The next round also begins without profiles.
                cluster.kubectl("delete", "trainingprofiles", "--all", "--wait")
            names = blind.order(random.Random(arguments.seed + number))
            rounds[-1]["burstable"] = burstable = blind.burstable_total(cluster, names)
            log(f"Burstable, placed by kube-scheduler: total {burstable['total']:.3f}")
    return judged(arguments, rounds, goals(rounds))


if __name__ == "__main__":
    sys.exit(main())
