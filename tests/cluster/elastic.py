"""Elastic Jobs in a queue of Kueue's (docs/optimus.md): trainings that are faster the more workers they have, and who watches them."""

import collections
import contextlib
import threading

import turns
from cluster import GPU
from queues import QUEUE

LEAST, MOST = "synergy.io/min-workers", "synergy.io/max-workers"


def elastic(name, queue, workers, template, least=1, most=4, loss=None):
    """A Job of such pods that may have other workers; `loss`: at which it is done."""
    wanted = {} if loss is None else {"synergy.io/target-loss": str(loss)}
    template["metadata"].setdefault("annotations", {})["synergy.io/checkpoint"] = "true"
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "labels": {QUEUE: queue}, "annotations": {LEAST: str(least), MOST: str(most), **wanted}},
            # New workers come when the old ones have written their checkpoint.
            "spec": {"completionMode": "Indexed", "parallelism": workers, "completions": workers, "podReplacementPolicy": "Failed",
                     "template": template}}


def training(name, queue, workers, iterations, folder, step, exchange=2, most=4, half_loss=0, **wanted):
    """On a real node; one of its iterations takes `step` milliseconds, divided among its workers, and `exchange` for each. Its checkpoint
    is in that folder. After `half_loss` iterations its loss is half of what it was."""
    template = turns.template(name, 0, folder, name)
    (folder / f"team-{name}").mkdir()
    template["spec"]["containers"][0]["args"] = [
        "--workers", "1", "--cpu-per-iteration", "0.25", "--gpu-step", str(step), "--exchange", str(exchange), "--lines", "5",
        "--synchronous", "--half-loss", str(half_loss), "--iterations", str(iterations), "--checkpoint-file", f"/checkpoints/{name}",
        "--team", f"/checkpoints/team-{name}", "--rank", "$(JOB_COMPLETION_INDEX)"]
    return elastic(name, queue, workers, template, most=most, **wanted)


class Watcher:
    """What a queue looks like, many times a second."""

    def __init__(self, cluster, queue):
        self.cluster, self.queue = cluster, queue
        self.most = self.looks = 0  # GPUs that were admitted at once
        self.sizes = collections.defaultdict(list)  # of each Job, as they came
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)

    def look(self):
        while not self.ended.wait(0.05):
            with contextlib.suppress(AssertionError):
                admitted = 0
                for item in self.cluster.get("workloads")["items"]:
                    if item["spec"]["queueName"] != self.queue:
                        continue
                    for given in item.get("status", {}).get("admission", {}).get("podSetAssignments", []):
                        admitted += int(given.get("resourceUsage", {}).get(GPU, 0))
                self.most, self.looks = max(self.most, admitted), self.looks + 1
                for item in self.cluster.get("jobs")["items"]:
                    sizes = self.sizes[item["metadata"]["name"]]
                    if sizes[-1:] != [item["spec"]["parallelism"]]:
                        sizes.append(item["spec"]["parallelism"])

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
