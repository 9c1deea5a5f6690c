"""Progress of trainings on a real kubelet, by logs as the container runtime writes them and by a
counter."""

import contextlib
import datetime
import itertools
import json
import os
import pathlib
import re
import signal
import time
import unittest
import urllib.request

import failures
from cluster import Cluster, wait_for
from node_agent import SEES_READS, Agent
from trainers import load_image

PATIENCE = 480  # in seconds, on a busy machine
AMOUNTS = json.dumps({"cpu": "100m", "memory": "64Mi"})


def pod(name, *flags, annotations=None):
    """Returns a managed pod, as the webhook creates it."""
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "annotations": {
            "synergy.io/container": "train", "synergy.io/demand": AMOUNTS, "synergy.io/floor": AMOUNTS,
            **(annotations or {})}},
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


def unix_time(text):
    """Converts a time that the runtime wrote, 2026-01-02T03:04:05.123456789+00:00, to seconds."""
    whole, _, rest = text.partition(".")
    zone = re.search(r"(Z|[+-]\d\d:\d\d)$", text).group(1)
    moment = datetime.datetime.fromisoformat(whole + zone.replace("Z", "+00:00"))
    return moment.timestamp() + float("0." + rest.removesuffix(zone))


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

    def metrics(self, name, page=None):
        """Returns pod -> value for a metric of pods, from `page` or from the agent's current
        page."""
        lines = re.findall(rf'^{name}{{.*pod="([^"]*)".*}} (.*)$', page or self.agent.get("/metrics"), re.M)
        return {pod: float(value) for pod, value in lines}

    def log(self, name, stream):
        """Returns the container's output in the pieces that the runtime read: [(time, text)]."""
        uid = self.cluster.get("pod", name)["metadata"]["uid"]
        file = self.cluster.state / f"node-1/log/pods/default_{name}_{uid}/train/0.log"
        # Reads bytes, because carriage returns end no lines.
        pieces = [line.split(" ", 3) for line in file.read_bytes().decode().split("\n") if line]
        return [(unix_time(at), text) for at, of, _, text in pieces if of == stream]

    def check_rate(self, name, stream, pattern, rate):
        """Checks that the rate is a mean over stretches of the log, whatever else runs on this
        machine: some stretch is at least as fast, and some is at least as slow."""
        pieces = self.log(name, stream)
        counts = [int(count) for count in re.findall(pattern, "".join(text for _, text in pieces))]
        points = [(at, int(found[-1])) for at, text in pieces if (found := re.findall(pattern, text))]
        # A piece may end within an update of a bar; the update may then count for either piece.
        cut = max(b - a for a, b in itertools.pairwise(counts)) if pieces[0][1].startswith("\r") else 0
        stretches = [(b - a, last - first) for (first, a), (last, b) in itertools.pairwise(points) if last > first]
        self.check_between(name, rate, [(done - cut) / time for done, time in stretches],
                           [(done + cut) / time for done, time in stretches])

    def check_counter(self, rate):
        """Checks the counter against the lines that the trainer prints each second, while the agent
        reads the counter every ten seconds. Either may be ahead by an iteration."""
        lines = re.findall(r"^time=([\d.]+) iterations=(\d+) ", self.cluster.kubectl("logs", "counter"), re.M)
        stretches = [(int(count) - int(before), float(at) - float(since))
                     for (since, before), (at, count) in itertools.pairwise(lines)]
        self.check_between("counter", rate, [(done - 1) / time for done, time in stretches],
                           [(done + 1) / time for done, time in stretches])

    def check_between(self, name, rate, least, most):
        print(f"{name}: {rate:.3f} iterations per second, {min(least):.2f} to {max(most):.2f} in any stretch by "
              "the trainer itself")
        self.assertGreater(rate, (1 - 1e-5) * min(least))
        self.assertLess(rate, (1 + 1e-5) * max(most))

    def has_all(self, page, name, stream, pattern):
        """Returns whether the agent has counted all iterations from the log's first line to its
        last. The agent may not count the last update of a bar, which may be too short."""
        counts = [int(count) for count in re.findall(pattern, "".join(text for _, text in self.log(name, stream)))]
        return self.metrics("synergy_pod_iterations_total", page)[name] in [last - counts[0] for last in counts[-2:]]

    def test_rates_are_those_of_the_trainers(self):
        counter = {"synergy.io/progress-counter": "synergy_trainer_iterations_total",
                   "synergy.io/progress-port": "8000"}
        own = {"synergy.io/progress-pattern": r"iterations=(?P<iteration>\d+) "}
        logs = {"bar": ("stderr", r"\| (\d+)/100000 \[\d"), "pattern": ("stdout", r"iterations=(\d+) ")}
        # A bar without line ends reaches the log 16 KiB at a time; a wide one does so about every
        # 10 s.
        self.cluster.create(pod("bar", "--gpu-step", "40", "--bar", "100000", "--bar-width", "100"),
                            pod("counter", "--gpu-step", "50", "--port", "8000", annotations=counter),
                            pod("pattern", "--gpu-step", "40", annotations=own),
                            pod("silent", "--gpu-step", "20"),
                            pod("misspelt", "--gpu-step", "20", annotations={"synergy.io/progress-pattern": "at ("}))
        measured = {*logs, "counter"}
        # By then the rate also follows from the log's times, not only from the bar's own figure.
        wait_for("all to be measured", lambda: set(self.metrics("synergy_pod_iterations_per_second")) == measured
                 and len(self.log("bar", "stderr")) > 1, PATIENCE)
        with self.stopped(*measured):
            page = wait_for("the logs to be read to their ends", lambda: (now := self.agent.get("/metrics")) and all(
                self.has_all(now, name, *log) for name, log in logs.items()) and now, PATIENCE)
            rates = self.metrics("synergy_pod_iterations_per_second", page)
            self.assertEqual(set(rates), measured, "the agent guesses nothing about pods without progress")
            for name, log in logs.items():
                self.check_rate(name, *log, rates[name])
            self.check_counter(rates["counter"])
            left, done = self.metrics("synergy_pod_remaining_seconds",
                                      page), self.metrics("synergy_pod_done_ratio", page)
            self.assertEqual(set(left), {"bar"})
            self.assertAlmostEqual(left["bar"], 100_000 * (1 - done["bar"]) / rates["bar"], delta=1e-6 * left["bar"])
            self.assertEqual(self.events_of(measured | {"silent", "misspelt"}), ["misspelt"])

            print(f"the agent: {self.agent.memory() / 2**20:.1f} MiB")
            self.assertLess(self.agent.memory(), 24 * 2**20)

            # A restarted agent finds the rates in the logs, which do not grow now.
            self.agent.process.kill()
            self.agent.process.wait()
            self.agent.start()
            again = wait_for("it to know the rates again",
                             lambda: (found := self.metrics("synergy_pod_iterations_per_second"))
                             and set(logs) <= set(found) and found, PATIENCE)
            for name, log in logs.items():
                self.check_rate(name, *log, again[name])

    def events_of(self, names):
        """Returns the pods among these for which an event says that their progress cannot be
        read."""
        uids = {self.cluster.get("pod", name)["metadata"]["uid"]: name for name in names}

        def shown():
            events = self.cluster.get("events", fieldSelector="reason=SynergyProgressUnseen")["items"]
            return [uids[of] for event in events if (of := event["involvedObject"]["uid"]) in uids]
        return wait_for("the event", shown, PATIENCE)

    def processes(self, name):
        """Returns container -> process ids, for the pod's containers and its sandbox."""
        uid = self.cluster.get("pod", name)["metadata"]["uid"]
        root = pathlib.Path("/sys/fs/cgroup")
        group = f"synergy-test-{self.cluster.instance()}/node-1/kubepods/burstable/pod{uid}"
        group = next(found for found in (root / "memory" / group, root / group) if found.exists())
        return {file.parent.name: [int(process) for process in file.read_text(encoding="utf-8").split()]
                for file in group.glob("*/cgroup.procs")}

    @contextlib.contextmanager
    def stopped(self, *names):
        """Freezes the processes of these pods, so that the agent's figures can be compared however
        late the test reads them."""
        processes = [process for name in names for own in self.processes(name).values() for process in own]
        try:
            for process in processes:
                os.kill(process, signal.SIGSTOP)
            yield
        finally:
            for process in processes:
                os.kill(process, signal.SIGCONT)

    def reads(self, name):
        """Returns the kernel's figures of the trainer's process: the bytes that its reads returned,
        and how many of these came from storage."""
        container = self.cluster.get("pod", name)["status"]["containerStatuses"][0]["containerID"].removeprefix(
            "containerd://")
        process, = self.processes(name)[container]
        io = pathlib.Path(f"/proc/{process}/io").read_text(encoding="utf-8")
        return tuple(int(re.search(rf"^{count}: (\d+)$", io, re.M).group(1)) for count in ("rchar", "read_bytes"))

    def test_reads_are_reported_if_they_can_be_seen(self):
        data = 96 << 20
        self.cluster.create(pod("reader", "--gpu-step", "20", "--lines", "20", "--port", "8000", "--real-data",
                                "--data-set-size", str(data), "--model-memory", "64Mi", "--storage-bandwidth", "200M"))
        wait_for("it to be measured", lambda: self.metrics("synergy_pod_iterations_total").get("reader", 0) > 0,
                 PATIENCE)
        self.assertEqual(self.metrics("synergy_pod_read_bytes_total"), {},
                         "the rights of the plain agent do not suffice")
        self.agent.end()
        self.agent.capabilities = SEES_READS
        with open(self.agent.config, "a", encoding="utf-8") as config:
            config.write("confineWrites: false\n")
        self.agent.start()
        address = self.cluster.get("pod", "reader")["status"]["podIP"]

        def own(name):
            with urllib.request.urlopen(f"http://{address}:8000/metrics", timeout=PATIENCE) as page:
                return float(re.search(rf"^synergy_trainer_{name} (.*)$", page.read().decode(), re.M).group(1))

        def shown():
            return tuple(self.metrics(f"synergy_pod_{name}").get("reader")
                         for name in ("read_bytes_total", "fetched_bytes_total"))

        # Samples are drawn with replacement: once 4 times the data set are drawn, all but 2 % of it
        # have been read.
        wait_for("it to have read nearly all of its data", lambda: own("read_bytes_total") > 4 * data, PATIENCE)
        read, missed = own("read_bytes_total"), own("missed_bytes_total")
        with self.stopped("reader"):
            # The trainer's own count of misses cannot be compared: it counts a sample with one
            # uncached page as a whole, while the kernel drops and keeps single pages.
            wait_for("the agent to report what it has read", lambda: shown() == self.reads("reader"), PATIENCE)
            seen_read, seen_fetched = shown()
            memory = self.metrics("synergy_pod_process_memory_bytes")["reader"]
        print(f"read {seen_read / 2**20:.1f} MiB, {seen_fetched / 2**20:.1f} of them from storage, by the "
              "trainer's own count "
              f"{read / 2**20:.1f} and {missed / 2**20:.1f} a moment before; process memory {memory / 2**20:.1f} MiB")
        # The trainer counts a sample before it has read all of it.
        self.assertGreater(seen_read, read - 2**20)
        self.assertGreater(seen_fetched, data / 2)
        self.assertLess(seen_fetched, seen_read)
        self.assertGreater(memory, 64 << 20)
        self.assertLess(memory, data, "the cache is none of it")


if __name__ == "__main__":
    failures.main()
