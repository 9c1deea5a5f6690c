"""Starts a cluster with small real nodes, extender, controller and trainers, for measurements."""

import contextlib
import os
import re
import time
import urllib.request

import trainers
from cluster import Extender, own_cluster, wait_for

# Benchmarks and the demo use four nodes, tests three: every machine that runs the tests must have
# enough spare CPU for all nodes.
NODES = int(os.environ.get("SYNERGY_REAL_NODES", "4"))


def log(text):
    print(text, flush=True)


@contextlib.contextmanager
def real_nodes(folder, instance, profiles=True, nodes=NODES, cpu=trainers.NODE_CPU, gpus=trainers.GPUS):
    """Yields a cluster with extender, controller and the trainers' image; with profiles or, if
    `profiles` is false, with node agents."""
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(own_cluster(
            folder, instance, "--real-nodes", str(nodes), "--real-node-cpu", str(cpu), "--simulated-nodes", "0",
            "--controller", os.environ["SYNERGY_BIN"], *([] if profiles else ["--agents"])))
        trainers.load_image(cluster)
        trainers.advertise_gpus(cluster, gpus)
        if profiles:
            cluster.create(*(trainers.profile(kind) for kind in trainers.KINDS))
        for kind in trainers.KINDS if profiles else ():
            wait_for(f"profile {kind} to be judged",
                     lambda kind=kind: cluster.get("trainingprofile", kind).get("status", {}).get("demand"))
        extender = Extender(cluster)
        stack.callback(extender.log.close)
        extender.start()
        stack.callback(extender.end)
        yield cluster


@contextlib.contextmanager
def explained(cluster):
    """Prints the pods and events if the block fails."""
    try:
        yield
    except Exception:
        log(cluster.kubectl("get", "pods", "--output", "wide"))
        log(cluster.kubectl("get", "events", "--sort-by", ".lastTimestamp"))
        raise


def tuner_metric(cluster, name):
    with urllib.request.urlopen(cluster.environment["SYNERGY_CONTROLLER_URL"] + "/metrics", timeout=10) as answer:
        return float(re.search(f"^{name} (.*)$", answer.read().decode(), re.M).group(1))


def await_rest(cluster):
    """Waits until all pods run with the CPU that they request and have kept it for some seconds;
    returns them."""

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

    return wait_for("all trainers to run and to have what they ask for", same_for_some_time)
