"""The invariants that must hold on the API server at every moment. As a program, it checks a
cluster until it is stopped.

  invariants.py [--kubeconfig FILE] [--seconds N] [--every SECONDS]

The exit status is 1 if an invariant does not hold; each violation is one line.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from fractions import Fraction

UNITS = {"": 1, "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "k": 10**3, "M": 10**6,
         "G": 10**9,
         "T": 10**12, "P": 10**15, "E": 10**18, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50,
         "Ei": 2**60}


def quantity(text):
    number, exponent, unit = re.fullmatch(r"([+-]?[\d.]+)(?:[eE]([+-]?\d+))?([a-zA-Z]*)", str(text)).groups()
    return Fraction(number) * Fraction(10)**int(exponent or 0) * UNITS[unit]


def requests(pod):
    """Returns the resources that a pod of ordinary containers occupies: the maximum of its
    requests, its allocated amounts and the amounts in force."""
    total = {}
    statuses = {s["name"]: s for s in pod.get("status", {}).get("containerStatuses", [])}
    for container in pod["spec"]["containers"]:
        status = statuses.get(container["name"], {})
        sources = [container.get("resources", {}).get("requests", {})]
        if status.get("resources"):
            sources += [status["resources"].get("requests", {}), status.get("allocatedResources", {})]
        for name in {name for source in sources for name in source}:
            total[name] = total.get(name, 0) + max(quantity(source.get(name, 0)) for source in sources)
    return total


def annotation(pod, name):
    return pod["metadata"].get("annotations", {}).get("synergy.io/" + name)


def amounts(text):
    """Returns an annotation's CPU and memory."""
    return {name: quantity(value) for name, value in json.loads(text).items()}


def managed(pod):
    """Returns the container whose CPU and memory Synergy changes; None if Synergy changes none."""
    name = annotation(pod, "container")
    return next((c for c in pod["spec"]["containers"] if c["name"] == name), None) if annotation(pod, "floor") else None


def running(pod):
    return bool(pod["spec"].get("nodeName")) and pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")


# The controller records a cut after it has made it. If it ends in between, the next leader records
# it.
RECORDED_WITHIN = 60


def resized_by_synergy_alone(pod):
    fields = pod["metadata"].get("managedFields", [])
    return {entry["manager"] for entry in fields if entry.get("subresource") == "resize"} == {"synergy"}


def allocation_violations(pod, may_be_unrecorded=False):
    """Returns the violations of a pod that has a node: amounts below its floor, or amounts that no
    recorded change explains."""
    container = managed(pod)
    if not container:
        return []
    name, now = pod["metadata"]["name"], {r: quantity(container["resources"]["requests"][r]) for r in ("cpu", "memory")}
    found = [f"{name} has {float(now[r]):g} {r}, which is below its floor"
             for r, least in amounts(annotation(pod, "floor")).items() if now[r] < least]
    change = json.loads(annotation(pod, "change") or "null")
    if not change:
        found.append(f"{name} was bound without a record of its allocation")
    elif not may_be_unrecorded and now not in ({r: quantity(change[end][r]) for r in now} for end in ("from", "to")):
        found.append(f"{name} has {container['resources']['requests']}, and its last change is {change}")
    return found


