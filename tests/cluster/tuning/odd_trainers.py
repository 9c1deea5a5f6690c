"""Trainers whose speed is hard to measure, on real nodes without a profile: compares the profiler's
conclusion about each with the truth.

Eight trainers are for four small nodes. Three are for a node with more than a core: two keep a core
busy, and one uses it in bursts. docs/internals/profiling.md has a table of what makes measured
profiles wrong; each of these trainers is a row of it.
"""

import dataclasses
import json
import os
import re
import subprocess
import time
from collections.abc import Callable

import blind
import trainers
from cluster import wait_for
from real_nodes import log

# CPU seconds that the trainer itself takes for an iteration, measured with one that prepares
# nothing.
OVERHEAD = 0.00013

# Possible conclusions: a curve that probes have confirmed; a speed that changes too much to be
# measured; none, because the trainer logs nothing; a quota that stalls the trainer, so that its
# speed under a quota is a lower bound.
CURVE, UNSETTLED, SILENT, STALLED = "curve", "unsettled", "silent", "stalled"


@dataclasses.dataclass
class Odd:
    what: str
    flags: str
    best: float  # iterations per second at most
    speed: Callable[[float], float]  # its speed under a quota of so many cores
    cost: float | None = None  # CPU seconds of an iteration, if its CPU time shows them
    enforcement: str = "strict"
    concluded: str = CURVE
    censored: bool = False
    needs: float = 0  # cores it can use if only a quota limits it; 0: as `speed` says
    least: int = 0  # seconds for which it is watched at least
    memory: int = 0  # MiB that its processes take at least, which a checkpoint confirms; 0: not checked


def preparing(cost, best):
    """Returns the speed of a trainer beside a GPU if preparing an iteration takes `cost` CPU
    seconds. A quota is never used up completely."""
    return lambda cores: min(best, blind.LIMITED * cores / cost)


# The scheduler fills nodes in this order: beside a trainer that can use more CPU there is one that
# needs less.
KINDS = {
    "plain": Odd("hardly needs CPU", "--cpu-per-iteration 0.25 --gpu-step 50 --lines 10", 20, preparing(0.00025, 20)),
    "checkpoint": Odd("stalls for 4 s of 30",
                      "--cpu-per-iteration 10 --gpu-step 33 --checkpoint-every 30 --checkpoint 4 "
                      "--checkpoint-file /checkpoint --model-memory 24Mi --lines 10", 30.3, preparing(0.01, 30.3), 0.01,
                      memory=24),
    "queue": Odd("64 batches ahead", "--cpu-per-iteration 5 --gpu-step 50 --ahead 64 --lines 10", 20,
                 preparing(0.005, 20), 0.005),
    "shared": Odd("without CPU limit", "--cpu-per-iteration 10 --gpu-step 33 --lines 10", 30.3, preparing(0.01, 30.3),
                  0.01, "shared"),
    "spin": Odd("waits busily", "--cpu-per-iteration 1 --gpu-step 50 --spin --lines 10", 20, preparing(0.002, 20)),
    # 0.15 s of each iteration's GPU second overlap with the next iteration, and the first 0.1 s of
    # a quota costs no wait.
    "serial": Odd("a serial part", "--cpu-per-iteration 0 --serial 400 --gpu-step 1000 --lines 1", 1 / 0.85,
                  lambda cores: 1 / (0.75 + 0.4 / cores), 0.4),
    "silent": Odd("logs nothing", "--cpu-per-iteration 10 --gpu-step 33", 30.3, preparing(0.01, 30.3),
                  concluded=SILENT),
    "phase": Odd("speed by phase", "--cpu-per-iteration 10 --gpu-step 33 --phase 45 --lines 10", 30.3,
                 preparing(0.01, 30.3), concluded=UNSETTLED),
}
# Trainers about which the profiler concludes within two minutes; they run in every test. Memory
# takes five minutes.
SHORT = {name: dataclasses.replace(odd, memory=0)
         for name, odd in KINDS.items() if name not in ("spin", "serial", "phase")}
