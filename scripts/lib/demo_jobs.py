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


def report(data, files):
    demands = read_csv(data, "demands.csv")
    least_cpu = min(float(d["cpu_per_gpu"]) for d in demands)
    least_memory = min(float(d["memory_gb_per_gpu"]) for d in demands) * 1e9
    speed = {d["model"]: float(d["speedup_at_demand"]) for d in demands}
    for file in files:
        with open(file, encoding="utf-8") as text:
            items = json.load(text)["items"]
        print(f"\n{os.path.basename(file).removesuffix('.json')}")
        report_state([i for i in items if i["kind"] == "Node"], [i for i in items if i["kind"] == "Pod"],
                     least_cpu, least_memory, speed)


def report_state(nodes, all_pods, least_cpu, least_memory, speed):
    print(f"  {'node':<12}{'pods':>6}{'GPUs free':>12}{'stranded':>10}{'CPU free':>10}{'memory free':>14}")
    total = [0.0] * 5
    for node in sorted(nodes, key=lambda n: n["metadata"]["name"]):
        name, free = node["metadata"]["name"], {k: amount(v) for k, v in node["status"]["allocatable"].items()}
        here = [p for p in all_pods if p["spec"].get("nodeName") == name]
        for pod in here:
            for container in pod["spec"]["containers"]:
                for resource, value in container["resources"].get("requests", {}).items():
                    free[resource] -= amount(value)
        usable = min(free[GPU], free["cpu"] // least_cpu, free["memory"] // least_memory)
        row = [len(here), free[GPU], free[GPU] - usable, free["cpu"], free["memory"] / 1e9]
        total = [a + b for a, b in zip(total, row)]
        print(f"  {name:<12}{row[0]:>6.0f}{row[1]:>12.0f}{row[2]:>10.0f}{row[3]:>10.0f}{row[4]:>11.0f} GB")
    print(f"  {'all':<12}{total[0]:>6.0f}{total[1]:>12.0f}{total[2]:>10.0f}{total[3]:>10.0f}{total[4]:>11.0f} GB")
    placed = [p for p in all_pods if p["spec"].get("nodeName")]
    work = sum(speed[p["metadata"]["labels"]["model"]] for p in placed)
    print(f"  {len(placed)} of {len(all_pods)} jobs placed, {len(all_pods) - len(placed)} wait; "
          f"together as fast as {work:.0f} jobs at their fair share")


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
