"""Runs the race of two gangs (gang_race.py) many times, and measures how soon gangs run.
scripts/bench.sh gangs runs it.

  gangs_bench.py [--rounds N] [--times N] [--seed N] [--instance N] [--json FILE]

In every fourth round of the race, a member of one gang is deleted midway and created again.
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import tempfile
import time

import fungible
from cluster import Extender, own_cluster, wait_for
from gang_race import SIZE, GangRace, gang, on


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
    return {"rounds": len(course.seconds), "seed": options.seed, "members": SIZE, "looks": course.looks,
            "members_lost": course.lost, "seconds": round(time.monotonic() - started),
            "seconds_for_both_gangs": {"least": round(seconds[0], 1), "median": round(statistics.median(seconds), 1),
                                       "most": round(seconds[-1], 1)}, "violations": violations}


def on_any(nodes):
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": list(nodes)}]}]}}}


def apart(name):
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"labelSelector": {"matchLabels": {"synergy.io/gang": name}}, "topologyKey": "kubernetes.io/hostname"}]}}


class Figures:
    """Collects the seconds from the creation of a gang's pods until all are bound."""

    def __init__(self, cluster, nodes, times):
        self.cluster, self.nodes, self.times = cluster, nodes, times

    def until_bound(self, pods):
        names = {each["metadata"]["name"] for each in pods}
        since = time.monotonic()
        self.cluster.create(*pods)
        wait_for("all to be bound", lambda: names <= set(self.cluster.bound()))
        return round(time.monotonic() - since, 2)

    def several(self, measure):
        seconds = []
        for number in range(self.times):
            seconds.append(measure(number))
            self.cluster.clear()
        return {"median": statistics.median(seconds), "most": max(seconds)}

    def one_on_each(self, size):
        nodes = self.nodes[:size]
        return self.several(lambda number: self.until_bound(
            gang(f"a{number}", size=size, affinity={**on_any(nodes), **apart(f"a{number}")})))

    def fill(self, nodes):
        """Fills each node's CPU with three pods."""
        for node in nodes:
            for i in range(3):
                self.until_bound([fungible.pod(f"peer-{node}-{i}", "sensitive",
                                               nodeSelector={"kubernetes.io/hostname": node})])
        wait_for("them to have all CPU", lambda: sum(int(item["spec"]["containers"][0]["resources"]["requests"]["cpu"])
                                                     for item in self.cluster.pods().values()) == fungible.ALLOCATABLE
                 * len(nodes))

    def by_cuts(self, size, nodes):
        def measure(number):
            self.fill(nodes)
            pods = [fungible.pod(f"c{number}-{i}", "sensitive", nodeSelector={}, affinity=on_any(nodes))
                    for i in range(size)]
            for each in pods:
                if size > 1:
                    each["metadata"]["labels"].update({"synergy.io/gang": f"c{number}",
                                                       "synergy.io/gang-size": str(size)})
            return self.until_bound(pods)
        return self.several(measure)

    def beside_a_hold(self, extender):
        """Measures a gang that needs places which are held for an incomplete gang of lower
        priority."""
        node = self.nodes[0]

        def measure(number):
            low = gang(f"low{number}", **on(node))
            # Only kube-scheduler checks pod affinity, and no node satisfies this one.
            low[-1]["spec"]["affinity"] = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"nobody": "has-it"}}, "topologyKey": "kubernetes.io/hostname"}]}}
            self.cluster.create(*low)
            wait_for("its places to be held", lambda: extender.metric("synergy_extender_held_gangs") == 1)
            return self.until_bound(gang(f"high{number}", **on(node), priorityClassName="bench-high"))
        return self.several(measure)


def figures(cluster, options):
    nodes = sorted(node["metadata"]["name"] for node in cluster.get("nodes")["items"])
    cluster.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "bench-high"},
                    "value": 1000})
    with contextlib.ExitStack() as stack:
        stack.enter_context(cluster.controller(tuner="{round: 2s}"))
        cluster.create(fungible.SENSITIVE)
        wait_for("the profile to be judged",
                 lambda: cluster.get("trainingprofile", "sensitive").get("status", {}).get("demand"))
        extender = Extender(cluster, settings="locality: {nodeWait: 0s, rackWait: 0s}\n")
        stack.callback(extender.log.close)
        extender.start()
        stack.callback(extender.end)
        course = Figures(cluster, nodes, options.times)
        return {"8 on 8 nodes": course.one_on_each(8), "64 on 64 nodes": course.one_on_each(64),
                "a single pod by cuts": course.by_cuts(1, nodes[:1]),
                "15 by cuts on 3 nodes": course.by_cuts(15, nodes[:3]),
                "8 of high priority": course.several(
                    lambda number: course.until_bound(gang(f"h{number}", **on(nodes[0])))),
                "8 of high priority beside a hold": course.beside_a_hold(extender)}


def main():
    parser = argparse.ArgumentParser()
    for name, default in (("rounds", 100), ("times", 5), ("seed", 5), ("instance", 8)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="synergy-gangs.") as folder, own_cluster(
            pathlib.Path(folder), options.instance, "--real-nodes", "0", "--simulated-nodes", "2") as cluster:
        result = race(cluster, options)
    with tempfile.TemporaryDirectory(prefix="synergy-gangs.") as folder, own_cluster(
            pathlib.Path(folder), options.instance, "--real-nodes", "0", "--simulated-nodes", "64",
            "--controller", os.environ["SYNERGY_BIN"]) as cluster:
        result["seconds_until_bound"] = figures(cluster, options)
    print(json.dumps(result, indent=2))
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return 1 if result["violations"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
