"""Pods arrive where a GPU is free but the CPU is not, and leave again. Records what happens to
them, and how long it takes."""

import statistics
import time

import trainers
from api import Api, PodWatch
from cluster import wait_for
from real_nodes import NODES, await_rest, explained, log, tuner_metric


class Arrivals:
    """On each of two nodes, a sensitive pod has nearly all of the CPU, and a GPU is free."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.api = Api(cluster)
        self.stages = []
        self.lowest = {}  # pod name -> the least CPU that it ever requested
        cluster.create(*(trainers.pod(f"early-{i}", "sensitive", "shared") for i in range(NODES)))
        await_rest(cluster)
        cluster.create(*(trainers.pod(f"filler-{i}", "insensitive", "shared") for i in range(NODES - 2)))
        self.pods = await_rest(cluster)

    def arrive(self, name):
        """Creates one more sensitive pod and returns when it runs. Records how long each step
        took."""
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
            "cut in force": in_force - patched, "bound": bound - in_force, "running": running - bound, "node": node,
            "reminded": "synergy.io/room-seen" in late["metadata"]["annotations"]})

    def cycle(self):
        """Two pods arrive one after the other, and leave again. Returns the pods while both were
        there, and afterwards."""
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
                 lambda: sum(trainers.milli_cpu(pod, "status") or 0 for pod in self.cluster.pods().values()) >= had,
                 120)
        self.stages[-1]["grown after"] = time.monotonic() - left
        self.stages[-1]["rounds until grown"] = tuner_metric(self.cluster, "synergy_tuner_rounds_total") - rounds
        self.pods = await_rest(self.cluster)
        log(f"  two more arrived and left: {self.stages[-2]['total']:.1f} and "
            f"{self.stages[-1]['total']:.1f} s until they"
            f" ran, {self.stages[-1]['grown after']:.1f} s until the others had their CPU back")
        return crowded, self.pods


STAGES = {
    "refused": "kube-scheduler finds no place (webhook, its queue, its filters)",
    "patched": "Synergy: from the condition Unschedulable to the cut of a peer",
    "cut in force": "the peer's kubelet",
    "bound": "kube-scheduler retries (back-off); the extender binds",
    "running": "the kubelet starts the container",
    "total": "from the creation until the pod is Running",
}


def show_arrivals(stages):
    log(f"seconds     p50     max   ({len(stages)} arrivals)")
    for name, what in STAGES.items():
        values = [stage[name] for stage in stages]
        log(f"{name:12} {statistics.median(values):5.2f} {max(values):7.2f}   {what}")
    reminded = sum(stage["reminded"] for stage in stages)
    if reminded:
        log(f"kube-scheduler had to be made to retry {reminded} times")
    grown = [stage["grown after"] for stage in stages if "grown after" in stage]
    log(f"after two left, the others had grown within {', '.join(f'{value:.1f}' for value in grown)} s")


def goals(stages):
    return {
        "an arriving pod runs within 3 s (p50)": statistics.median(stage["total"] for stage in stages) < 3,
        "our part of it is below 0.3 s (p50)": statistics.median(stage["patched"] for stage in stages) < 0.3,
    }
