"""Memory on a real kubelet with control groups v2 and systemd: page cache is limited to shares, and
no process suffers.

This is a test of the long tier. v2_node_test.py runs it on its node, or it runs alone. The node
agent runs in its DaemonSet. SYNERGY_MEMORY_SECONDS is the length of the random part.
"""

import json
import os
import random
import re
import time
import unittest

import failures
import tiers
import v2_node
from cluster import Cluster, wait_for
from node_agent_test import MIB
from v2_node import AGENTS_GPU, NODE, PATIENCE, container_group, on_node

SECONDS = int(os.environ.get("SYNERGY_MEMORY_SECONDS", "45"))
SEED = int(os.environ.get("SYNERGY_TEST_SEED", "1"))
AGENT = "synergy-node-ag"  # the kernel truncates the process name to this


def amounts(memory):
    return json.dumps({"cpu": "100m", "memory": memory})


def managed_pod(name, memory, *flags, enforcement="shared", floor="64Mi"):
    """Returns a pod that the webhook has admitted and our scheduler has bound. It has a GPU of the
    resource that the agent's configuration names; a kubelet ignores resources for which no device
    plugin has registered."""
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "annotations": {
            "synergy.io/container": "train", "synergy.io/enforcement": enforcement, "synergy.io/profile": "any",
            "synergy.io/demand": amounts(memory), "synergy.io/floor": amounts(floor)}},
        "spec": {
            "restartPolicy": "Always", "terminationGracePeriodSeconds": 0, "schedulerName": "synergy-scheduler",
            "nodeName": NODE,
            "containers": [{
                "name": "train", "image": "synergy.test/trainer:1", "imagePullPolicy": "Never",
                "args": ["--workers", "1", "--cpu-per-iteration", "1", "--gpu-step", "20", *flags],
                # On an emulated machine the kubelet needs some CPU, too.
                "resources": {"requests": {"cpu": "100m", "memory": memory, AGENTS_GPU: "1"},
                              "limits": {"cpu": "400m", AGENTS_GPU: "1"}},
                "resizePolicy": [{"resourceName": r, "restartPolicy": "NotRequired"} for r in ("cpu", "memory")],
            }],
        },
    }


