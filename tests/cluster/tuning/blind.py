"""Trainers without a profile on real nodes: what Synergy measures while they train, and how fast
they become.

Their best speed can be calculated from their flags (trainers.KINDS) and their nodes, which the
scheduler at first chooses without a profile.
"""

import re
import statistics
import time

import trainers
from cluster import wait_for
from real_nodes import NODES, explained, log

# CPU seconds of an iteration, from which a trainer's best speed with any amount of CPU follows.
CPU_SECONDS = {"sensitive": 0.010, "insensitive": 0.00025}
MOST = {"sensitive": 1000 / (9500 // trainers.SENSITIVE_CPU), "insensitive": 20}
# A trainer that uses up its quota on a small node loses a little (trainers.py).
LIMITED = 0.98


# Trainers print tqdm's bar, which reaches a log 16 KiB at a time, or nanoGPT's lines.
LOGS = {"bar": ["--bar", "100000"], "lines": ["--lines", "10"]}
log_form = "bar"


def true_speed(kind, cpu):
    return min(MOST[kind], cpu / 1000 / CPU_SECONDS[kind])


def pod(name, kind, enforcement):
    arguments = [*trainers.KINDS[kind][0], *LOGS[log_form]]
    return trainers.pod_with(name, kind, arguments, {"synergy.io/enforcement": enforcement}, {})


def burstable_pod(name, kind):
    arguments = [*trainers.KINDS[kind][0], *LOGS[log_form]]
    return trainers.pod_with(name, kind, arguments, *trainers.burstable(kind))


def placement(pods):
    """Returns node -> kinds of its pods."""
    nodes = {}
    for item in pods.values():
        nodes.setdefault(item["spec"]["nodeName"], []).append(item["metadata"]["labels"]["kind"])
    return {node: sorted(kinds) for node, kinds in nodes.items()}


def by_hand(kinds):
    """Returns the speeds that a node's pods have with hand-made profiles: the sensitive ones share
    what the others leave."""
    sensitive = kinds.count("sensitive")
    each = min(trainers.SENSITIVE_CPU,
               (trainers.NODE_CPU - trainers.INSENSITIVE_CPU * (len(kinds) - sensitive)) / max(sensitive, 1))
    return [true_speed(kind, each) if kind == "sensitive" else MOST[kind] for kind in kinds]


def relative(kind, speed, units=None):
    """Returns the speed as a multiple of the proportional speed: of the one in `units`, by kind, or
    else of the calculated one."""
    return speed / (units[kind] if units else true_speed(kind, trainers.FAIR_SHARE))


def total_by_hand(nodes):
    """Returns the mean of all pods' speeds, each as a multiple of its proportional speed."""
    return statistics.mean(relative(kind, speed) for kinds in nodes.values()
                           for kind, speed in zip(kinds, by_hand(kinds)))


def total(pods, speeds, units=None):
    return statistics.mean(relative(item["metadata"]["labels"]["kind"], speeds[name], units)
                           for name, item in pods.items())


def measured(cluster):
    """Returns kind -> status.measured of the profile that Synergy made for its pods. Pods of one
    kind are one workload."""
    found = {}
    for item in cluster.pods().values():
        name = item["metadata"].get("annotations", {}).get("synergy.io/profile")
        if name:
            kind = item["metadata"]["labels"]["kind"]
            found[kind] = cluster.get("trainingprofile", name)["status"].get("measured")
    return {kind: status for kind, status in found.items() if status}


def is_final(statuses):
    """Returns whether nothing is guessed any more: each pod that got more because of a guess was
    measured with that amount."""
    points = [point for status in statuses.values() for point in status["points"]]
    return set(statuses) == set(CPU_SECONDS) and all(point["certainty"] != "guess" for point in points)


def is_divided(pods):
    """Returns whether sensitive pods have more than the fair share on nodes with both kinds, and no
    pod still has a burst or a probe."""
    by_node = placement(pods)
    return all("synergy.io/probe" not in item["metadata"].get("annotations", {})
               and (item["metadata"]["labels"]["kind"] != "sensitive"
                    or "insensitive" not in by_node[item["spec"]["nodeName"]]
                    or trainers.milli_cpu(item) > trainers.FAIR_SHARE)
               for item in pods.values())


def floors(cluster):
    """Returns pod -> (CPU request, floor), in thousandths of a core."""
    result = {}
    for name, item in cluster.pods().items():
        floor = item["metadata"].get("annotations", {}).get("synergy.io/floor", "")
        cpu = re.search(r'"cpu":"([^"]+)"', floor)
        if cpu:
            result[name] = (trainers.milli_cpu(item), trainers.milli(cpu.group(1)))
    return result


class Floors:
    """Records the longest time for which a pod requested less than its floor. The controller
    changes the two one after the other."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.below = {}  # pod -> the time since which it has been below
        self.longest = 0

    def look(self):
        now = time.time()
        for name, (cpu, floor) in floors(self.cluster).items():
            if cpu >= floor:
                self.below.pop(name, None)
            else:
                self.longest = max(self.longest, now - self.below.setdefault(name, now))


def time_to(part, table, by_hand):
    """Returns after how many seconds the total first had this part of the gain, by the rows of
    Run.table; None if it never did. Later probes cost some of the gain."""
    return next((seconds for seconds, amount, _ in table if amount - 1 >= part * (by_hand - 1)), None)


class Run:
    """Creates eight trainers at once, and watches them while they train."""

    def __init__(self, cluster, enforcement, order, reference=None):
        self.cluster = cluster
        self.reference = reference
        self.order = order
        self.table = []  # (seconds since all trainers ran, total, pods with a profile)
        self.floors = Floors(cluster)
        cluster.create(*(pod(name, name.split("-")[0], enforcement) for name in order))
        wait_for("all trainers to run", lambda: all(trainers.is_running(item) for item in self.cluster.pods().values()),
                 120)
        self.began = time.time()

    def watch(self, seconds, step=10, enough=None):
        """Watches until `seconds` after all trainers ran, or until the total is `enough`; prints a
        line every `step` seconds."""
        while time.time() - self.began < seconds:
            since = time.time()
            while time.time() - since < step:
                self.floors.look()
                time.sleep(1)
            pods = self.cluster.pods()
            until = time.time()
            speeds = trainers.speeds(self.cluster, since - 2, until)
            if self.reference:
                self.reference.look(until - since + 2)
            units = self.reference.speeds(since - 2, until) if self.reference else None
            profiled = sum("synergy.io/profile" in item["metadata"].get("annotations", {}) for item in pods.values())
            row = (round(time.time() - self.began), round(total(pods, speeds, units), 3), profiled)
            self.table.append(row)
            log(f"  {row[0]:4} s  total {row[1]:.3f}  pods with a profile {row[2]}")
            if enough and row[1] >= enough:
                return

    def speeds(self, seconds=15):
        since = time.time()
        time.sleep(seconds)
        return trainers.speeds(self.cluster, since, time.time())


def order(draw):
    names = [f"{kind}-{i}" for kind in trainers.KINDS for i in range(NODES * trainers.GPUS // 2)]
    draw.shuffle(names)
    return names


def errors(status, kind):
    """Returns (CPU amount, error of the throughput) for each point that was measured exactly, and
    the error of the CPU seconds per iteration."""
    points = [(trainers.milli(str(point["cpu"])),
               point["throughput"] / (LIMITED * true_speed(kind, trainers.milli(str(point["cpu"])))) - 1)
              for point in status["points"] if point["certainty"] == "exact"]
    seconds = status.get("cpuSeconds")
    return points, seconds / CPU_SECONDS[kind] - 1 if seconds else None


def compare(cluster, enforcement, draw, seconds=180):
    """Returns the figures of one round: first without profiles, then the same workloads again."""
    names = order(draw)
    with explained(cluster):
        run = Run(cluster, enforcement, names)
        pods = cluster.pods()
        nodes = placement(pods)
        log(f"{enforcement}, blind: " + "  ".join(f"{node[-1]}: {' '.join(kind[0] for kind in kinds)}"
                                                  for node, kinds in sorted(nodes.items())))
        run.watch(seconds - 15)
        blind = {"total": total(pods, run.speeds()), "by_hand": total_by_hand(nodes), "table": run.table,
                 "nodes": nodes, "where": {name: item["spec"]["nodeName"] for name, item in pods.items()},
                 "below_floor": run.floors.longest, "restarts": sum(map(trainers.restarts, cluster.pods().values()))}
        # If a node has only one kind, its pods cannot get more than they have, so the effect of
        # more CPU remains a guess.
        if any(len(set(kinds)) > 1 for kinds in nodes.values()):
            wait_for("what is known of the trainers to be final", lambda: is_final(measured(cluster)), 180)
        statuses = measured(cluster)
        cluster.clear()
        run = Run(cluster, enforcement, names)
        time.sleep(20)
        pods = cluster.pods()
        again = {"total": total(pods, run.speeds()), "by_hand": total_by_hand({"": ["insensitive", "sensitive"]}),
                 "nodes": placement(pods), "restarts": sum(map(trainers.restarts, pods.values()))}
        cluster.clear()
    blind["gain"] = {part: time_to(part, blind["table"], blind["by_hand"]) for part in (0.8, 0.95)}
    log(f"{enforcement}, blind: 80 and 95 % of the gain after {blind['gain'][0.8]} and {blind['gain'][0.95]} s")
    for name, facts in (("blind", blind), ("anew", again)):
        log(f"{enforcement}, {name}: total {facts['total']:.3f}, {facts['total'] / facts['by_hand']:.3f} of what "
            "hand-made profiles give there")
    for kind, status in statuses.items():
        points, of_seconds = errors(status, kind)
        log(f"  {kind}: " + ", ".join(f"{point['cpu']} {point['throughput']:.2f} ({point['certainty']})"
                                      for point in status["points"])
            + f"; {status.get('probes', 0)} probes, {status.get('lostIterations', 0):.0f} iterations lost, CPU seconds "
            + (f"{of_seconds:+.1%}" if of_seconds is not None else "unknown")
            + f"; errors {[f'{error:+.1%}' for _, error in points]}")
    there = burstable_total(cluster, names, blind["where"])
    log(f"Burstable on the same placement: total {there['total']:.3f}")
    return {"enforcement": enforcement, "blind": blind, "again": again, "measured": statuses, "burstable_there": there}


def burstable_total(cluster, names, where=None):
    """Returns the total that a Kubernetes expert gets with the same pods: requests of the fair
    share and no limits. `where`: the nodes to use."""
    pods = {name: burstable_pod(name, name.split("-")[0]) for name in names}
    for name, node in (where or {}).items():
        pods[name]["spec"]["nodeSelector"] = {"kubernetes.io/hostname": node}
    cluster.create(*pods.values())
    wait_for("all trainers to run", lambda: all(trainers.is_running(item) for item in cluster.pods().values()))
    time.sleep(10)
    since = time.time()
    time.sleep(15)
    pods = cluster.pods()
    speed = total(pods, trainers.speeds(cluster, since, time.time()))
    nodes = placement(pods)
    cluster.clear()
    return {"total": speed, "nodes": nodes}
