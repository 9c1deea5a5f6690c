"""Trainers on real nodes: two kinds that need different amounts of CPU, four ways to request it,
and how fast the trainers run."""

import json
import os
import re
import subprocess

from cluster import GPU, ROOT

MEMORY = "64Mi"
# CPU is in thousandths of a core.
NODE_CPU = 300
INSENSITIVE_CPU = 15
SENSITIVE_CPU = NODE_CPU - INSENSITIVE_CPU
GPUS = 2  # on each node
FAIR_SHARE = NODE_CPU // GPUS

# The trainers' flags, and the iterations per second for each amount of CPU, calculated; with limits
# the trainers reach 98 % of them. The last amount is the demand. Each trainer has one worker, as
# SYNERGY_CPUS is below one core.
KINDS = {
    # Each iteration needs 10 ms of CPU. The GPU could do slightly more iterations than it gets.
    "sensitive": (["--workers", "1", "--cpu-per-iteration", "10", "--gpu-step", str(9500 // SENSITIVE_CPU)],
                  [(cpu, cpu / 10) for cpu in (INSENSITIVE_CPU, 50, 100, FAIR_SHARE, 200, 250, SENSITIVE_CPU)]),
    # A few thousandths of a core suffice to keep its GPU busy.
    "insensitive": (["--workers", "1", "--cpu-per-iteration", "0.25", "--gpu-step", "50"],
                    [(INSENSITIVE_CPU, 20), (FAIR_SHARE, 20)]),
}


def profile(kind):
    points = [{"cpu": f"{cpu}m", "memory": MEMORY, "throughput": speed} for cpu, speed in KINDS[kind][1]]
    return {"apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile", "metadata": {"name": kind},
            "spec": {"processMemory": "1Mi", "points": points}}


def proportional(kind):
    """Requests CPU as most clusters do today: every GPU comes with its share of the node, as a
    request and as a limit."""
    del kind
    amounts = {"cpu": f"{FAIR_SHARE}m", "memory": MEMORY}
    return {"synergy.io/fungible": "false"}, {"requests": amounts, "limits": amounts}


def burstable(kind):
    """Requests CPU as a Kubernetes expert would: the same requests, and no CPU limit."""
    del kind
    return {"synergy.io/fungible": "false"}, {"requests": {"cpu": f"{FAIR_SHARE}m", "memory": MEMORY},
                                              "limits": {"memory": MEMORY}}


def strict(kind):
    return {"synergy.io/profile": kind, "synergy.io/enforcement": "strict"}, {}


def shared(kind):
    return {"synergy.io/profile": kind, "synergy.io/enforcement": "shared"}, {}


# Name -> function that returns the labels and resources of a pod of a kind.
WAYS = {"proportional": proportional, "burstable": burstable, "strict": strict, "shared": shared}


def pod(name, kind, way):
    return pod_with(name, kind, KINDS[kind][0], *WAYS[way](kind))


def pod_with(name, kind, arguments, labels, resources):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"kind": kind, **labels}},
        "spec": {
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 0,
            "containers": [{
                "name": "train",
                "image": "synergy.test/trainer:1",
                "imagePullPolicy": "Never",
                "args": arguments,
                "resources": {**resources, "limits": {GPU: "1", **resources.get("limits", {})}},
            }],
        },
    }


def load_image(cluster):
    archive = cluster.folder / "trainer.tar"
    subprocess.run([str(ROOT / "tests/cluster/support/trainer/image.sh"), os.environ["SYNERGY_TRAINER"], str(archive)],
                   check=True)
    cluster.script("load-image", str(archive))


def advertise_gpus(cluster, gpus=GPUS):
    """Advertises GPUs on every real node, until its kubelet is restarted."""
    amounts = {GPU: str(gpus)}
    patch = json.dumps({"status": {"capacity": amounts, "allocatable": amounts}})
    for node in cluster.get("nodes", labelSelector="synergy.test/node=real")["items"]:
        cluster.kubectl("patch", "node", node["metadata"]["name"], "--subresource", "status", "-p", patch)


def is_running(item):
    return item["status"].get("phase") == "Running"


def milli(amount):
    """Returns a CPU quantity as thousandths of a core."""
    return int(amount[:-1]) if amount.endswith("m") else round(float(amount) * 1000)


def milli_cpu(item, of="spec"):
    """Returns the CPU that the trainer requests or, with another `of`, that the kubelet reports;
    None before the first report."""
    if of == "spec":
        amounts = item["spec"]["containers"][0]["resources"]
    else:
        amounts = item["status"].get("containerStatuses", [{}])[0].get("resources", {})
    text = amounts.get("requests", {}).get("cpu")
    return None if text is None else milli(text)


def restarts(item):
    return sum(status["restartCount"] for status in item["status"].get("containerStatuses", []))


LINE = re.compile(r"^\[pod/([^/]+)/\S+\] time=(\S+) iterations=(\d+) ", re.M)


def iterations(cluster, namespace="default"):
    """Returns pod name -> [(Unix time, iterations so far)] for the last minute, by the line that
    each trainer prints every second."""
    counts = {}
    for name, moment, count in LINE.findall(cluster.kubectl("logs", "-n", namespace, "--selector=kind", "--prefix",
                                                            "--tail=60")):
        counts.setdefault(name, []).append((float(moment), int(count)))
    return counts


def speeds(cluster, since, until, namespace="default"):
    """Returns pod name -> iterations per second, between the first and the last line of that
    period."""
    result = {}
    for name, lines in iterations(cluster, namespace).items():
        inside = [line for line in lines if since <= line[0] <= until]
        if len(inside) < 2:
            raise AssertionError(
                f"{name} printed {len(inside)} lines between {since:.1f} and {until:.1f}: {lines[-3:]}")
        (first, from_count), (last, to_count) = inside[0], inside[-1]
        result[name] = (to_count - from_count) / (last - first)
    return result
