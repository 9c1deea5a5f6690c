"""Tests a real kubelet on control groups v2 with systemd, set up as kubeadm would: a QEMU machine
in a cluster of its own.

The node agent runs in its DaemonSet, as the chart defines it. Every run boots the node once and
runs CoreTest, which checks on one pod what only such a node can show. The long tier adds the device
plugin and the tests of memory. Times are printed, not asserted: without KVM the machine is slow.
"""

import json
import re
import time
import unittest

import failures
import tiers
import v2_node
from cluster import GPU, Cluster, Extender, pod, wait_for
from memory_test import MemoryTest, managed_pod  # noqa: F401
from node_agent_test import MIB, probe, probed_pod, resize_pod, trainer_pod
from trainers import milli, milli_cpu
from v2_node import AGENTS_GPU, GPUS, LABEL, NODE, PATIENCE, container_group, on_node, pod_group


def sleeper(name, requests, limits=None, **spec):
    made = pod(name, 0, scheduler="default-scheduler", nodeSelector=LABEL, **spec)
    container = made["spec"]["containers"][0]
    container["command"] = ["sh", "-c", "echo devices=$NVIDIA_VISIBLE_DEVICES; exec sleep 1000000"]
    container["resources"] = {"requests": requests, "limits": limits or {}}
    return made


def managed_sleeper(name):
    """Returns an idle pod whose memory is limited to its share, its request."""
    made = managed_pod(name, "64Mi", enforcement="strict")
    container = made["spec"]["containers"][0]
    container.update(image="synergy.test/busybox:1", command=["sleep", "1000000"], args=[])
    container["resources"] = {"requests": {"cpu": "200m", "memory": "64Mi", AGENTS_GPU: "1"},
                              "limits": {"cpu": "400m", "memory": "512Mi", AGENTS_GPU: "1"}}
    return made


