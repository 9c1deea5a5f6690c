"""Progress of trainings on a real kubelet: their logs as the container runtime writes them, and a counter."""

import contextlib
import json
import os
import pathlib
import re
import signal
import time
import unittest
import urllib.request

from cluster import Cluster, wait_for
from node_agent import SEES_READS, Agent
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

    def true_rates(self, name):
        """The least and the most iterations per second of any 20 s in which the agent could have looked, by the trainer's own clock
        and count. On a machine that nobody else uses they are the same: the trainers wait most of the time.
        """
        lines = [(float(time), int(count)) for time, count in
                 re.findall(r"^time=([\d.]+) iterations=(\d+) ", self.cluster.kubectl("logs", name), re.M)][-(SECONDS + 45):]
        rates = [(last[1] - first[1]) / (last[0] - first[0]) for first, last in zip(lines, lines[20:])]
        return min(rates), max(rates)

    def check_rate(self, name, rate):
        least, most = self.true_rates(name)
        print(f"{name}: {rate:.2f} iterations per second, {least:.2f} to {most:.2f} by the trainer itself")
        self.assertGreater(rate, 0.97 * least)
        self.assertLess(rate, 1.03 * most)

    def test_rates_are_those_of_the_trainers(self):
        counter = {"synergy.io/progress-counter": "synergy_trainer_iterations_total", "synergy.io/progress-port": "8000"}
        own = {"synergy.io/progress-pattern": r"iterations=(?P<iteration>\d+) "}
        # Slow enough to be steady on a busy machine: the agent's minute and the trainers' own are not the same.
        self.cluster.create(pod("bar", "--gpu-step", "40", "--bar", "100000"),
                            pod("counter", "--gpu-step", "50", "--port", "8000", annotations=counter),
                            pod("pattern", "--gpu-step", "40", annotations=own),
                            pod("silent", "--gpu-step", "20"),
                            pod("misspelt", "--gpu-step", "20", annotations={"synergy.io/progress-pattern": "at ("}))
        wait_for("all to be measured", lambda: set(self.metrics("synergy_pod_iterations_per_second")) == {"bar", "counter", "pattern"}, 120)
        time.sleep(SECONDS)
        rates = self.metrics("synergy_pod_iterations_per_second")
        for name in ("bar", "counter", "pattern"):
            self.check_rate(name, rates[name])
        self.assertEqual(set(rates), {"bar", "counter", "pattern"}, "nothing is guessed of those that do not tell")
        left = self.metrics("synergy_pod_remaining_seconds")
        self.assertAlmostEqual(left["bar"], 100_000 / rates["bar"], delta=0.1 * left["bar"])
        self.assertNotIn("counter", left)
        events = self.cluster.get("events", fieldSelector="reason=SynergyProgressUnseen")["items"]
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
            self.check_rate(name, again[name])

    @contextlib.contextmanager
    def stopped(self, name, before):
        """The pod's processes stand still meanwhile; gives what `before` has answered the moment before. So what the agent tells can be
        compared, however late it looks.
        """
        answer = before()
        uid = self.cluster.get("pod", name)["metadata"]["uid"]
        root = pathlib.Path("/sys/fs/cgroup")
        group = f"synergy-test-{self.cluster.instance()}/node-1/kubepods/burstable/pod{uid}"
        group = next(found for found in (root / "memory" / group, root / group) if found.exists())
        processes = [int(process) for file in group.glob("*/cgroup.procs") for process in file.read_text(encoding="utf-8").split()]
        try:
            for process in processes:
                os.kill(process, signal.SIGSTOP)
            yield answer
        finally:
            for process in processes:
                os.kill(process, signal.SIGCONT)

    def test_what_is_read_is_told_where_it_may_be_seen(self):
        data = 96 << 20
        self.cluster.create(pod("reader", "--gpu-step", "20", "--lines", "20", "--port", "8000", "--real-data", "--data-set-size", str(data),
                                "--model-memory", "64Mi", "--storage-bandwidth", "200M"))
        wait_for("it to be measured", lambda: self.metrics("synergy_pod_iterations_total").get("reader", 0) > 300, 120)
        self.assertEqual(self.metrics("synergy_pod_read_bytes_total"), {}, "the rights of the plain agent do not suffice")
        self.agent.end()
        self.agent.capabilities = SEES_READS
        self.agent.start()
        address = self.cluster.get("pod", "reader")["status"]["podIP"]

        def own(name):
            with urllib.request.urlopen(f"http://{address}:8000/metrics", timeout=10) as page:
                return float(re.search(rf"^synergy_trainer_{name} (.*)$", page.read().decode(), re.M).group(1))

        def told():
            return {name: self.metrics(f"synergy_pod_{name}").get("reader") for name in
                    ("read_bytes_total", "fetched_bytes_total", "process_memory_bytes")}

        # Samples are drawn with replacement: 600 of 384 leave a fifth of the data unread.
        wait_for("it to have read nearly all of its data", lambda: own("missed_bytes_total") > 0.95 * data, 60)
        with self.stopped("reader", lambda: (own("read_bytes_total"), own("missed_bytes_total"))) as (read, missed):
            seen = wait_for("what it has read to be told",
                            lambda: (found := told())["read_bytes_total"] and found["read_bytes_total"] >= read and
                            found["fetched_bytes_total"] > 0.95 * missed and found, 60)
        # The program itself is read, too.
        self.assertLess(seen["read_bytes_total"], 1.02 * own("read_bytes_total") + 8 * 2**20)
        print({name: round(value / 2**20, 1) for name, value in seen.items()}, f"MiB; it missed {own('missed_bytes_total') / 2**20:.1f} MiB")
        # What it missed at most: a sample of which a page was not cached counts whole there.
        self.assertLess(seen["fetched_bytes_total"], 1.1 * own("missed_bytes_total"))
        self.assertGreater(seen["process_memory_bytes"], 64 << 20)
        self.assertLess(seen["process_memory_bytes"], data, "the cache is none of it")


if __name__ == "__main__":
    unittest.main(verbosity=2)