# Each runs alone on a node with one GPU and more than a core.
WHOLE_CORES = {
    "workers": Odd("one busy worker", "--cpu-per-iteration 10 --gpu-step 5 --lines 50", 100, preparing(0.01, 100), 0.01,
                   censored=True),
    # Measured down to the quota at which it has no CPU left to wait with.
    "spin-core": Odd("waits busily, a core", "--cpu-per-iteration 1 --gpu-step 50 --spin --lines 10", 20,
                     preparing(0.001 + OVERHEAD, 20)),
    # Each step takes 40 ms of CPU to launch. A quota of 200m exceeds what it uses, but stops it for
    # 80 of 100 ms in the middle of a launch.
    "stalled": Odd("a quota stalls its launches",
                   "--cpu-per-iteration 0 --serial 40 --gpu-step 200 --synchronous --lines 4", 1 / 0.24,
                   lambda cores: 1 / 0.24, enforcement="shared", concluded=STALLED, needs=0.04 / 0.24, least=240),
}


def pod(name, odd):
    return trainers.pod_with(name, name, ["--workers", "1", *odd.flags.split()],
                             {"synergy.io/enforcement": odd.enforcement}, {})


def as_bytes(quantity):
    number, unit = re.fullmatch(r"(\d+)([KMG]i)?", quantity).groups()
    return int(number) << {None: 0, "Ki": 10, "Mi": 20, "Gi": 30}[unit]


def process_memory(status):
    """Returns the MiB that its processes take, as a checkpoint has confirmed; 0 if unknown."""
    memory = status.get("memory") or {}
    return as_bytes(memory["process"]) / (1 << 20) if memory.get("confirmed") else 0


def is_concluded(odd, status):
    if odd.concluded == CURVE:
        # No amount that a pod could get is a guess any more.
        return bool(status and status.get("confirmed")) and (not odd.memory or process_memory(status) > 0)
    if odd.concluded == STALLED:
        return any(point["certainty"] == "at least" and point["throughput"] < 0.9 * odd.best
                   for point in (status or {}).get("points", []))
    if odd.concluded == UNSETTLED:
        return not status or bool(status.get("note"))
    return not status


def errors(odd, status):
    """Returns (CPU amount, error of the throughput) of the points that count as exact, and the
    error of the CPU seconds of an iteration."""
    points = []
    for point in status["points"]:
        cpu = trainers.milli(str(point["cpu"]))
        if point["certainty"] == "exact":
            points.append((cpu, point["throughput"] / odd.speed(cpu / 1000) - 1))
    seconds = status.get("cpuSeconds")
    return points, seconds / (odd.cost + OVERHEAD) - 1 if seconds and odd.cost else None


def faults(odd, facts, machine=(1, 1)):
    """Returns what is wrong with its outcome, in words. `machine`: the smallest and largest
    fraction of its true speed that the machine allowed."""
    status, found = facts["measured"], []
    if not is_concluded(odd, status):
        found.append(f"not concluded: {odd.concluded}")
    if facts["restarts"]:
        found.append("restarted")
    if facts["cpu"] < facts["floor"]:
        found.append("below its floor")
    if odd.concluded in (UNSETTLED, SILENT) or odd.censored:
        if facts["cpu"] < facts["fair"]:
            found.append("below its fair share")
    if facts["cpu"] < 1000 * odd.needs:
        found.append("cut below what it needs")
    if odd.concluded == SILENT and facts["cpu"] != facts["fair"]:
        found.append("does not have its fair share")
    if not status:
        return found
    if status.get("lostIterations", 0) >= 0.02 * 3600 * odd.best:
        found.append("lost more than 2 % of an hour's iterations")
    if bool(status.get("censored")) != odd.censored:
        found.append("censored" if status.get("censored") else "not censored")
    if odd.concluded == UNSETTLED:
        if status.get("confirmed"):
            found.append("confirmed")
        return found
    points, of_seconds = errors(odd, status)
    if not points:
        found.append("no exact point")
    if odd.censored and any(point["certainty"] == "exact" and point["throughput"] >= 0.9 * odd.best
                            for point in status["points"]):
        found.append("its best is said to be exact")
    found += [f"{error:+.1%} with {cpu}m"
              for cpu, error in points if not 0.95 * machine[0] <= 1 + error <= 1.05 * machine[1]]
    # The program and its threads need some more.
    if odd.memory and not odd.memory <= process_memory(status) <= odd.memory + 8:
        found.append(f"memory of its processes {process_memory(status):.1f} MiB")
    if of_seconds is not None and abs(of_seconds) > 0.03:
        found.append(f"CPU seconds {of_seconds:+.1%}")
    return found


