# Runs the 100 jobs of the recorded trace on simulated nodes in four ways, and compares how fast
# they train together; for scripts/demo.sh.
"""Runs the 100 jobs of the recorded trace on simulated nodes in four ways, and compares how fast
they train together; for scripts/demo.sh."""

import argparse
import json
import pathlib
import sys
import time

import replay
from cluster import GPU, Cluster
from invariants import quantity
from replay import MODELS, Profile

CPU, MEMORY = 3, 62.5e9  # the fair share of one GPU on the simulated nodes
NEARLY_BEST = 0.999


def log(text):
    print(text, flush=True)


# ---- pods


def plain_pod(number, model, gpus, amounts, limits):
    """Returns a pod that the default kube-scheduler places and that Synergy does not change."""
    requests = {"cpu": f"{round(1000 * amounts[0] * gpus)}m", "memory": f"{round(amounts[1] * gpus)}", GPU: str(gpus)}
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": f"job-{number}", "labels": {"model": model}},
        "spec": {
            "restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "train", "image": "synergy.test/busybox:1",
                            "resources": {"requests": requests, "limits": requests if limits else {GPU: str(gpus)}}}],
        },
    }


def demand(model):
    """Returns the least CPU for one GPU beyond which the model gains no speed, and then the least
    memory."""
    best = max(throughput for _, _, throughput in replay.points(model))
    return min((cpu, memory * 1e9)
               for cpu, memory, throughput in replay.points(model) if throughput >= NEARLY_BEST * best)


def proportional(number, model, gpus):
    return plain_pod(number, model, gpus, (CPU, MEMORY), True)


def demands(number, model, gpus):
    return plain_pod(number, model, gpus, demand(model), False)


def burstable(number, model, gpus):
    return plain_pod(number, model, gpus, (CPU, MEMORY), False)


def synergy(number, model, gpus):
    pod = replay.pod(f"job-{number}", model, gpus, "shared")
    pod["metadata"]["labels"]["model"] = model
    return pod


WAYS = {
    "proportional": (proportional, "requests = limits = each GPU's share of the node"),
    "demands": (demands, "requests = what each job can use"),
    "Burstable": (burstable, "requests = each GPU's share, no limits"),
    "Synergy": (synergy, "requests = GPUs alone; webhook, extender and tuner do the rest"),
}


# ---- outcomes


def amounts(item):
    """Returns the (CPU, memory) that the pod is guaranteed."""
    asked = item["spec"]["containers"][0]["resources"]["requests"]
    return float(quantity(asked["cpu"])), float(quantity(asked["memory"]))


def with_idle_cpu(capacity, pods):
    """Returns the CPU of each pod of a node, given [(request, most that it can use)]: idle CPU is
    divided by weight among the pods that can use it."""
    given = [min(asked, most) for asked, most in pods]
    while True:
        left = capacity - sum(given)
        hungry = [i for i, (_, most) in enumerate(pods) if given[i] < most - 1e-9]
        if left < 1e-9 or not hungry:
            return given
        weight = sum(pods[i][0] for i in hungry)
        for i in hungry:
            given[i] = min(pods[i][1], given[i] + left * pods[i][0] / weight)


def speed(item, cpu):
    """Returns the throughput with this CPU as a multiple of the throughput at the fair share."""
    gpus = int(item["spec"]["containers"][0]["resources"]["limits"][GPU])
    profile = Profile(item["metadata"]["labels"]["model"])
    return profile.throughput(cpu / gpus, amounts(item)[1] / gpus) / profile.throughput(CPU, MEMORY)


def most_cpu(item):
    gpus = int(item["spec"]["containers"][0]["resources"]["limits"][GPU])
    return demand(item["metadata"]["labels"]["model"])[0] * gpus


def has_limits(item):
    return "cpu" in item["spec"]["containers"][0]["resources"]["limits"]


def judge(nodes, pods):
    """Returns (running jobs, stranded GPUs, total throughput, where a job at its fair share counts
    1)."""
    waiting = [pod for pod in pods if not pod["spec"].get("nodeName")]
    stranded, together = 0, 0.0
    for node in nodes:
        here = [pod for pod in pods if pod["spec"].get("nodeName") == node["metadata"]["name"]]
        capacity = node["status"]["allocatable"]
        free = [float(quantity(capacity[name])) - sum(amounts(pod)[i] for pod in here)
                for i, name in enumerate(("cpu", "memory"))]
        gpus = int(capacity[GPU]) - sum(int(pod["spec"]["containers"][0]["resources"]["limits"][GPU]) for pod in here)
        usable = any(all(need <= have for need, have in zip(amounts(pod), free)) for pod in waiting)
        stranded += gpus if waiting and not usable else 0
        cpus = with_idle_cpu(float(quantity(capacity["cpu"])),
                             [(amounts(pod)[0], min(amounts(pod)[0], most_cpu(pod)) if has_limits(pod)
                               else most_cpu(pod)) for pod in here])
        together += sum(speed(pod, cpu) for pod, cpu in zip(here, cpus))
    return len(pods) - len(waiting), stranded, together


def await_decisions(cluster, count):
    """Returns the pods when each is bound or known not to fit, and no managed pod changes any
    more."""
    shown = -1
    while True:
        pods = list(cluster.pods().values())
        decided = sum(1 for pod in pods if pod["spec"].get("nodeName") or replay.unschedulable(pod))
        if decided != shown and sys.stdout.isatty():
            print(f"  {decided} of {count} jobs decided", end="\r", flush=True)
        shown = decided
        if decided == count:
            return list(replay.wait_until_quiet(cluster).values())
        time.sleep(0.5)


def run(cluster, nodes, keep):
    jobs = [(number, model, gpus) for number, model, _, gpus, _ in replay.recorded_jobs(100, 1)]
    rows = []
    with replay.prepared(cluster, nodes):
        machines = [node for node in cluster.get("nodes")["items"] if not node["spec"].get("unschedulable")]
        for way, (make, what) in WAYS.items():
            log(f"{way}: {what}")
            cluster.create(*(make(*job) for job in jobs))
            rows.append((way, *judge(machines, await_decisions(cluster, len(jobs)))))
            if keep and way == list(WAYS)[-1]:
                show(rows)
                log(f"\nThe pods that Synergy placed stay until you press Enter. To look at them:\n"
                    f"  scripts/cluster.sh --state {cluster.state} kubectl get pods -o wide")
                sys.stdin.readline()
            cluster.clear()
    return rows


def show(rows):
    log(f"\n  {'way':<14}{'jobs that run':>15}{'GPUs stranded':>16}{'throughput':>13}")
    for way, running, stranded, together in rows:
        log(f"  {way:<14}{running:>15}{stranded:>16}{together:>13.0f}")
    log("\n  stranded:    free GPUs on nodes that lack the CPU or memory for any waiting job"
        "\n  throughput:  sum over all jobs, by their profiles; a job at its fair share counts 1. CPU that"
        "\n               a job leaves goes to the node's other jobs without a limit, by their requests"
        "\n  The nodes are simulated: kube-scheduler and Synergy are real, GPUs and training are not.")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="folder with the cluster's state")
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    rows = run(Cluster(arguments.folder), arguments.nodes, arguments.keep)
    show(rows)
    if arguments.json:
        names = ("way", "running", "stranded", "throughput")
        arguments.json.write_text(json.dumps([dict(zip(names, row)) for row in rows], indent=1) + "\n",
                                  encoding="utf-8")
    return 0 if rows[-1][1] == 100 else 1


if __name__ == "__main__":
    sys.exit(main())
