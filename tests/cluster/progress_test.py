"""Progress of trainings on a real kubelet: their logs as the container runtime writes them, and a counter."""

import json
import os
import re
import time
import unittest

from cluster import Cluster, wait_for
from node_agent import Agent
from trainers import load_image

# How long rates are measured. A bar without ends of lines reaches the log 16 KiB at a time: here every 25 s or so.
SECONDS = int(os.environ.get("SYNERGY_PROGRESS_SECONDS", "60"))
AMOUNTS = json.dumps({"cpu": "100m", "memory": "64Mi"})


def pod(name, *flags, annotations=None):
    """A managed pod, as the webhook leaves it."""
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "annotations": {
            "synergy.io/container": "train", "synergy.io/demand": AMOUNTS, "synergy.io/floor": AMOUNTS, **(annotations or {})}},
        "spec": {
            "restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
            "nodeSelector": {"synergy.test/node": "real"},
            "containers": [{
                "name": "train", "image": "synergy.test/trainer:1", "imagePullPolicy": "Never",
                "args": ["--workers", "1", "--cpu-per-iteration", "1", *flags],
                "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
            }],
        },
    }


class ProgressTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        load_image(cls.cluster)

    def setUp(self):
        self.cluster.clear()
        self.agent = Agent(self.cluster, self.cluster.folder)
        self.agent.start()
        self.addCleanup(lambda: self.assertEqual(self.agent.end(), 0, "the agent has to end cleanly on SIGTERM"))

    def metrics(self, name):
        """Pod -> value, of a metric that pods have."""
        lines = re.findall(rf'^{name}{{.*pod="([^"]*)".*}} (.*)$', self.agent.get("/metrics"), re.M)
        return {pod: float(value) for pod, value in lines}

    def true_rate(self, name, seconds):
        """Iterations per second in the last seconds, by the trainer's own clock and count."""
        lines = re.findall(r"^time=([\d.]+) iterations=(\d+) ", self.cluster.kubectl("logs", name), re.M)
        first, last = lines[-min(len(lines), seconds)], lines[-1]
        return (int(last[1]) - int(first[1])) / (float(last[0]) - float(first[0]))

    def test_rates_are_those_of_the_trainers(self):
        counter = {"synergy.io/progress-counter": "synergy_trainer_iterations_total", "synergy.io/progress-port": "8000"}
        own = {"synergy.io/progress-pattern": r"iterations=(?P<iteration>\d+) "}
        self.cluster.create(pod("bar", "--gpu-step", "10", "--bar", "1000000"),
                            pod("counter", "--gpu-step", "25", "--port", "8000", annotations=counter),
                            pod("pattern", "--gpu-step", "20", annotations=own),
                            pod("silent", "--gpu-step", "20"),
                            pod("misspelt", "--gpu-step", "20", annotations={"synergy.io/progress-pattern": "at ("}))
        wait_for("all to be measured", lambda: set(self.metrics("synergy_pod_iterations_per_second")) == {"bar", "counter", "pattern"}, 120)
        time.sleep(SECONDS)
        rates = self.metrics("synergy_pod_iterations_per_second")
        for name in ("bar", "counter", "pattern"):
            true = self.true_rate(name, SECONDS)
            print(f"{name}: {rates[name]:.2f} iterations per second, {true:.2f} by the trainer itself")
            self.assertAlmostEqual(rates[name] / true, 1, delta=0.03)
        self.assertEqual(set(rates), {"bar", "counter", "pattern"}, "nothing is guessed of those that do not tell")
        left = self.metrics("synergy_pod_remaining_seconds")
        self.assertAlmostEqual(left["bar"], 1_000_000 / rates["bar"], delta=0.1 * left["bar"])
        self.assertNotIn("counter", left)
        events = self.cluster.get("events", "--field-selector=reason=SynergyProgressUnseen")["items"]
        self.assertEqual([event["involvedObject"]["name"] for event in events], ["misspelt"])

        print(f"the agent: {self.agent.memory() / 2**20:.1f} MiB")
        self.assertLess(self.agent.memory(), 24 * 2**20)

        # One that starts anew knows the rates from the logs at once.
        self.agent.process.kill()
        self.agent.process.wait()
        self.agent.start()
        again = wait_for("it to know the rates again", lambda: (found := self.metrics("synergy_pod_iterations_per_second"))
                         and {"bar", "pattern"} <= set(found) and found, 10)
        for name in ("bar", "pattern"):
            self.assertAlmostEqual(again[name] / rates[name], 1, delta=0.03)


if __name__ == "__main__":
    unittest.main(verbosity=2)
