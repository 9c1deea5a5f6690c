"""Runs the same trainers in several ways, one after the other, and compares their speeds
(docs/evidence/real-nodes.md).

Eight trainers with a GPU each, half of them sensitive to CPU, are created at once, in a random
order; then again with other requests and another scheduler, and nothing else changed
(trainers.WAYS). Their iterations are counted while all run.
"""

import random
import statistics
import time

import trainers
from real_nodes import NODES, await_rest, explained, log


def run_way(cluster, way, order, seconds, reference=None):
    """Returns pod name -> facts of one run of the trainers, created in that order. With a
    reference, the facts include its speed in the same seconds."""
    cluster.create(*(trainers.pod(name, name.split("-")[0], way) for name in order))
    await_rest(cluster)
    since = time.time()
    time.sleep(seconds)
    until = time.time()
    speeds = trainers.speeds(cluster, since, until)
    beside = reference.speeds(since, until) if reference else {}
    facts = {}
    for name, pod in cluster.pods().items():
        facts[name] = {"kind": pod["metadata"]["labels"]["kind"], "node": pod["spec"]["nodeName"],
                       "cpu": trainers.milli_cpu(pod), "restarts": trainers.restarts(pod), "speed": speeds[name]}
        if beside:
            facts[name]["reference"] = beside[facts[name]["kind"]]
    cluster.clear()
    return facts


def compare(cluster, ways=tuple(trainers.WAYS), rounds=2, seconds=12, seed=1, shuffled=True, reference=None):
    """Returns one entry for each round: the order, and way -> pod -> facts."""
    draw = random.Random(seed)
    results = []
    for number in range(1, rounds + 1):
        order = [f"{kind}-{i}" for kind in trainers.KINDS for i in range(NODES * trainers.GPUS // 2)]
        if shuffled:
            draw.shuffle(order)
        log(f"round {number} of {rounds}: {' '.join(name[0] for name in order)}  (s: sensitive, i: insensitive)")
        result = {"order": order, "ways": {}}
        for way in ways:
            with explained(cluster):
                result["ways"][way] = facts = run_way(cluster, way, order, seconds, reference)
            log(f"  {way:12} {describe(facts)}")
        results.append(result)
    return results


def describe(facts):
    """Returns the speeds of the pods, node by node."""
    nodes = {}
    for pod in facts.values():
        nodes.setdefault(pod["node"], []).append(f"{pod['kind'][0]} {pod['speed']:.1f}")
    return "   ".join(f"{node[-1]}: {', '.join(sorted(pods, reverse=True))}" for node, pods in sorted(nodes.items()))


def relative(results, way):
    """Returns pod name -> its speed as a multiple of its proportional speed, the mean over all
    rounds. The proportional speed is the reference's in the same seconds or, without a reference,
    the pod's own in the same round."""
    ratios = {}
    for result in results:
        for name, facts in result["ways"][way].items():
            unit = facts.get("reference") or result["ways"]["proportional"][name]["speed"]
            ratios.setdefault(name, []).append(facts["speed"] / unit)
    return {name: statistics.mean(values) for name, values in ratios.items()}


def mixed_nodes(facts):
    """Returns the nodes on which a sensitive and an insensitive pod run side by side."""
    kinds = {}
    for pod in facts.values():
        kinds.setdefault(pod["node"], set()).add(pod["kind"])
    return sum(len(found) == 2 for found in kinds.values())


def summary(results):
    """Returns way -> figures over all rounds. Speeds are multiples of the proportional ones, except
    those of the kinds, which are iterations per second."""
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
    """Logs the table. Its total is the mean of all pods' speeds, each as a multiple of its
    proportional speed."""
    log("way            total   slowest pod   mixed nodes   sensitive it/s   insensitive it/s   restarts")
    for way, row in table.items():
        log(f"{way:12} {row['total']:7.3f} {row['slowest']:13.3f} {row['mixed_nodes']:13.1f} {row['sensitive']:16.1f}"
            f" {row['insensitive']:18.1f} {row['restarts']:10}")


def goals(table):
    met = {}
    for way in [way for way in ("strict", "shared") if way in table]:
        met[f"{way}: total at least 1.4"] = table[way]["total"] >= 1.4
        met[f"{way}: no pod below 0.95"] = table[way]["slowest"] >= 0.95
        if "burstable" in table:
            met[f"{way}: total above burstable's"] = table[way]["total"] > table["burstable"]["total"]
    met["no container restarted"] = not any(row["restarts"] for row in table.values())
    return met
