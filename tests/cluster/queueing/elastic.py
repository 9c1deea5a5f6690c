"""Elastic Jobs in a Kueue queue (docs/internals/optimus.md): trainings that become faster with more
workers, and their sizes over time."""

import collections

import queues
import turns
from queues import QUEUE

LEAST, MOST = "synergy.io/min-workers", "synergy.io/max-workers"


def elastic(name, queue, workers, template, least=1, most=4, loss=None):
    """Returns a Job of such pods whose number of workers may change. `loss`: the loss at which it
    is complete."""
    wanted = {} if loss is None else {"synergy.io/target-loss": str(loss)}
    template["metadata"].setdefault("annotations", {})["synergy.io/checkpoint"] = "true"
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "labels": {QUEUE: queue},
                         "annotations": {LEAST: str(least), MOST: str(most), **wanted}},
            # New workers start only after the old ones have written their checkpoint.
            "spec": {"completionMode": "Indexed", "parallelism": workers, "completions": workers,
                     "podReplacementPolicy": "Failed", "template": template}}


def training(name, queue, workers, iterations, folder, step, exchange=2, most=4, half_loss=0, **wanted):
    """Returns a Job for a real node. One iteration takes `step` milliseconds, divided among the
    workers, plus `exchange` for each worker. Its checkpoint is in that folder. After `half_loss`
    iterations its loss has halved."""
    template = turns.template(name, 0, folder, name)
    (folder / f"team-{name}").mkdir()
    template["spec"]["containers"][0]["args"] = [
        "--workers", "1", "--cpu-per-iteration", "0.25", "--gpu-step", str(step), "--exchange", str(exchange),
        "--lines", "5",
        "--synchronous", "--half-loss", str(half_loss), "--iterations", str(iterations),
        "--checkpoint-file", f"/checkpoints/{name}",
        "--team", f"/checkpoints/team-{name}", "--rank", "$(JOB_COMPLETION_INDEX)"]
    return elastic(name, queue, workers, template, most=most, **wanted)


class Watcher(queues.Watcher):
    """Also watches the sizes of Jobs."""

    def __init__(self, cluster, queue):
        super().__init__(cluster, queue)
        self.sizes = collections.defaultdict(list)  # Job -> its sizes, in order

    def __enter__(self):
        self.watch("jobs")
        return super().__enter__()

    def look(self):
        self.sizes.clear()
        for _, _, item in self.watches["jobs"].until_now():
            sizes = self.sizes[item["metadata"]["name"]]
            if sizes[-1:] != [item["spec"]["parallelism"]]:
                sizes.append(item["spec"]["parallelism"])
        return super().look()
