"""The node agent on a real kubelet: it releases page cache when a memory limit has to shrink, and
gives pods less CPU during a probe."""

import contextlib
import datetime
import json
import os
import pathlib
import random
import re
import signal
import time
import unittest

import failures
import tiers
from api import PODS
from cluster import Cluster, wait_for
from node_agent import Agent
from trainers import load_image

MIB = 1 << 20
SECONDS = int(os.environ.get("SYNERGY_MEMORY_SECONDS", "40"))
PATIENCE = 480  # in seconds, on a busy machine
# Seconds of a probe that ends by itself: the agent leaves out one that ends before it is seen.
BRIEF = 20
SEED = int(os.environ.get("SYNERGY_TEST_SEED", "1"))
# If all of its 160 MiB are cached, the GPU is the bottleneck (200 iterations per second); otherwise
# the storage is.
TRAINER = ["--data-set-size", "160Mi", "--read-per-iteration", "1Mi", "--storage-bandwidth", "40M",
           "--cpu-per-iteration", "0.5", "--gpu-step", "5"]


def trainer_pod(name, limit, *flags, managed=True):
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "annotations": {"synergy.io/profile": "any"} if managed else {}},
        "spec": {
            "restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
            "nodeSelector": {"synergy.test/node": "real"},
            "containers": [{
                "name": "train", "image": "synergy.test/trainer:1", "imagePullPolicy": "Never",
                "args": [*TRAINER, *flags],
                "resources": {"requests": {"cpu": "100m", "memory": limit}, "limits": {"memory": limit}},
                "resizePolicy": [{"resourceName": r, "restartPolicy": "NotRequired"} for r in ("cpu", "memory")],
            }],
        },
    }


def patch(cluster, path, change, user=None):
    cluster.called("PATCH", f"{PODS}/{path}", change, "application/strategic-merge-patch+json", "application/json",
                   user)


def annotate_probe(cluster, name, asked, manager="synergy"):
    patch(cluster, f"{name}?fieldManager={manager}",
          {"metadata": {"annotations": {"synergy.io/probe": json.dumps(asked)}}}, "synergy-controller")


def probe(cluster, name, cpu, seconds, burst=False):
    """Writes a probe into a pod's annotations, as synergy-controller does: `cpu` as the limit for
    `seconds`, or with `burst` as an increase.

    The agent ignores a probe that equals the last one. A new probe differs in `cpu`, or begins at
    least a second later.
    """
    until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    annotate_probe(cluster, name,
                   {"cpu": cpu, "until": until.strftime("%Y-%m-%dT%H:%M:%SZ"), "burst": burst})


def resize_pod(cluster, name, amounts):
    """Resizes the pod's only container to these `requests` and `limits`."""
    container = cluster.get("pod", name)["spec"]["containers"][0]["name"]
    patch(cluster, f"{name}/resize", {"spec": {"containers": [{"name": container, "resources": amounts}]}})


