"""Queues of Kueue's with RoundPolicies, as a user makes them (docs/queues.md)."""

from cluster import GPU

QUEUE = "kueue.x-k8s.io/queue-name"
CLASS = "kueue.x-k8s.io/priority-class"
ENOUGH = {"cpu": "1000", "memory": "1000Ti", GPU: "1000"}


def kueue(kind, name, **spec):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": name}, "spec": spec}


FLAVOR = kueue("ResourceFlavor", "any")


def priority_class(name, value):
    item = kueue("WorkloadPriorityClass", name)
    del item["spec"]
    return item | {"value": value}


def queue(name, quotas=None, **spec):
    """A ClusterQueue with more than enough, or these quotas, and a LocalQueue of the same name."""
    quotas = ENOUGH | (quotas or {})
    flavor = {"name": "any", "resources": [{"name": name, "nominalQuota": quota} for name, quota in quotas.items()]}
    groups = [{"coveredResources": list(quotas), "flavors": [flavor]}]
    local = kueue("LocalQueue", name, clusterQueue=name)
    local["metadata"]["namespace"] = "default"
    return [kueue("ClusterQueue", name, namespaceSelector={}, resourceGroups=groups, **spec), local]


def of_turns(name, gpus, **spec):
    """One whose jobs can lose their turns."""
    return queue(name, {GPU: str(gpus)}, preemption={"withinClusterQueue": "LowerPriority"}, **spec)


# By which Synergy gives a job its GPU type.
CHECK = "synergy-rounds"
CHECKED = {"admissionChecksStrategy": {"admissionChecks": [{"name": CHECK}]}}


def round_policy(name, order, seconds, least=1, cost=1):
    """Of the queue of that name."""
    return {"apiVersion": "synergy.io/v1alpha1", "kind": "RoundPolicy", "metadata": {"name": name},
            "spec": {"clusterQueues": [name], "policy": order, "roundSeconds": seconds, "leastRunSeconds": least, "restartCostSeconds": cost}}
