"""Runs trainers without a profile on four real nodes, and prints a live table of their speeds and
of a pod that arrives; for scripts/demo.sh."""

import argparse
import os
import pathlib
import random
import signal
import sys
import time

import blind
import trainers
from cluster import wait_for
from real_nodes import real_nodes, log


def table_head(nodes):
    log(f"\n  {'seconds':>7}  " + "  ".join(f"{node:<26}" for node in nodes) + "  total  measured")


def table_row(seconds, pods, speeds):
    nodes = {}
    for name, item in sorted(pods.items()):
        text = f"{name.split('-')[0][0]} {speeds[name]:.1f}/s {trainers.milli_cpu(item)}m"
        nodes.setdefault(item["spec"]["nodeName"], []).append(text)
    profiled = sum("synergy.io/profile" in item["metadata"].get("annotations", {}) for item in pods.values())
    log(f"  {seconds:>7.0f}  " + "  ".join(f"{', '.join(here):<26}" for _, here in sorted(nodes.items()))
        + f"  {blind.total(pods, speeds):5.2f}  {profiled} of {len(pods)}")


def watch(cluster, since, seconds, step):
    table_head(sorted({item["spec"]["nodeName"] for item in cluster.pods().values()}))
    end = time.time() + seconds
    while time.time() < end:
        begin = time.time()
        time.sleep(step)
        pods = cluster.pods()
        table_row(time.time() - since, pods, trainers.speeds(cluster, begin - 2, time.time()))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instance", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=180)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    state = pathlib.Path(os.environ.get("XDG_STATE_HOME", pathlib.Path.home() / ".local/state"))
    with real_nodes(state / f"synergy/demo-trainers-{arguments.instance}", arguments.instance,
                    profiles=False) as cluster:
        names = blind.order(random.Random(1))
        late = next(name for name in reversed(names) if name.startswith("sensitive"))
        names.remove(late)
        since = time.time()
        run = blind.Run(cluster, "strict", names)
        nodes = blind.placement(cluster.pods())
        log("Seven trainers that have not been measured. Each requests a GPU and nothing else. s: more CPU makes it "
            "faster; i: it does not\n"
            "CPU: what each may use. total: the mean speed, where 1 is the speed with proportional shares "
            f"({blind.total_by_hand(nodes):.2f} is the\n"
            "most on these nodes)")
        watch(cluster, run.began, arguments.seconds, 10)
        log("\nSynergy has meanwhile measured the two workloads:")
        for kind, status in sorted(blind.measured(cluster).items()):
            points = ", ".join(f"{point['throughput']:.1f}/s with {point['cpu']}" for point in status["points"])
            log(f"  {kind:<12} {points}  ({'confirmed' if status.get('confirmed') else 'estimated'})")
        log(f"\nAn eighth trainer arrives ({late[0]}). Its workload is known, so Synergy places and sizes it by the "
            "measured profile from its first second")
        cluster.create(blind.pod(late, late.split("-")[0], "strict"))
        created = time.time()
        wait_for("it to run", lambda: trainers.is_running(cluster.pods()[late]), 60)
        log(f"it runs after {time.time() - created:.1f} s")
        time.sleep(5)
        watch(cluster, since, 30, 10)
    return 0


if __name__ == "__main__":
    sys.exit(main())
