#!/usr/bin/env python3
"""Trainers on four real nodes: what Synergy brings there, and how soon a pod has what it waits for (docs/real-nodes.md).

Eight trainers with a GPU each, half of them sensitive to CPU, are created at once, in an order drawn by lot; then again with
nothing changed but what the pods ask for and who places them (trainers.WAYS). Their iterations are counted while all of them
run. Then pods arrive on GPUs beside pods that have all the CPU, and leave again.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import re
import socket
import statistics
import sys
import tempfile
import time
import urllib.request

import trainers
from api import Api, PodWatch
from cluster import Cluster, Extender, script, wait_for

NODES = 4


def say(text):
    print(text, flush=True)


@contextlib.contextmanager
def real_nodes(folder, instance):
    """A cluster of its own with extender and controller, the trainers' image and profiles."""
    folder.mkdir(parents=True, exist_ok=True)
    state = folder / "cluster"
    # What an interrupted run left must not count as the cluster of this one.
    if (state / "settings").exists():
        script(state, "down")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "extender-port").write_text(str(port), encoding="utf-8")
    with contextlib.ExitStack() as stack:
        stack.callback(script, state, "down")
        script(state, "up", "--instance", str(instance), "--real-nodes", str(NODES), "--real-node-cpu", str(trainers.NODE_CPU),
               "--simulated-nodes", "0", "--extender", f"http://127.0.0.1:{port}", "--controller", os.environ["SYNERGY_BIN"])
        cluster = Cluster(folder)
        trainers.load_image(cluster)
        trainers.advertise_gpus(cluster)
        cluster.create(*(trainers.profile(kind) for kind in trainers.KINDS))
        for kind in trainers.KINDS:
            wait_for(f"profile {kind} to be judged",
                     lambda kind=kind: cluster.get("trainingprofile", kind).get("status", {}).get("demand"))
        extender = Extender(cluster)
        stack.callback(extender.log.close)
        extender.start()
        stack.callback(extender.end)
        yield cluster


@contextlib.contextmanager
def explained(cluster):
    """When what is inside fails, says what has become of the pods."""
    try:
        yield
    except Exception:
        say(cluster.kubectl("get", "pods", "--output", "wide"))
        say(cluster.kubectl("get", "events", "--sort-by", ".lastTimestamp"))
        raise


def tuner_metric(cluster, name):
    with urllib.request.urlopen(cluster.environment["SYNERGY_CONTROLLER_URL"] + "/metrics", timeout=10) as answer:
        return float(re.search(f"^{name} (.*)$", answer.read().decode(), re.M).group(1))


def await_rest(cluster):
    """All pods run with the CPU that they request, and keep it for some seconds; returns them."""

    def look():
        pods = cluster.pods()
        running = all(trainers.is_running(pod) for pod in pods.values())
        has = {name: trainers.milli_cpu(pod, "status") for name, pod in pods.items()}
        asks = {name: trainers.milli_cpu(pod) for name, pod in pods.items()}
        return pods, asks if running and has == asks else None

    def same_for_some_time():
        before = look()[1]
        time.sleep(3)
        pods, after = look()
        return pods if after and after == before else None

    return wait_for("all trainers to run and to have what they ask for", same_for_some_time, 120)


def run_way(cluster, way, order, seconds):
    """Pod name -> facts of one run of the trainers, created in that order."""
    cluster.create(*(trainers.pod(name, name.split("-")[0], way) for name in order))
    await_rest(cluster)
    since = time.time()
    time.sleep(seconds)
    until = time.time()
    speeds = trainers.speeds(cluster, since, until)
    facts = {}
    for name, pod in cluster.pods().items():
        facts[name] = {"kind": pod["metadata"]["labels"]["kind"], "node": pod["spec"]["nodeName"], "cpu": trainers.milli_cpu(pod),
                       "restarts": trainers.restarts(pod), "speed": speeds[name]}
    cluster.clear()
    return facts


