"""Measures the machine's effect on speeds, with two trainers that nothing changes, at the fair
share, on a node of their own.

On a busy machine trainers are slower than calculated, by a factor that changes from minute to
minute. In the same seconds these two are slower by the same factor, so speeds relative to theirs
show Synergy's effect.
"""

import time

import blind
import trainers
from cluster import wait_for

NAMESPACE = "reference"
# Iterations per second, calculated.
SPEEDS = {"sensitive": blind.LIMITED * blind.true_speed("sensitive", trainers.FAIR_SHARE),
          "insensitive": blind.true_speed("insensitive", trainers.FAIR_SHARE)}


class Reference:
    def __init__(self, cluster, node):
        """Runs two trainers on that node, which then takes no other pods."""
        self.cluster = cluster
        self.forget()
        pods = [trainers.pod(f"{kind}-reference", kind, "proportional") for kind in trainers.KINDS]
        for item in pods:
            item["metadata"]["namespace"] = NAMESPACE
            item["spec"]["nodeSelector"] = {"kubernetes.io/hostname": node}
        cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        account = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default"
        wait_for("the namespace's account", lambda: cluster.called("GET", account, absent=True))
        cluster.create(*pods)
        wait_for("the reference to run",
                 lambda: all(map(trainers.is_running, cluster.get("pods", namespace=NAMESPACE)["items"])))
        cluster.patch("node", node, {"spec": {"unschedulable": True}})
        wait_for("the reference to tell how fast it is", lambda: all(
            len(lines) > 2 for lines in (trainers.iterations(cluster, NAMESPACE) or {"": ()}).values()))

    def forget(self):
        self.history = []  # measured speeds as fractions of the calculated ones
        self.looked = 0

    def speeds(self, since, until):
        """Returns kind -> iterations per second."""
        return {name.partition("-")[0]: speed
                for name, speed in trainers.speeds(self.cluster, since, until, NAMESPACE).items()}

    def look(self, seconds=30):
        """Records the latest speeds, for range(), at most every ten seconds."""
        now = time.time()
        if now < self.looked + 10:
            return
        self.looked = now
        self.history += [speed / SPEEDS[kind] for kind, speed in self.speeds(now - seconds, now).items()]

    def range(self):
        """Returns the slowest and the fastest recorded speed, where 1 is the calculated one."""
        return min(self.history), max(self.history)