class V2Test(unittest.TestCase):
    """A test on the v2 node."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()

    def get(self, name):
        return self.cluster.get("pod", name)

    def run_pods(self, *made):
        started = time.monotonic()
        self.cluster.create(*made)
        for item in made:
            name = item["metadata"]["name"]
            wait_for(f"{name} to be ready", lambda name=name: v2_node.is_ready(self.get(name)), PATIENCE)
        print(f"{len(made)} pods are ready {time.monotonic() - started:.1f} s after their creation")

    def resize(self, name, requests, limits=None):
        amounts = {"requests": requests, **({"limits": limits} if limits else {})}
        resize_pod(self.cluster, name, amounts)
        started = time.monotonic()

        def in_force():
            found = self.get(name)
            status = found["status"]["containerStatuses"][0].get("resources", {})
            return all(status.get(kind, {}).get(key) == value for kind, want in amounts.items()
                       for key, value in want.items())
        wait_for(f"the resize of {name}", in_force, PATIENCE)
        print(f"{name}: {amounts} in force {time.monotonic() - started:.1f} s after the patch")

    def identity(self, name):
        status = self.get(name)["status"]["containerStatuses"][0]
        return status["containerID"], status["restartCount"]

    def read(self, group, *files):
        """Returns the contents of these files of a control group, concatenated."""
        return on_node(self.cluster, "cat " + " ".join(f"/sys/fs/cgroup/{group}/{file}" for file in files)).strip()

    def await_cpu_max(self, group, wanted):
        wait_for(f"the quota \"{wanted}\"", lambda: self.read(group, "cpu.max") == wanted, PATIENCE)


class CoreTest(V2Test):
    """Uses one pod for all tests; each leaves its size unchanged."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls().run_pods(managed_sleeper("core"))

    def setUp(self):
        found = self.get("core")
        self.pod_group, self.container_group = pod_group(found), container_group(found)
        before = self.identity("core")
        self.addCleanup(lambda: self.assertEqual(self.identity("core"), before, "the container has to go on"))

    def test_the_node_is_as_kubeadm_sets_one_up(self):
        node = self.cluster.get("node", NODE)
        self.assertTrue(v2_node.is_ready(node))
        self.assertEqual(node["metadata"]["labels"]["synergy.test/node"], "v2")
        config = json.loads(self.cluster.kubectl("get", "--raw", f"/api/v1/nodes/{NODE}/proxy/configz"))[
            "kubeletconfig"]
        self.assertEqual((config["cgroupDriver"], config["cgroupsPerQOS"]), ("systemd", True))
        self.assertEqual(on_node(self.cluster, "cat /proc/1/comm; stat --file-system --format %T /sys/fs/cgroup; "
                                               "systemctl is-active kubelet containerd").split(),
                         ["systemd", "cgroup2fs", "active", "active"])
        self.assertRegex(self.read("kubepods.slice", "memory.pressure"), r"^some avg10=.* total=\d+\nfull ")

    def test_a_cpu_resize_is_in_force_in_the_groups_of_systemd(self):
        self.assertEqual(self.read(self.container_group, "cpu.max"), "40000 100000")
        self.resize("core", {"cpu": "500m"}, {"cpu": "900m"})
        for group, weight in ((self.container_group, 59), (self.pod_group, 20)):
            self.assertEqual(self.read(group, "cpu.max", "cpu.weight"), f"90000 100000\n{weight}", group)
        # systemd knows the change, so that reloading its units keeps it.
        on_node(self.cluster, "systemctl daemon-reload")
        self.assertEqual(self.read(self.container_group, "cpu.max"), "90000 100000")
        self.assertEqual(self.cluster.kubectl("exec", "core", "--", "cat", "/sys/fs/cgroup/cpu.max").strip(),
                         "90000 100000")
        self.resize("core", {"cpu": "200m"}, {"cpu": "400m"})

    def test_a_resize_of_the_memory_request_touches_no_control_group(self):
        groups = v2_node.settings(self.cluster, self.pod_group)
        for memory in ("256Mi", "64Mi"):
            self.resize("core", {"memory": memory})
            self.assertEqual(v2_node.settings(self.cluster, self.pod_group), groups)

    def test_a_probe_takes_cpu_away_and_gives_it_back(self):
        ended = v2_node.probes(self.cluster, "ended_early")
        self.await_cpu_max(self.pod_group, "40000 100000")
        probe(self.cluster, "core", "75m", 110)
        self.await_cpu_max(self.pod_group, "7501 100000")
        probe(self.cluster, "core", "75m", 0)
        self.await_cpu_max(self.pod_group, "40000 100000")
        self.assertEqual(v2_node.probes(self.cluster, "ended_early"), ended + 1)

    def test_a_burst_gives_cpu_and_takes_it_back(self):
        probe(self.cluster, "core", "600m", 110, burst=True)
        for group in (self.container_group, self.pod_group):
            self.await_cpu_max(group, "60001 100000")
        probe(self.cluster, "core", "600m", 0, burst=True)
        for group in (self.container_group, self.pod_group):
            self.await_cpu_max(group, "40000 100000")

    def test_page_cache_is_kept_to_the_share(self):
        def dropped():
            return v2_node.agent_metric(self.cluster, "synergy_node_agent_cache_dropped_bytes_total")
        before = dropped()
        # The file is sparse: reading it fills the page cache and takes no disk space. What is read
        # during a release counts as not dropped.
        self.cluster.kubectl("exec", "core", "--", "sh",
                             "-c", "dd of=/tmp/data bs=1M seek=200 count=0 && cat /tmp/data >/dev/null")
        wait_for("the cache above the share to be dropped",
                 lambda: dropped() > before + 50 * MIB
                 and int(self.read(self.container_group, "memory.current")) < 100 * MIB, PATIENCE)
        # The agent sets no limit: a limit would outlast the agent, and a growing process would hit
        # it.
        self.assertEqual(self.read(self.container_group, "memory.max", "memory.high", "memory.low").split(),
                         [str(512 * MIB), "max", "0"])
        events = dict(re.findall(r"(\w+) (\d+)", self.read(self.container_group, "memory.events")))
        self.assertEqual((events["high"], events["max"], events["oom_kill"]), ("0", "0", "0"))

    def test_reads_from_a_disk_and_waits_for_it_are_measured(self):
        disk, size = "vda", 40 * MIB

        def shown():
            page = v2_node.metrics(self.cluster, "node-agent", 9411)
            lines = (rf'synergy_pod_storage_read_bytes_total{{.*pod="core".*device="{disk}".*}}',
                     rf'synergy_node_agent_storage_wait_seconds_total{{device="{disk}"}}')
            found = (re.search(rf"^{line} (\S+)$", page, re.M) for line in lines)
            return [float(value.group(1)) if value else 0 for value in found]
        read, waited = shown()
        self.cluster.kubectl("exec", "core", "--", "sh", "-c", "dd if=/dev/zero of=/tmp/cold bs=1M count=40 && sync")
        limit = f"/sys/fs/cgroup/{self.container_group}/io.max"
        number = on_node(self.cluster, f"echo 3 >/proc/sys/vm/drop_caches && cat /sys/block/{disk}/dev").strip()
        on_node(self.cluster, f"echo {number} rbps={10 * MIB} >{limit}")
        self.addCleanup(on_node, self.cluster, f"echo {number} rbps=max >{limit}")
        self.cluster.kubectl("exec", "core", "--", "sh", "-c", "cat /tmp/cold >/dev/null && rm /tmp/cold")
        now = wait_for("the reads to be counted", lambda: (now := shown())[0] >= read + size and now, PATIENCE)
        print(f"{disk}: {(now[0] - read) / MIB:.1f} MiB read, {now[1] - waited:.1f} s waited")
        self.assertLess(now[0], read + 1.5 * size, "the reads count once")
        self.assertGreater(now[1], waited)