def facts_of(cluster, kinds):
    """Returns each trainer's outcome."""
    statuses, result = blind.measured(cluster), {}
    for name, item in cluster.pods().items():
        cpu, floor = blind.floors(cluster).get(name, (trainers.milli_cpu(item), 0))
        fair = json.loads(item["metadata"]["annotations"]["synergy.io/fair-share"])["cpu"]
        result[name] = {"what": kinds[name].what, "measured": statuses.get(name), "cpu": cpu, "floor": floor,
                        "fair": trainers.milli(fair), "restarts": trainers.restarts(item)}
    return result


def show(kinds, facts):
    for name, own in facts.items():
        status = own["measured"]
        if not status:
            log(f"  {name:10} {own['cpu']}m, nothing measured; "
                + ("; ".join(faults(kinds[name], own)) or "as expected"))
            continue
        points, of_seconds = errors(kinds[name], status)
        text = ", ".join(f"{point['cpu']} {point['throughput']:.2f} ({point['certainty']})"
                         for point in status["points"])
        text += f"; errors {[f'{cpu}m {error:+.1%}' for cpu, error in points]}"
        text += f", CPU seconds {of_seconds:+.1%}" if of_seconds is not None else ""
        text += f", {process_memory(status):.1f} MiB of processes" if process_memory(status) else ""
        lost = status.get("lostIterations", 0)
        text += (f"; {status.get('probes', 0)} probes, {lost:.0f} iterations lost "
                 f"({lost / (3600 * kinds[name].best):.2%} of an hour's)")
        text += "".join(f", {word}" for word in ("confirmed", "censored", "drifted") if status.get(word))
        text += f"; note: {status['note']}" if status.get("note") else ""
        log(f"  {name:10} {own['cpu']}m, {text}; " + ("; ".join(faults(kinds[name], own)) or "as expected"))


def train(cluster, kinds, seconds, least=0, reference=None):
    """Creates one trainer of each kind and watches them for `least` seconds and until all are
    concluded. Returns the facts, and seconds below a floor."""
    cluster.create(*(pod(name, odd) for name, odd in kinds.items()))
    wait_for("all trainers to run", lambda: all(trainers.is_running(item) for item in cluster.pods().values()))
    began, concluded = time.time(), {}
    floors = blind.Floors(cluster)
    while time.time() - began < seconds:
        floors.look()
        if reference:
            reference.look()
        statuses = blind.measured(cluster)
        since = round(time.time() - began)
        for name, odd in kinds.items():
            if not is_concluded(odd, statuses.get(name)):
                concluded.pop(name, None)
            elif name not in concluded:
                concluded[name] = since
        if len(concluded) == len(kinds) and since >= least:
            break
        time.sleep(1)
    log(f"  concluded after seconds: {concluded}")
    return facts_of(cluster, kinds), floors.longest


def explained(cluster, name):
    """Returns what `kubectl synergy explain` remarks about the pod."""
    program = os.path.join(os.environ["SYNERGY_BIN"], "synergy")
    done = subprocess.run([program, "explain", "pod", name, "--output", "json"], env=cluster.environment, check=True,
                          capture_output=True)
    return json.loads(done.stdout)["remarks"]


def progress_format(cluster, name):
    """Returns the recognised format of its log's lines; empty if none is."""
    return next((item.get("format", "") for item in cluster.progress() if item["name"] == name), None)