class IdleGpus:
    """Finds GPUs that stay free while a waiting pod could have them, if each pod of the node were
    cut to its floor."""

    def __init__(self, limit):
        self.limit = limit  # how long GPUs may stay free, because making room takes time
        self.since = {}  # node -> (its pods, the time from which GPUs have been free beside them)
        self.longest = 0.0

    def check(self, nodes, pods, now):
        free = {node["metadata"]["name"]: {r: quantity(v) for r, v in node["status"]["allocatable"].items()}
                for node in nodes}
        there = {name: set() for name in free}
        waiting = []
        for pod in pods:
            needs = requests(pod)
            name = pod["spec"].get("nodeName")
            if managed(pod) and (not name or self.may_shrink(pod)):
                needs.update(amounts(annotation(pod, "floor")))
            if not name and not pod["metadata"].get("deletionTimestamp"):
                waiting.append(needs)
            elif running(pod) and name in free:
                there[name].add(pod["metadata"]["uid"])
                for resource, amount in needs.items():
                    free[name][resource] = free[name].get(resource, 0) - amount
        before, self.since = self.since, {}
        violations = []
        for name, room in free.items():
            if not any(all(room.get(r, 0) >= amount for r, amount in needs.items()) for needs in waiting):
                continue
            # When pods have come or gone, the time starts again: while many pods wait, GPUs often
            # change owners.
            pods_before, first = before.get(name, (None, now))
            self.since[name] = (there[name], first if pods_before == there[name] else now)
            idle = now - self.since[name][1]
            self.longest = max(self.longest, idle)
            if idle > self.limit:
                violations.append(
                    f"{name} has had GPUs free for {idle:.0f} looks that pods wait for although room can be made")
        return violations

    @staticmethod
    def may_shrink(pod):
        # The kubelet refuses resizes because a test says so, or it has refused one lately.
        return not annotation(pod, "unshrinkable-until") and "synergy.test/resize" not in pod["metadata"]["annotations"]


class Invariants:
    """Checks all invariants. Remembers where pods were bound, so that a pod that moves is a
    violation."""

    def __init__(self):
        self.node_of = {}
        self.since = {}  # pod -> its requests, and the time at which they were first seen

    def may_be_unrecorded(self, pod, now):
        amounts_now = json.dumps(managed(pod) and managed(pod)["resources"]["requests"], sort_keys=True)
        uid = pod["metadata"]["uid"]
        if self.since.get(uid, (None, now))[0] != amounts_now:
            self.since[uid] = (amounts_now, now)
        return resized_by_synergy_alone(pod) and now - self.since[uid][1] < RECORDED_WITHIN

    def check(self, nodes, pods, now=None):
        """Returns the violations, as text, in one state of the API server."""
        violations, now = [], time.monotonic() if now is None else now
        free = {node["metadata"]["name"]: {name: quantity(value)
                                           for name, value in node["status"]["allocatable"].items()}
                for node in nodes}
        for pod in pods:
            name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
            node = pod["spec"].get("nodeName")
            if self.node_of.setdefault(uid, node or self.node_of.get(uid)) not in (None, node):
                violations.append(f"{name} was bound to {self.node_of[uid]} and is now on {node}")
            if node:
                self.node_of[uid] = node
            if pod.get("status", {}).get("phase") == "Failed":
                violations.append(f"{name} failed: {pod['status'].get('reason')} {pod['status'].get('message')}")
            if not running(pod):
                continue
            violations += allocation_violations(pod, self.may_be_unrecorded(pod, now))
            for resource, amount in {**requests(pod), "pods": 1}.items():
                if node in free:
                    free[node][resource] = free[node].get(resource, 0) - amount
        for node, resources in free.items():
            for resource, amount in resources.items():
                if amount < 0:
                    violations.append(f"{node} is over-allocated by {float(-amount):g} {resource}")
        return violations


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeconfig")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--every", type=float, default=1)
    options = parser.parse_args()
    command = ["kubectl", *(["--kubeconfig", options.kubeconfig] if options.kubeconfig else []), "get", "nodes,pods",
               "--all-namespaces", "--show-managed-fields", "-o", "json"]
    invariants, found, checks = Invariants(), 0, 0
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        answer = subprocess.run(command, text=True, capture_output=True, check=False)
        if answer.returncode == 0:  # if the API server is down, there is nothing to check
            items = json.loads(answer.stdout)["items"]
            checks += 1
            for violation in invariants.check([i for i in items if i["kind"] == "Node"],
                                              [i for i in items if i["kind"] == "Pod"]):
                found += 1
                print(violation)
        time.sleep(options.every)
    print(f"{checks} checks, {found} violations", file=sys.stderr)
    return 1 if found or not checks else 0


if __name__ == "__main__":
    sys.exit(main())
