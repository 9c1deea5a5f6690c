"""The demonstration's jobs: pods from the recorded trace, and what became of them.

demo_jobs.py pods DATA SCHEDULER       the trace's jobs as a list of pods (JSON)
demo_jobs.py decided < pods.json       how many pods the scheduler has bound or found no place for
demo_jobs.py report DATA FILE FILE...  a table per cluster state (kubectl get nodes,pods -o json)
"""

import csv
import json
import os
import sys

GPU = "nvidia.com/gpu"
UNITS = {"": 1, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def read_csv(data, name):
    with open(os.path.join(data, name), encoding="utf-8") as file:
        return list(csv.DictReader(file))


def pods(data, scheduler):
    demands = {row["model"]: row for row in read_csv(data, "demands.csv")}
    items = []
    for job in read_csv(data, "static_100job.csv"):
        demand, gpus = demands[job["model"]], int(job["gpus"])
        requests = {
            "cpu": str(int(demand["cpu_per_gpu"]) * gpus),
            "memory": f"{round(float(demand['memory_gb_per_gpu']) * 1000 * gpus)}M",
            GPU: str(gpus),
        }
        items.append({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"job-{int(job['job_id']):03}-{job['model']}", "labels": {"model": job["model"]}},
            "spec": {
                "schedulerName": scheduler,
                "restartPolicy": "Never",
                "terminationGracePeriodSeconds": 0,
                "tolerations": [{"operator": "Exists"}],
                "containers": [{
                    "name": "train",
                    "image": "synergy.test/busybox:1",
                    "resources": {"requests": requests, "limits": {GPU: str(gpus)}},
                }],
            },
        })
    print(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))


def decided():
    count = 0
    for pod in json.load(sys.stdin)["items"]:
        conditions = {c["type"]: c for c in pod.get("status", {}).get("conditions", [])}
        refused = conditions.get("PodScheduled", {}).get("reason") == "Unschedulable"
        count += bool(pod["spec"].get("nodeName")) or refused
    print(count)


def amount(text):
    digits = text.rstrip("".join(set("".join(UNITS))))
    return float(digits) * UNITS[text[len(digits):]]


def requests(pod):
    return {name: amount(value) for name, value in pod["spec"]["containers"][0]["resources"]["requests"].items()}


def report(data, files):
    speed = {demand["model"]: float(demand["speedup_at_demand"]) for demand in read_csv(data, "demands.csv")}
    for file in files:
        with open(file, encoding="utf-8") as text:
            items = json.load(text)["items"]
        print(f"\n{os.path.basename(file).removesuffix('.json')}")
        report_state([i for i in items if i["kind"] == "Node"], [i for i in items if i["kind"] == "Pod"], speed)
    print("\n  stranded: GPUs that are free on nodes without the CPU or memory for any job that waits")


def report_state(nodes, all_pods, speed):
    waiting = [requests(pod) for pod in all_pods if not pod["spec"].get("nodeName")]
    print(f"  {'node':<12}{'pods':>6}{'GPUs free':>12}{'stranded':>10}{'CPU free':>10}{'memory free':>14}")
    total = [0.0] * 5
    for node in sorted(nodes, key=lambda n: n["metadata"]["name"]):
        name, free = node["metadata"]["name"], {k: amount(v) for k, v in node["status"]["allocatable"].items()}
        here = [pod for pod in all_pods if pod["spec"].get("nodeName") == name]
        for pod in here:
            for resource, taken in requests(pod).items():
                free[resource] -= taken
        usable = any(all(need <= free[resource] for resource, need in job.items()) for job in waiting)
        stranded = free[GPU] if waiting and not usable else 0
        row = [len(here), free[GPU], stranded, free["cpu"], free["memory"] / 1e9]
        total = [a + b for a, b in zip(total, row)]
        print_row(name, row)
    print_row("all", total)
    placed = [pod for pod in all_pods if pod["spec"].get("nodeName")]
    work = sum(speed[pod["metadata"]["labels"]["model"]] for pod in placed)
    print(f"  {len(placed)} of {len(all_pods)} jobs placed, {len(waiting)} wait; "
          f"together as fast as {work:.0f} jobs at their fair share")


def print_row(name, row):
    print(f"  {name:<12}{row[0]:>6.0f}{row[1]:>12.0f}{row[2]:>10.0f}{row[3]:>10.0f}{row[4]:>11.0f} GB")


def main(arguments):
    match arguments:
        case ["pods", data, scheduler]:
            pods(data, scheduler)
        case ["decided"]:
            decided()
        case ["report", data, *files] if files:
            report(data, files)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