def probed_pod(name, limits):
    """Returns a managed pod, as the webhook creates it, that uses all the CPU it can get."""
    made = trainer_pod(name, "64Mi")
    amounts = json.dumps({"cpu": "100m", "memory": "64Mi"})
    made["metadata"]["annotations"] = {f"synergy.io/{key}": value for key, value in (
        ("container", "train"), ("demand", amounts), ("floor", amounts))}
    container = made["spec"]["containers"][0]
    container["args"] = ["--workers", "1", "--cpu-per-iteration", "10", "--gpu-step", "1"]
    container["resources"] = {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": limits}
    return made


class NodeAgentTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        load_image(cls.cluster)

    def setUp(self):
        self.cluster.clear()
        # A test stops the agent while its child is frozen; the agent then waits for this long.
        self.agent = Agent(self.cluster, self.cluster.folder, "shutdownGrace: 1s\n")

    def start_agent(self):
        self.agent.start()
        self.addCleanup(lambda: self.assertEqual(self.agent.end(), 0, "the agent has to end cleanly on SIGTERM"))

    def container(self, pod):
        return self.cluster.get("pod", pod)["status"].get("containerStatuses", [{}])[0]

    def await_running(self, *pods):
        for pod in pods:
            wait_for(f"{pod} to run", lambda pod=pod: self.container(pod).get("state", {}).get("running"), PATIENCE)

    def limit_in_force(self, pod):
        return self.container(pod).get("resources", {}).get("limits", {}).get("memory")

    def await_limit(self, pod, limit):
        """Writes on the pod meanwhile, as the tuner does: otherwise the kubelet tries a limit below
        the memory in use only once a minute."""
        def is_in_force():
            if self.limit_in_force(pod) == limit:
                return True
            self.cluster.kubectl("annotate", "pod", pod, f"test/looked={time.time():.0f}", "--overwrite")
            return False
        wait_for(f"{pod} to have the limit {limit}", is_in_force, PATIENCE)

    def resize(self, pod, limit):
        resize_pod(self.cluster, pod, {"requests": {"memory": limit}, "limits": {"memory": limit}})

    def group(self, pod, of_container=True):
        """Returns the path of the pod's or container's control group below a hierarchy."""
        found = self.cluster.get("pod", pod)
        group = f"synergy-test-{self.cluster.instance()}/node-1/kubepods/burstable/pod{found['metadata']['uid']}"
        if of_container:
            group += "/" + found["status"]["containerStatuses"][0]["containerID"].removeprefix("containerd://")
        return group

    def kernel(self, pod, v1, v2):
        """Returns a number that the kernel reports about the pod's container."""
        root, group = pathlib.Path("/sys/fs/cgroup"), self.group(pod)
        file = root / "memory" / group / v1
        return int((file if file.exists() else root / group / v2).read_text(encoding="utf-8"))

    def usage(self, pod):
        return self.kernel(pod, "memory.usage_in_bytes", "memory.current")

    def kernel_limit(self, pod):
        return self.kernel(pod, "memory.limit_in_bytes", "memory.max")

    def await_cache(self, pod, at_least):
        self.await_running(pod)
        wait_for(f"the page cache of {pod} to fill", lambda: self.usage(pod) > at_least, PATIENCE)

    def await_refusal(self, pod):
        def refused():
            conditions = self.cluster.get("pod", pod)["status"]["conditions"]
            return [c for c in conditions if c["type"] == "PodResizeInProgress" and c.get("reason") == "Error"]
        self.assertIn("below current usage", wait_for("the kubelet to refuse", refused, PATIENCE)[0]["message"])

    def events(self, pod, reason):
        """Returns events about this very pod. Events outlive pods, so an event may be about an
        earlier pod of the same name."""
        uid = self.cluster.get("pod", pod)["metadata"]["uid"]
        items = self.cluster.get("events", fieldSelector=f"involvedObject.uid={uid},reason={reason}")["items"]
        return [event["message"] for event in items]

    def missed(self, pod):
        """Returns the fraction of the trainer's reads that was not cached, in the last five
        seconds, by its output."""
        lines = self.cluster.kubectl("logs", pod, "--tail=5").splitlines()
        values = [float(re.search(r" missed=([\d.]+)", line).group(1)) for line in lines]
        return sum(values) / len(values)

    def shrinks(self, outcome):
        return self.agent.metric(f'synergy_node_agent_shrink_duration_seconds_count{{outcome="{outcome}"}}')

    def await_no_shrinks(self):
        wait_for("the agent to see it", lambda: self.agent.metric("synergy_node_agent_shrinks_in_progress") == 0,
                 PATIENCE)

    def test_a_cache_that_fills_its_limit_is_given_back_and_what_is_in_use_is_left(self):
        self.cluster.create(trainer_pod("cached", "200Mi"), trainer_pod("not-ours", "200Mi", managed=False),
                            trainer_pod("small", "100Mi"), trainer_pod("anonymous", "200Mi", "--model-memory", "120Mi"))
        shrinking = ("cached", "not-ours", "anonymous")
        for pod in shrinking:
            self.await_cache(pod, 150 * MIB)
        # While the pod still fills its cache, its misses say nothing about its limit.
        missed_before = wait_for("all of its data to be cached", lambda: (now := self.missed("cached")) < 0.1 and [now],
                                 PATIENCE)[0]
        for pod in shrinking:
            self.resize(pod, "100Mi")

        self.start_agent()
        started = time.monotonic()
        self.await_limit("cached", "100Mi")
        print(f"given back {time.monotonic() - started:.1f} s after the agent's start")
        self.assertEqual(self.kernel_limit("cached"), 100 * MIB)
        self.assertRegex(wait_for("the agent to tell it", lambda: self.events("cached", "SynergyMemoryReleased"),
                                  PATIENCE)[0],
                         r"^Released [\d.]+ MiB of page cache in [\d.]+ s, .*: train from 200.0 MiB to 100.0 MiB$")
        self.assertGreater(self.agent.metric("synergy_node_agent_released_bytes_total"), 50 * MIB)

        # Memory in use stays, and an event says so.
        message = wait_for("the agent to say that it cannot", lambda: self.events("anonymous", "SynergyMemoryStuck"),
                           PATIENCE)[0]
        self.assertIn("train from 200.0 MiB to 100.0 MiB", message)
        self.assertIn("cannot be given back", message)
        self.assertEqual(self.events("anonymous", "SynergyMemoryReleased"), [])
        self.assertEqual(self.shrinks("stuck"), 1)
        self.assertEqual(self.limit_in_force("anonymous"), "200Mi")
        # This is what the tuner does.
        self.resize("anonymous", "200Mi")
        self.await_no_shrinks()
        self.assertEqual(self.shrinks("completed"), 1)

        # The agent does not manage this container, so nothing changes: the kubelet alone never
        # shrinks it.
        self.await_refusal("not-ours")
        self.assertEqual(self.limit_in_force("not-ours"), "200Mi")
        self.assertGreater(self.usage("not-ours"), 150 * MIB)
        self.assertEqual(self.events("not-ours", "SynergyMemoryReleased"), [])

        # The pod misses as much as one that never had more memory. Speeds are not compared, because
        # other load on this machine changes them.
        def like_small():
            missed, by_small = self.missed("cached"), self.missed("small")
            return abs(missed - by_small) < 0.1 and (missed, by_small)
        missed, by_small = wait_for("it to miss as much as one that never had more", like_small, PATIENCE)
        print(f"missed {missed_before:.2f} with 200Mi, {missed:.2f} after it, {by_small:.2f} with 100Mi all the time")
        self.assertGreater(missed, 0.2)

        # Now the limit shrinks while the agent runs.
        self.resize("cached", "200Mi")
        self.await_limit("cached", "200Mi")
        self.await_cache("cached", 150 * MIB)
        started = time.monotonic()
        self.resize("cached", "100Mi")
        wait_for("the memory to be free", lambda: self.usage("cached") < 100 * MIB, PATIENCE)
        free = time.monotonic() - started
        self.await_limit("cached", "100Mi")
        print(f"free after {free:.1f} s, limit in force after {time.monotonic() - started:.1f} s")
        for pod in (*shrinking, "small"):
            self.assertEqual(self.container(pod)["restartCount"], 0)

    def cpu_file(self, pod, name, of_container=False):
        return pathlib.Path("/sys/fs/cgroup/cpu") / self.group(pod, of_container) / name

    def quota(self, pod, of_container=False):
        return int(self.cpu_file(pod, "cpu.cfs_quota_us", of_container).read_text(encoding="utf-8"))

    def await_quota(self, pod, quota, of_container=False):
        file = self.cpu_file(pod, "cpu.cfs_quota_us", of_container)
        wait_for(f"{pod} to have the quota {quota}", lambda: int(file.read_text(encoding="utf-8")) == quota, PATIENCE)

    def throttled(self, pod):
        """Returns in how many periods the quota throttled the pod."""
        return int(re.search(r"^nr_throttled (\d+)", self.cpu_file(pod, "cpu.stat").read_text(encoding="utf-8"),
                             re.M).group(1))

    def await_probes(self, outcome, count):
        metric = f'synergy_node_agent_probes_total{{outcome="{outcome}"}}'
        wait_for(f"the agent to tell of a probe: {outcome}", lambda: self.agent.metric(metric) == count, PATIENCE)

    def run_probed(self, name, limits):
        self.cluster.create(probed_pod(name, limits))
        self.await_running(name)

    def test_a_probe_takes_cpu_away_for_a_moment(self):
        self.start_agent()
        self.run_probed("free", {})
        self.run_probed("limited", {"cpu": "200m"})

        # The right to patch pods is not enough to slow them down.
        annotate_probe(self.cluster, "free", {"cpu": "50m", "until": "2100-01-01T00:00:00Z"}, manager="somebody")
        probe(self.cluster, "free", "75m", 110)
        self.await_quota("free", 7501)
        self.assertIn("at most 75m of CPU",
                      wait_for("the event", lambda: self.events("free", "SynergyProbed"), PATIENCE)[0])
        wait_for("the pod to be held back", lambda: self.throttled("free") > 2, PATIENCE)
        # This probe replaces the first one, and ends by itself. The first one was in force until
        # now; otherwise the agent would count it as wiped.
        probe(self.cluster, "free", "70m", BRIEF)
        self.await_probes("done", 1)
        self.await_probes("ended_early", 1)
        self.assertEqual(self.quota("free"), -1)

        # The kernel refuses a quota for a pod that is below its container's.
        self.assertEqual((self.quota("limited"), self.quota("limited", True)), (20000, 20000))
        probe(self.cluster, "limited", "100m", 110)
        self.await_quota("limited", 10001, True)
        self.assertEqual(self.quota("limited"), 20000)
        # This would be a second probe on the node.
        probe(self.cluster, "free", "75m", 110)
        self.await_probes("refused", 1)
        # On a resize the kubelet writes its own values.
        resize_pod(self.cluster, "limited", {"limits": {"cpu": "300m"}})
        self.await_quota("limited", 30000, True)
        probe(self.cluster, "limited", "50m", 0)
        self.await_probes("wiped", 1)
        self.assertEqual((self.quota("limited"), self.quota("limited", True)), (30000, 30000))

        # During this burst the limit grows to the same amount: what the kubelet writes stays.
        probe(self.cluster, "limited", "500m", 110, burst=True)
        self.await_quota("limited", 50001, True)
        self.assertEqual(self.quota("limited"), 50001)
        resize_pod(self.cluster, "limited", {"limits": {"cpu": "500m"}})
        self.await_quota("limited", 50000, True)
        probe(self.cluster, "limited", "500m", 0, burst=True)
        self.await_probes("wiped", 2)
        self.assertEqual((self.quota("limited"), self.quota("limited", True)), (50000, 50000))
        # This burst ends by itself.
        probe(self.cluster, "limited", "700m", BRIEF, burst=True)
        self.await_probes("done", 2)
        self.assertEqual((self.quota("limited"), self.quota("limited", True)), (50000, 50000))
        for pod in ("free", "limited"):
            self.assertEqual(self.container(pod)["restartCount"], 0)

    def test_no_probe_outlasts_an_agent_that_dies(self):
        self.addCleanup(lambda: self.agent.process.poll() is None and self.agent.process.kill())
        self.agent.start()
        self.run_probed("probed", {})

        def begin(cpu):
            probe(self.cluster, "probed", f"{cpu}m", 110)
            self.await_quota("probed", cpu * 100 + 1)
        begin(50)
        os.kill(self.agent.child(), signal.SIGKILL)
        self.assertEqual(self.agent.process.wait(PATIENCE), 128 + signal.SIGKILL)
        self.assertEqual(self.quota("probed"), -1)

        self.agent.start()
        self.assertEqual(self.quota("probed"), -1,
                         "an agent does not resume a probe that its predecessor may have died of")
        # On a fast machine this probe begins in the same second as the last one, but differs from
        # it.
        begin(60)
        os.kill(self.agent.child(), signal.SIGSTOP)
        self.agent.process.send_signal(signal.SIGTERM)
        self.await_quota("probed", -1)
        self.assertEqual(self.agent.process.wait(PATIENCE), 128 + signal.SIGKILL)

        self.agent.start()
        begin(70)
        child = self.agent.child()
        self.agent.process.kill()
        self.agent.process.wait()
        wait_for("the agent to go with its guardian", lambda: not pathlib.Path(f"/proc/{child}").exists())
        self.assertEqual(self.quota("probed"), 7001)
        self.start_agent()
        self.await_quota("probed", -1)
        self.assertEqual(self.container("probed")["restartCount"], 0)

    @contextlib.contextmanager
    def no_api_server(self):
        """Freezes the API server, as if it were unreachable, and resumes it without delay."""
        record = self.cluster.state / "pids/kube-apiserver"
        process = int(record.read_text(encoding="utf-8").split()[0])
        os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(process, signal.SIGCONT)

    def test_a_probe_ends_in_time_while_the_api_server_is_gone(self):
        self.start_agent()
        self.run_probed("probed", {})
        file = self.cpu_file("probed", "cpu.cfs_quota_us")
        probe(self.cluster, "probed", "50m", BRIEF)
        wait_for("the quota", lambda: int(file.read_text(encoding="utf-8")) == 5001)
        with self.no_api_server():
            wait_for("the quota to be gone", lambda: int(file.read_text(encoding="utf-8")) == -1)
        self.await_probes("done", 1)
        self.assertEqual(self.container("probed")["restartCount"], 0)

    @tiers.long
    def test_no_process_is_killed_that_grows_as_fast_as_the_kernel_can(self):
        """Up to 500 MiB of anonymous memory come and go in bursts, beside page cache that fills the
        limit. Limits change at random, but never below what the process needs, and the agent is
        killed."""
        chance = random.Random(SEED)
        names = ("first", "second")
        for name in names:
            breathing = trainer_pod(name, "900Mi")
            breathing["spec"]["containers"][0]["args"] = [
                "--breathing-memory", "500Mi", "--data-set-size", "800Mi", "--read-per-iteration", "4Mi",
                "--storage-bandwidth", "400M", "--cpu-per-iteration", "1", "--gpu-step", "20"]
            self.cluster.create(breathing)
        for name in names:
            self.await_cache(name, 600 * MIB)
        self.start_agent()
        begin = time.monotonic()
        kills = [SECONDS * part for part in (0.15, 0.35, 0.7)]
        while time.monotonic() - begin < SECONDS:
            self.resize(chance.choice(names), f"{chance.randrange(700, 1200)}Mi")
            if kills and time.monotonic() - begin > kills[0]:
                kills.pop(0)
                self.agent.process.kill()
                self.agent.process.wait()
                self.agent.start()
            time.sleep(chance.uniform(0.5, 2))
        # The second limit is below the page cache, so the agent has to release some of it.
        for limit in ("1400Mi", "700Mi"):
            for name in names:
                self.resize(name, limit)
            for name in names:
                self.await_limit(name, limit)
                if limit == "1400Mi":
                    self.await_cache(name, 750 * MIB)
        for name in names:
            touched = [int(n) for n in re.findall(r" touched=(\d+)", self.cluster.kubectl("logs", name, "--tail=30"))]
            print(f"{name}: anonymous memory grew by {max(b - a for a, b in zip(touched, touched[1:])) / MIB:.0f} MiB "
                  "in the busiest second")
            self.assertEqual(self.container(name)["restartCount"], 0)
            self.assertIn("running", self.container(name)["state"])
            wait_for(f"page cache of {name} to have been released",
                     lambda name=name: self.events(name, "SynergyMemoryReleased"))
        print(f"seed {SEED}: {SECONDS} s, the agent was killed {3 - len(kills)} times")


if __name__ == "__main__":
    failures.main()