def compare(cluster, ways=tuple(trainers.WAYS), rounds=2, seconds=12, seed=1, shuffled=True):
    """One entry for each round: the order, and way -> pod -> facts."""
    draw = random.Random(seed)
    results = []
    for number in range(1, rounds + 1):
        order = [f"{kind}-{i}" for kind in trainers.KINDS for i in range(NODES * trainers.GPUS // 2)]
        if shuffled:
            draw.shuffle(order)
        say(f"round {number} of {rounds}: {' '.join(name[0] for name in order)}  (s: sensitive, i: insensitive)")
        result = {"order": order, "ways": {}}
        for way in ways:
            with explained(cluster):
                result["ways"][way] = facts = run_way(cluster, way, order, seconds)
            say(f"  {way:12} {describe(facts)}")
        results.append(result)
    return results


def describe(facts):
    """Node by node, the speeds of its pods."""
    nodes = {}
    for pod in facts.values():
        nodes.setdefault(pod["node"], []).append(f"{pod['kind'][0]} {pod['speed']:.1f}")
    return "   ".join(f"{node[-1]}: {', '.join(sorted(pods, reverse=True))}" for node, pods in sorted(nodes.items()))


def relative(results, way):
    """Pod name -> speed in units of its proportional speed in the same round, the mean of all rounds."""
    ratios = {}
    for result in results:
        for name, facts in result["ways"][way].items():
            ratios.setdefault(name, []).append(facts["speed"] / result["ways"]["proportional"][name]["speed"])
    return {name: statistics.mean(values) for name, values in ratios.items()}


def mixed_nodes(facts):
    """Nodes on which a sensitive and an insensitive pod run side by side."""
    kinds = {}
    for pod in facts.values():
        kinds.setdefault(pod["node"], set()).add(pod["kind"])
    return sum(len(found) == 2 for found in kinds.values())


def summary(results):
    """Way -> figures over all rounds."""
    table = {}
    for way in results[0]["ways"]:
        speeds = relative(results, way)
        kinds = {kind: statistics.mean(facts["speed"] for result in results for facts in result["ways"][way].values()
                                       if facts["kind"] == kind) for kind in trainers.KINDS}
        table[way] = {
            "total": statistics.mean(speeds.values()),
            "slowest": min(speeds.values()),
            "mixed_nodes": statistics.mean(mixed_nodes(result["ways"][way]) for result in results),
            "restarts": sum(facts["restarts"] for result in results for facts in result["ways"][way].values()),
            **kinds,
        }
    return table


def show_summary(table):
    say("way            total   slowest pod   mixed nodes   sensitive it/s   insensitive it/s   restarts")
    for way, row in table.items():
        say(f"{way:12} {row['total']:7.3f} {row['slowest']:13.3f} {row['mixed_nodes']:13.1f} {row['sensitive']:16.1f}"
            f" {row['insensitive']:18.1f} {row['restarts']:10}")


class Arrivals:
    """Two nodes of four have one sensitive pod each, with nearly all of the node's CPU, and a GPU that is free."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.api = Api(cluster)
        self.stages = []
        self.lowest = {}  # pod name -> the least CPU that it was ever seen to request
        cluster.create(*(trainers.pod(f"early-{i}", "sensitive", "shared") for i in range(NODES)))
        await_rest(cluster)
        cluster.create(*(trainers.pod(f"filler-{i}", "insensitive", "shared") for i in range(NODES - 2)))
        self.pods = await_rest(cluster)

    def arrive(self, name):
        """A sensitive pod more; returns when it runs, and remembers what took how long."""
        with PodWatch(self.api) as watch:
            created = time.monotonic()
            self.api.create_pod(trainers.pod(name, "sensitive", "shared"))

            def of_it(check):
                return watch.first(lambda pod: pod["metadata"]["name"] == name and check(pod), created)

            def condition(pod):
                return next((c for c in pod["status"].get("conditions", []) if c["type"] == "PodScheduled"), {})

            unschedulable, _ = of_it(lambda pod: condition(pod).get("reason") == "Unschedulable")
            running, late = of_it(lambda pod: pod["status"].get("phase") in ("Running", "Failed"))
            if not trainers.is_running(late):
                raise AssertionError(f"{name} failed: {late['status'].get('reason')}: {late['status'].get('message')}")
            bound, _ = of_it(lambda pod: pod["spec"].get("nodeName"))
            node = late["spec"]["nodeName"]
            before = {n: trainers.milli_cpu(pod) for n, pod in self.pods.items() if pod["spec"]["nodeName"] == node}

            def cut(of):
                def less(pod):
                    cpu = trainers.milli_cpu(pod, of)
                    return cpu is not None and cpu < before.get(pod["metadata"]["name"], 0)
                return watch.first(less, created)[0]

            patched, in_force = cut("spec"), cut("status")
            for _, _, pod in watch.events:
                cpu = trainers.milli_cpu(pod)
                self.lowest[pod["metadata"]["name"]] = min(cpu, self.lowest.get(pod["metadata"]["name"], cpu))
        self.stages.append({
            "total": running - created, "refused": unschedulable - created, "patched": patched - unschedulable,
            "cut in force": in_force - patched, "bound": bound - in_force, "running": running - bound, "node": node})

    def cycle(self):
        """Two arrive one after the other, and leave again. Returns the pods as they were with both, and after."""
        names = [f"late-{len(self.stages) + i}" for i in range(2)]
        for name in names:
            with explained(self.cluster):
                self.arrive(name)
        crowded = await_rest(self.cluster)
        rounds = tuner_metric(self.cluster, "synergy_tuner_rounds_total")
        left = time.monotonic()
        self.cluster.kubectl("delete", "pod", *names, "--force", "--grace-period=0", "--wait=false")
        wait_for("them to be gone", lambda: not set(names) & set(self.cluster.pods()))
        had = sum(trainers.milli_cpu(pod) for pod in self.pods.values())
        wait_for("the others to have what they had before",
                 lambda: sum(trainers.milli_cpu(pod, "status") or 0 for pod in self.cluster.pods().values()) >= had, 120)
        self.stages[-1]["grown after"] = time.monotonic() - left
        self.stages[-1]["rounds until grown"] = tuner_metric(self.cluster, "synergy_tuner_rounds_total") - rounds
        self.pods = await_rest(self.cluster)
        say(f"  two more arrived and left: {self.stages[-2]['total']:.1f} and {self.stages[-1]['total']:.1f} s until they"
            f" ran, {self.stages[-1]['grown after']:.1f} s until the others had their CPU back")
        return crowded, self.pods


STAGES = {
    "refused": "kube-scheduler finds no place (webhook, its queue, its filters)",
    "patched": "ours: from the news that it is Unschedulable to the cut of a peer",
    "cut in force": "kubelet of the peer",
    "bound": "kube-scheduler tries again (back-off); the extender binds",
    "running": "kubelet starts the container",
    "total": "from its creation until it is Running",
}


def show_arrivals(stages):
    say(f"seconds     p50     max   ({len(stages)} arrivals)")
    for name, what in STAGES.items():
        values = [stage[name] for stage in stages]
        say(f"{name:12} {statistics.median(values):5.2f} {max(values):7.2f}   {what}")
    grown = [stage["grown after"] for stage in stages if "grown after" in stage]
    say(f"two leave: the others have grown {', '.join(f'{value:.1f}' for value in grown)} s after it")


def speed_goals(table):
    ours = ("strict", "shared")
    return {
        **{f"{way}: at least 1.4 x proportional": table[way]["total"] >= 1.4 for way in ours},
        **{f"{way}: above burstable": table[way]["total"] > table["burstable"]["total"] for way in ours},
        "no pod of ours below 0.95 x its proportional speed": min(table[way]["slowest"] for way in ours) >= 0.95,
        "no container restarted": not any(row["restarts"] for row in table.values()),
    }


def arrival_goals(stages):
    return {
        "an arriving pod runs within 3 s (p50)": statistics.median(stage["total"] for stage in stages) < 3,
        "our part of it is below 0.3 s (p50)": statistics.median(stage["patched"] for stage in stages) < 0.3,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="each with all four ways, in an order of its own (%(default)s)")
    parser.add_argument("--seconds", type=float, default=20, help="for which iterations are counted (%(default)s)")
    parser.add_argument("--cycles", type=int, default=5, help="in each two pods arrive and leave (%(default)s)")
    parser.add_argument("--instance", type=int, default=6, help="which ports and addresses the cluster takes (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the orders (%(default)s)")
    parser.add_argument("--sensitive-first", action="store_true", help="the order by which kube-scheduler mixes the kinds by itself")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures to this file")
    arguments = parser.parse_args()
    results, stages = [], []
    with tempfile.TemporaryDirectory(prefix="synergy-real-nodes.") as folder, \
            real_nodes(pathlib.Path(folder), arguments.instance) as cluster:
        if arguments.rounds:
            results = compare(cluster, rounds=arguments.rounds, seconds=arguments.seconds, seed=arguments.seed,
                              shuffled=not arguments.sensitive_first)
        if arguments.cycles:
            arrivals = Arrivals(cluster)
            for _ in range(arguments.cycles):
                arrivals.cycle()
            stages = arrivals.stages
    goals = {}
    if results:
        table = summary(results)
        show_summary(table)
        goals |= speed_goals(table)
    if stages:
        show_arrivals(stages)
        goals |= arrival_goals(stages)
    if arguments.json:
        arguments.json.write_text(json.dumps({"rounds": results, "arrivals": stages}, indent=1), encoding="utf-8")
    for goal, met in goals.items():
        say(f"{'met   ' if met else 'MISSED'} {goal}")
    return 0 if all(goals.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