@tiers.long
class MemoryTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()

    def setUp(self):
        self.cluster.clear()

    def get(self, name):
        return self.cluster.get("pod", name)

    def run_pods(self, *made):
        self.cluster.create(*made)
        for item in made:
            name = item["metadata"]["name"]
            wait_for(f"{name} to be ready", lambda name=name: v2_node.is_ready(self.get(name)), PATIENCE)
        return [container_group(self.get(item["metadata"]["name"])) for item in made]

    def read(self, group, *files):
        paths = " ".join(f"/sys/fs/cgroup/{group}/{file}" for file in files)
        return on_node(self.cluster, f"cat {paths}")

    def look(self, group):
        """Returns the kernel's figures of a group: its usage, memory.stat, memory.events and
        memory.pressure."""
        text = self.read(group, "memory.current", "memory.stat", "memory.events", "memory.pressure")
        found = {"usage": int(text.split("\n", 1)[0])}
        found.update((name, int(value)) for name, value in re.findall(r"^(\w+) (\d+)$", text, re.M))
        found["stalled"] = int(re.search(r"^some .*total=(\d+)", text, re.M).group(1)) / 1e6
        return found

    def resize(self, name, memory):
        self.cluster.kubectl("patch", "pod", name, "--subresource", "resize", "-p", json.dumps(
            {"spec": {"containers": [{"name": "train", "resources": {"requests": {"memory": memory}}}]}}))

    def reading(self, name):
        text = self.get(name)["metadata"]["annotations"].get("synergy.io/memory-in-use")
        return text and json.loads(text)

    def kill_agent(self):
        on_node(self.cluster, f"pkill --signal KILL {AGENT} || true")

    def send_agent_to(self, selected):
        """Restricts the agent to nodes with that value of a label, which no node has; None ends the
        restriction."""
        self.cluster.kubectl("--namespace", v2_node.helm.NAMESPACE, "patch", "daemonset", "synergy-node-agent", "-p",
                             json.dumps({"spec": {"template": {"spec": {"nodeSelector": {"nobody": selected}}}}}))

    def stays_below(self, group, limit, looks=10):
        """Waits until the group's usage is below the limit; returns the highest usage in the next
        `looks` seconds."""
        wait_for(f"{group} to come down to {limit >> 20} MiB", lambda: self.look(group)["usage"] < limit, PATIENCE)
        most = 0
        for _ in range(looks):
            most = max(most, self.look(group)["usage"])
            time.sleep(1)
        return most

    def test_cache_is_kept_to_the_share_and_nothing_else_is_touched(self):
        # The trainer has 60 MiB of its own and 400 MiB of data.
        pod = managed_pod("strict", "160Mi", "--model-memory", "60Mi", "--data-set-size", "400Mi",
                          "--read-per-iteration", "1Mi", "--storage-bandwidth", "200M", enforcement="strict")
        group, = self.run_pods(pod)
        most = self.stays_below(group, 200 * MIB)
        before = self.look(group)
        print(f"share 160 MiB: at most {most / MIB:.0f} MiB in 10 s; {before['stalled']:.3f} s waited for memory")
        self.assertLess(most, 260 * MIB)
        self.assertGreater(before["anon"], 60 * MIB)

        # The pod fills a larger share and comes down to a smaller one; in both cases the kubelet
        # touches no control group.
        self.resize("strict", "450Mi")
        wait_for("the larger share to fill", lambda: self.look(group)["usage"] > 360 * MIB, PATIENCE)
        self.resize("strict", "160Mi")
        started = time.monotonic()
        self.stays_below(group, 200 * MIB, looks=0)
        after = self.look(group)
        print(f"from 450 to 160 MiB in {time.monotonic() - started:.1f} s; "
              f"{after['stalled'] - before['stalled']:.3f} s waited for memory meanwhile")
        self.assertGreaterEqual(after["anon"], before["anon"] - MIB)
        self.assertEqual((after["oom_kill"], after["max"], after["high"]), (0, 0, 0))
        self.assertEqual(after.get("workingset_refault_anon", 0), 0)
        # No limit is left that would outlast the agent.
        self.assertEqual(self.read(group, "memory.high", "memory.max", "memory.low").split(), ["max", "max", "0"])

    def test_unneeded_memory_stays_with_readers(self):
        group, = self.run_pods(managed_pod("reader", "160Mi", "--data-set-size", "400Mi",
                                           "--storage-bandwidth", "200M"))
        wait_for("the data set to be cached", lambda: self.look(group)["usage"] > 380 * MIB, PATIENCE)
        # Now a pod starts whose share does not fit beside the cache.
        free = int(on_node(self.cluster, "awk '/^MemFree/ {print $2}' /proc/meminfo")) * 1024
        self.create_idle(f"{free // MIB + 100}Mi")
        self.stays_below(group, 340 * MIB, looks=0)

    def create_idle(self, memory):
        self.run_pods(managed_pod("idle", memory))

    def test_the_pod_reports_its_memory_in_use(self):
        self.run_pods(managed_pod("told", "900Mi", "--model-memory", "200Mi", "--data-set-size", "300Mi",
                                  "--storage-bandwidth", "200M"))

        def shown():
            reading = self.reading("told")
            return reading and reading["memory"]
        wait_for("a reading", shown)
        in_use = wait_for("the model's memory in it", lambda: self.bytes(shown()) > 200 * MIB and self.bytes(shown()),
                          PATIENCE)
        self.assertLess(in_use, 300 * MIB)
        # The pod's status carries the figure: the spec's generation has not changed.
        self.assertEqual(self.get("told")["metadata"]["generation"], 1)
        fields = self.cluster.get("pod", "told")["metadata"]["managedFields"]
        managers = [m["manager"] for m in fields if "memory-in-use" in json.dumps(m)]
        self.assertEqual(managers, ["synergy-node-agent"])

    @staticmethod
    def bytes(text):
        number, unit = re.fullmatch(r"(\d+)([KMG]i|)", text).groups()
        return int(number) << {"": 0, "Ki": 10, "Mi": 20, "Gi": 30}[unit]

    def speed(self, name, since):
        """Returns iterations per second since that time, by the trainer's output."""
        found = re.findall(r"^time=([\d.]+) iterations=(\d+) .* touched=(\d+)", self.cluster.kubectl("logs", name),
                           re.M)
        samples = [(float(at), int(count), int(touched)) for at, count, touched in found if float(at) >= since]
        seconds = samples[-1][0] - samples[0][0]
        return (samples[-1][1] - samples[0][1]) / seconds, (samples[-1][2] - samples[0][2]) / seconds / MIB

    def now(self):
        return float(on_node(self.cluster, "date +%s.%N"))

    def print_speeds_without_the_agent(self, names, chance):
        """Prints the speeds for comparison. Asserts nothing, because other load on this machine
        changes them."""
        self.send_agent_to("has-this")
        self.addCleanup(wait_for, "the agent to be back", lambda: v2_node.daemons_are_ready(self.cluster), PATIENCE)
        self.addCleanup(self.send_agent_to, None)
        self.addCleanup(self.cluster.clear)  # first, because the agent starts slowly beside them
        wait_for("the agent to be gone", lambda: "node-agent" not in v2_node.daemon_pods(self.cluster), PATIENCE)
        started, begin = self.now(), time.monotonic()
        while time.monotonic() - begin < SECONDS / 3:
            self.resize(chance.choice(names), f"{chance.randrange(120, 500)}Mi")
            time.sleep(chance.uniform(0.5, 2))
        for name in names:
            speed, growth = self.speed(name, started)
            print(f"{name}, without the agent: {speed:.1f} iterations a second; anonymous memory grew by "
                  f"{growth:.0f} MiB a second")

    def test_random_changes_kill_and_stall_no_pod(self):
        """Grows and shrinks anonymous memory at random while shares change and the agent is
        killed."""
        chance = random.Random(SEED)
        groups = self.run_pods(
            managed_pod("breathing", "300Mi", "--breathing-memory", "350Mi", enforcement="strict"),
            managed_pod("reading", "200Mi", "--model-memory", "40Mi", "--breathing-memory", "100Mi",
                        "--data-set-size", "500Mi", "--storage-bandwidth", "200M", enforcement="strict"))
        names = ("breathing", "reading")
        before = {name: self.look(group) for name, group in zip(names, groups)}
        started, begin = self.now(), time.monotonic()
        # The delay before a container restarts grows with each exit.
        kills = [SECONDS * part for part in (0.15, 0.35, 0.7)]
        while time.monotonic() - begin < SECONDS:
            name = chance.choice(names)
            self.resize(name, f"{chance.randrange(120, 500)}Mi")
            if kills and time.monotonic() - begin > kills[0]:
                self.kill_agent()
                kills.pop(0)
            time.sleep(chance.uniform(0.5, 2))
        after = {name: self.look(group) for name, group in zip(names, groups)}
        speeds = {name: self.speed(name, started) for name in names}

        for name in names:
            stalled = (after[name]["stalled"] - before[name]["stalled"]) / SECONDS
            print(f"{name}: {speeds[name][0]:.1f} iterations a second; anonymous memory grew by "
                  f"{speeds[name][1]:.0f} MiB a second; "
                  f"waited for memory {stalled:.2%} of the time")
        if SECONDS >= 300:
            self.print_speeds_without_the_agent(names, chance)
        print(f"seed {SEED}: {SECONDS} s, the agent was killed three times")

        for name, group in zip(names, groups):
            status = self.get(name)["status"]
            self.assertEqual(status["phase"], "Running")
            self.assertEqual(status["containerStatuses"][0]["restartCount"], 0, name)
            self.assertEqual(container_group(self.get(name)), group)
            self.assertEqual((after[name]["oom_kill"], after[name]["max"]), (0, 0), name)
            self.assertEqual(self.read(group, "memory.high").strip(), "max")
        evicted = [e["message"]
                   for e in self.cluster.get("events", namespace=None)["items"] if e["reason"] == "Evicted"]
        self.assertEqual(evicted, [])
        pressure = v2_node.conditions(self.cluster.get("node", NODE))["MemoryPressure"]["status"]
        self.assertEqual(pressure, "False")


if __name__ == "__main__":
    with v2_node.v2_cluster():
        failures.main()