@tiers.long
class V2NodeTest(V2Test):
    def setUp(self):
        self.cluster.clear()

    def test_the_machine_reaches_the_api_server_and_nothing_else(self):
        etcd = 16479 + 100 * v2_node.INSTANCE

        def connects(address, port):
            return on_node(self.cluster, f"timeout 10 bash -c '</dev/tcp/{address}/{port}' 2>/dev/null && "
                           "echo yes || echo no").strip()
        self.assertEqual(connects("10.96.0.1", 443), "yes")
        # The host's address in QEMU's network.
        self.assertEqual(connects("10.96.0.2", etcd), "no")

    def test_a_pod_goes_on_while_the_kubelet_restarts(self):
        self.run_pods(sleeper("long", {"cpu": "10m"}))
        before = self.identity("long")
        on_node(self.cluster, "systemctl kill --signal KILL kubelet")
        self.run_pods(sleeper("next", {"cpu": "10m"}))
        self.assertEqual(self.identity("long"), before)

    def test_a_power_cut(self):
        self.run_pods(sleeper("back", {"cpu": "10m"}, restartPolicy="Always"))
        # Otherwise files that the network plugin wrote in the last half minute would be empty after
        # the boot (docs/internals/test-cluster.md).
        on_node(self.cluster, "sync")
        boot = self.cluster.get("node", NODE)["status"]["nodeInfo"]["bootID"]
        started = time.monotonic()
        self.cluster.script("restart", NODE, "KILL")
        wait_for("the node to be back",
                 lambda: self.cluster.get("node", NODE)["status"]["nodeInfo"]["bootID"] != boot
                 and v2_node.node_is_ready(self.cluster), PATIENCE)
        print(f"the node is ready {time.monotonic() - started:.1f} s after the power came back")
        wait_for("its pod to run again", lambda: self.identity("back")[1] == 1 and v2_node.is_ready(self.get("back")),
                 PATIENCE)
        self.run_pods(sleeper("next", {"cpu": "10m"}))

    def usage(self, name):
        return int(self.read(container_group(self.get(name)), "memory.current"))

    def await_cache(self, name):
        wait_for(f"the page cache of {name} to fill", lambda: self.usage(name) > 150 * MIB, PATIENCE)

    def await_limit(self, name, limit):
        wait_for(f"the memory limit of {name}",
                 lambda: self.read(container_group(self.get(name)), "memory.max") == str(limit), PATIENCE)

    def test_the_node_agent_gives_page_cache_back_and_goes_on_after_a_kill(self):
        made = trainer_pod("cached", "200Mi")
        made["spec"]["nodeSelector"] = LABEL
        self.run_pods(made)
        before = self.identity("cached")
        for kill in (False, True):
            self.await_cache("cached")
            self.resize_without_waiting("cached", "100Mi")
            if kill:
                on_node(self.cluster, "pkill --signal KILL synergy-node-ag")
            started = time.monotonic()
            wait_for("the memory to be free", lambda: self.usage("cached") < 100 * MIB, PATIENCE)
            free = time.monotonic() - started
            self.await_limit("cached", 100 * MIB)
            print(f"free after {free:.1f} s, limit in force after {time.monotonic() - started:.1f} s, "
                  f"agent killed: {kill}")
            self.resize_without_waiting("cached", "200Mi")
            self.await_limit("cached", 200 * MIB)
        self.assertEqual(self.identity("cached"), before)
        self.assertEqual(re.findall(r"oom_kill (\d+)", self.read(container_group(self.get("cached")), "memory.events")),
                         ["0"])

    def resize_without_waiting(self, name, memory):
        resize_pod(self.cluster, name, {"requests": {"memory": memory}, "limits": {"memory": memory}})

    def test_a_probe_is_over_in_time_and_whatever_dies(self):
        made = probed_pod("probed", {})
        made["spec"]["nodeSelector"] = LABEL
        self.run_pods(made)
        before, group = self.identity("probed"), pod_group(self.get("probed"))
        free = "max 100000"
        self.assertEqual(self.read(group, "cpu.max"), free)
        done, wiped = (v2_node.probes(self.cluster, outcome) for outcome in ("done", "wiped"))
        probe(self.cluster, "probed", "75m", 60)
        self.await_cpu_max(group, "7501 100000")
        # The probe's quota was in force until its end; otherwise the agent would count the probe as
        # wiped.
        wait_for("it to be over", lambda: v2_node.probes(self.cluster, "done") == done + 1, PATIENCE)
        self.assertEqual(self.read(group, "cpu.max"), free)

        # On a resize systemd writes its own values of the group, without the probe.
        probe(self.cluster, "probed", "75m", 110)
        self.await_cpu_max(group, "7501 100000")
        self.resize("probed", {"cpu": "150m"})
        self.await_cpu_max(group, free)
        probe(self.cluster, "probed", "75m", 0)
        wait_for("the agent to report it", lambda: v2_node.probes(self.cluster, "wiped") == wiped + 1, PATIENCE)
        self.assertEqual(self.read(group, "cpu.max"), free)

        # First the child dies, and the guardian removes the quota. Then both die, and the next
        # container reads the record. The two probes differ, because an agent does not resume a
        # probe that may have killed its predecessor.
        for which, cpu, log in (("child", 50, ["--previous"]), ("guardian", 60, [])):
            restarts = v2_node.agent_restarts(self.cluster)
            probe(self.cluster, "probed", f"{cpu}m", 110)
            self.await_cpu_max(group, f"{cpu}01 100000")
            v2_node.kill_agent(self.cluster, which)
            started = time.monotonic()
            self.await_cpu_max(group, free)
            print(f"the quota is gone {time.monotonic() - started:.1f} s after the {which} was killed")
            wait_for("the agent to come back", lambda r=restarts: v2_node.agent_restarts(self.cluster) > r
                     and v2_node.daemons_are_ready(self.cluster), PATIENCE)
            self.assertIn("a temporary CPU quota is removed", v2_node.agent_log(self.cluster, *log))
            self.assertEqual(self.read(group, "cpu.max"), free)
        self.assertEqual(self.identity("probed"), before)

    def test_memory_and_reads_are_reported_if_they_can_be_seen(self):
        """Compares each figure with what the trainer did. The machine is slow, so the data set is
        small. To the trainer, the disk is real."""
        v2_node.install_agent(self.cluster, seeReads=True)
        self.addCleanup(v2_node.install_agent, self.cluster)
        # first, because the other agent starts slowly beside it
        self.addCleanup(self.cluster.clear)
        model, data = 32 * MIB, 64 * MIB
        self.run_pods(managed_pod("reader", "200Mi", "--lines", "10", "--port", "8000", "--real-data",
                                  "--data-set-size", str(data),
                                  "--model-memory", str(model), "--storage-bandwidth", "1G"))
        reader = self.get("reader")
        # The trainer writes its data set first.
        wait_for("it to train", lambda: "iterations=" in self.cluster.kubectl("logs", "reader"), PATIENCE)

        def own():
            page = v2_node.page(self.cluster, reader, 8000)
            return {name: float(re.search(rf"^synergy_trainer_{name} (.*)$", page, re.M).group(1))
                    for name in ("read_bytes_total", "missed_bytes_total", "missed_seconds_total")}

        def shown():
            page = v2_node.metrics(self.cluster, "node-agent", 9411)
            found = {name: re.search(rf'^synergy_pod_{name}{{.*pod="reader".*}} (.*)$', page, re.M) for name in (
                "process_memory_bytes", "page_cache_bytes", "read_bytes_total", "fetched_bytes_total",
                "storage_wait_seconds_total")}
            return {name: float(value.group(1)) for name, value in found.items() if value}

        # Samples are drawn with replacement: once 4 times the data set are drawn, all but 2 % of it
        # have been read.
        trainer = wait_for("the data to be read", lambda: (now := own())["read_bytes_total"] > 4 * data and now,
                           PATIENCE)
        seen = wait_for("the agent to report that", lambda: (now := shown()).get("read_bytes_total", 0)
                        >= trainer["read_bytes_total"] and now, PATIENCE)
        after = own()
        print("reported:",
              {name: round(value / MIB, 1) if "bytes" in name else round(value, 2) for name, value in seen.items()},
              "by the trainer itself:",
              {name: round(value / MIB, 1) if "bytes" in name else round(value, 2) for name, value in after.items()})
        # The trainer counts a sample with one uncached page as missed as a whole.
        self.assertLess(abs(seen["fetched_bytes_total"] - after["missed_bytes_total"]), 0.05 * data)
        self.assertLess(abs(seen["page_cache_bytes"] - data), 0.1 * data)
        self.assertLess(seen["read_bytes_total"], after["read_bytes_total"] + 4 * MIB)
        self.assertGreater(seen["process_memory_bytes"], model)
        self.assertLess(seen["process_memory_bytes"], model + 16 * MIB, "the cache is none of it")
        # The time is compared with the kernel's figure, which grows while misses continue. On an
        # emulated CPU, reading takes longer than the disk needs.
        waited = int(re.search(r"^some .*total=(\d+)", self.read(container_group(reader), "io.pressure"),
                               re.M).group(1)) / 1e6
        print(f"waited for storage by the kernel: {waited:.2f} s")
        self.assertGreater(seen["storage_wait_seconds_total"], 0.5 * waited)
        self.assertLessEqual(seen["storage_wait_seconds_total"], waited)
        self.assertLess(seen["storage_wait_seconds_total"], after["missed_seconds_total"] + 0.5)
        self.assertGreater(seen["storage_wait_seconds_total"], 0)

        # By now the trainer reads from the cache, so hardly any bytes come from the disk.
        more = wait_for("more to be read",
                        lambda: (now := shown())["read_bytes_total"] > seen["read_bytes_total"] and now, PATIENCE)
        self.assertLess(more["fetched_bytes_total"], seen["fetched_bytes_total"] + 0.05 * data)

    def devices(self, name):
        return re.search(r"devices=(\S+)", self.cluster.kubectl("logs", name)).group(1)

    def test_pods_get_gpus_before_and_after_a_restart_of_the_kubelet(self):
        wait_for("the GPUs", lambda: v2_node.allocatable_gpus(self.cluster) == GPUS, PATIENCE)
        self.run_pods(sleeper("one", {GPU: "1"}, {GPU: "1"}))
        before = v2_node.registrations(self.cluster)
        on_node(self.cluster, "systemctl restart kubelet")
        # Until the plugin registers again, the kubelet fails pods with GPUs
        # (UnexpectedAdmissionError), whatever the Node object says.
        wait_for("a new registration", lambda: v2_node.registrations(self.cluster) > before, PATIENCE)
        wait_for("the GPUs again", lambda: v2_node.allocatable_gpus(self.cluster) == GPUS, PATIENCE)
        self.run_pods(sleeper("two", {GPU: "1"}, {GPU: "1"}))
        self.assertEqual({self.devices("one"), self.devices("two")}, {"GPU-0", "GPU-1"})

    def start_synergy(self):
        self.cluster.script("start", "synergy-controller")
        self.addCleanup(self.cluster.script, "stop", "synergy-controller")
        extender = Extender(self.cluster)
        self.addCleanup(extender.log.close)
        extender.start()
        self.addCleanup(extender.end)

    def test_cpu_changes_hands_between_running_pods(self):
        self.start_synergy()
        wait_for("the GPUs", lambda: v2_node.allocatable_gpus(self.cluster) == GPUS, PATIENCE)
        self.cluster.create(gpu_pod("plain"))
        fair = milli(json.loads(wait_for("the webhook",
                                         lambda: self.get("plain")["metadata"].get("annotations", {}).get(
                                             "synergy.io/fair-share")))["cpu"])
        self.cluster.clear()
        demand = fair * 3 // 2
        self.cluster.create({
            "apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile", "metadata": {"name": "hungry"},
            "spec": {"points": [{"cpu": f"{cpu}m", "memory": "64Mi", "throughput": cpu}
                                for cpu in (fair // 2, fair, demand)]}})
        wait_for("the profile's status",
                 lambda: self.cluster.get("trainingprofile", "hungry").get("status", {}).get("speedUp"))
        self.run_pods(gpu_pod("hungry", "hungry"))
        self.assertEqual(milli_cpu(self.get("hungry")), demand)
        before = self.identity("hungry")
        self.assert_weight("hungry", demand)

        self.run_pods(gpu_pod("second"))
        self.assertEqual(milli_cpu(self.get("hungry")), fair)
        self.assert_weight("hungry", fair)
        self.cluster.kubectl("delete", "pod", "second")
        wait_for("the hungry pod to grow again", lambda: milli_cpu(self.get("hungry")) == demand, PATIENCE)
        wait_for("the kubelet to follow", lambda: milli_cpu(self.get("hungry"), "status") == demand, PATIENCE)
        self.assert_weight("hungry", demand)
        self.assertEqual(self.identity("hungry"), before)

    def assert_weight(self, name, cpu):
        found = self.get(name)
        self.assertEqual([self.read(group, "cpu.weight") for group in (pod_group(found), container_group(found))],
                         [str(v2_node.slice_weight(cpu)), str(v2_node.scope_weight(cpu))])


DATA = "/mnt/data"


def reader(name, script):
    """Returns a managed pod that reads from the node's slow disk and bypasses the page cache."""
    made = managed_sleeper(name)
    container = made["spec"]["containers"][0]
    container["command"] = ["sh", "-c", script]
    container["volumeMounts"] = [{"name": "data", "mountPath": DATA, "readOnly": True}]
    made["spec"]["volumes"] = [{"name": "data", "hostPath": {"path": DATA, "type": "Directory"}}]
    return made


@tiers.long
class StorageTest(V2Test):
    """A modest reader and a greedy one share a disk that QEMU throttles to 40 MB/s."""

    DISK = "vdc"
    MODEST = (f"i=0; while :; do dd if={DATA}/modest of=/dev/null bs=1M count=1 skip=$((i++ % 32)) iflag=direct "
              "status=none; usleep 60000; done")
    GREEDY = f"for i in 1 2 3 4 5 6 7 8; do (while :; do dd if={DATA}/hog of=/dev/null bs=1M iflag=direct; done) & " \
             "done; wait"

    def setUp(self):
        self.cluster.clear()
        on_node(self.cluster, f"mkdir -p {DATA} && (mountpoint -q {DATA} || mount /dev/{self.DISK} {DATA}) && "
                f"for name in modest hog; do dd if=/dev/zero of={DATA}/$name bs=1M count=32 status=none; done; sync")
        self.number = on_node(self.cluster, f"cat /sys/block/{self.DISK}/dev").strip()
        v2_node.install_agent(self.cluster, divideStorage=True)
        self.addCleanup(v2_node.install_agent, self.cluster)
        # first, because the other agent starts slowly beside them
        self.addCleanup(self.cluster.clear)

    def rates(self, *names, seconds):
        """Returns how many bytes each of the pods reads per second, by the node's counters and
        clock."""
        files = " ".join(f"/sys/fs/cgroup/{container_group(self.get(name))}/io.stat" for name in names)
        look = f"cut -d ' ' -f 1 /proc/uptime; for file in {files}; do grep '^{self.number} ' $file || echo; done"
        before, after = ([float(line) if at == 0 else float((re.findall(r"rbytes=(\d+)", line) or [0])[0])
                          for at, line in enumerate(text.splitlines())]
                         for text in on_node(self.cluster, f"{look}; sleep {seconds}; echo +; {look}").split("+\n"))
        return [(now - then) / (after[0] - before[0]) for then, now in zip(before[1:], after[1:])]

    def cap(self):
        """Returns the cap of the greedy reader in bytes per second; None if it has none."""
        found = re.search(rf"^{self.number} rbps=(\d+)", self.read(container_group(self.get("hog")), "io.max"), re.M)
        return found and int(found.group(1))

    def await_cap(self):
        return wait_for("the hog to be capped", self.cap, PATIENCE)

    def await_no_cap(self, why):
        started = time.monotonic()
        wait_for("the cap to go", lambda: self.cap() is None, PATIENCE)
        print(f"{why}: no cap after {time.monotonic() - started:.1f} s")

    def test_a_modest_reader_gets_what_it_needs_and_no_cap_outlasts_its_use(self):
        self.run_pods(reader("modest", self.MODEST))
        alone, = self.rates("modest", seconds=20)
        self.run_pods(reader("hog", self.GREEDY))
        before = self.rates("modest", "hog", seconds=20)
        self.assertIsNone(self.cap(), "a minute is not over")
        self.await_cap()
        event = wait_for("the event", lambda: [e for e in self.cluster.get("events")["items"]
                                               if e["reason"] == "SynergyStorageCap"], PATIENCE)[0]
        self.assertRegex(event["message"], r"^May read .* from disk vdc, because default/modest waits for it \d+ %")
        # In this time the agent looks twice, and the cap follows the modest reader's need.
        on_node(self.cluster, "sleep 20")
        after = self.rates("modest", "hog", seconds=60)
        figures = {"alone": [alone], "both": before, "capped": after}
        print({name: [round(rate / 1e6, 1) for rate in rates] for name, rates in figures.items()}, "MB/s")
        self.assertLess(before[0], 0.7 * alone, "the disk is short")
        self.assertGreaterEqual(after[0], 0.9 * alone)
        self.assertGreaterEqual(after[1], 0.8 * before[1])
        self.assertGreaterEqual(sum(after), 0.98 * sum(before))

        # Kills the agent, then the guardian, then both.
        for which in ("child", "guardian", "agent"):
            self.await_cap()
            restarts = v2_node.agent_restarts(self.cluster)
            v2_node.kill_agent(self.cluster, which)
            self.await_no_cap(f"killed the {which}")
            wait_for("the agent to come back", lambda r=restarts: v2_node.agent_restarts(self.cluster) > r
                     and v2_node.daemons_are_ready(self.cluster), PATIENCE)
        self.await_cap()
        self.cluster.kubectl("delete", "pod", "modest")
        self.await_no_cap("the modest reader is gone")


MAY, MAY_NOT = "No such device or address", "Operation not permitted"


@tiers.long
class DevicesTest(V2Test):
    """Whether a container keeps its devices when its control group changes depends on how it got
    them."""

    def setUp(self):
        self.cluster.clear()

    def opens(self, name, device):
        """Returns the kernel's answer when a process of the pod opens the device, which has no
        driver."""
        return wait_for("an answer", lambda: self.cluster.kubectl(
            "exec", name, "--", "sh", "-c", f"exec 2>&1; : <{device}", check=False).strip().rpartition(": ")[2],
                        PATIENCE)

    def await_reading(self, name, safety):
        reading = wait_for("the agent to write its reading",
                           lambda: self.get(name)["metadata"]["annotations"].get("synergy.io/devices"), PATIENCE)
        self.assertEqual(json.loads(reading)["safety"], safety, reading)

    def changes(self, name):
        """Makes several changes, one after the other. After each, systemd, runc or the kubelet
        writes to the container's control group."""
        amounts = {"cpu": "200m", "memory": "64Mi"}, {"cpu": "400m", "memory": "512Mi"}
        for kind, resource, value in ((0, "cpu", "300m"), (1, "cpu", "500m"), (0, "memory", "96Mi"),
                                      (1, "memory", "640Mi")):
            amounts[kind][resource] = value
            self.resize(name, dict(amounts[0]), dict(amounts[1]))
            yield f"a resize of {('requests', 'limits')[kind]}.{resource}"
        for command in ("daemon-reload", "restart kubelet", "restart containerd"):
            on_node(self.cluster, f"systemctl {command}")
            wait_for("the node to be ready", lambda: v2_node.node_is_ready(self.cluster), PATIENCE)
            yield command
        amounts[0]["cpu"] = "250m"
        self.resize(name, dict(amounts[0]), dict(amounts[1]))
        yield "the last resize"

    def run_own(self):
        """Runs a pod with a device that our plugin has put into the container's specification;
        returns its device nodes."""
        wait_for("the GPUs", lambda: v2_node.allocatable_gpus(self.cluster) == GPUS, PATIENCE)
        made = managed_sleeper("own")
        container = made["spec"]["containers"][0]
        container["command"] = ["sh", "-c", "echo devices=$NVIDIA_VISIBLE_DEVICES; exec sleep 1000000"]
        container["resources"]["limits"][GPU] = container["resources"]["requests"][GPU] = "1"
        self.run_pods(made)
        number = re.search(r"devices=GPU-(\d+)", self.cluster.kubectl("logs", "own")).group(1)
        devices = f"/dev/nvidia{number}", "/dev/nvidiactl"
        self.assertEqual([self.opens("own", device) for device in devices], [MAY, MAY])
        return devices

    def test_a_device_of_the_container_s_own_specification_stays(self):
        """The device has no link in /dev/char, which some versions of runc need:
        docs/internals/device-plugin.md."""
        self.assertEqual(on_node(self.cluster, "find /dev -path '/dev/char/195:*'"), "")
        devices = self.run_own()
        before = self.identity("own")
        self.await_reading("own", "safe")
        for change in self.changes("own"):
            self.assertEqual([self.opens("own", device) for device in devices], [MAY, MAY], change)
        self.assertEqual(self.identity("own"), before)

    def test_a_device_that_was_given_behind_the_runtime_s_back_is_gone_after_one_resize(self):
        self.run_pods(managed_sleeper("behind"))
        self.await_reading("behind", "unsafe")
        group = f"/sys/fs/cgroup/{container_group(self.get('behind'))}"
        on_node(self.cluster,
                f"cd /proc/$(head -n 1 {group}/cgroup.procs) && mknod --mode 666 root/dev/nvidia0 c 195 0")
        self.assertEqual(self.opens("behind", "/dev/nvidia0"), MAY_NOT)
        on_node(self.cluster, f"bpftool cgroup show {group} | awk '$2 ~ /device/ {{ print $1 }}' | "
                              f"xargs --max-args 1 bpftool cgroup detach {group} device id")
        self.assertEqual(self.opens("behind", "/dev/nvidia0"), MAY)
        self.assertEqual((next(self.changes("behind")), self.opens("behind", "/dev/nvidia0")),
                         ("a resize of requests.cpu", MAY_NOT))


def gpu_pod(name, profile=None):
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "labels": {"synergy.io/profile": profile} if profile else {}},
            "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "nodeSelector": LABEL,
                     "containers": [{
                         "name": "train", "image": "synergy.test/busybox:1", "command": ["sleep", "1000000"],
                         "resources": {"limits": {GPU: "1"}}}]}}


if __name__ == "__main__":
    with v2_node.v2_cluster():
        failures.main()
