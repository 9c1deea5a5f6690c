"""The device plugin with a real kubelet: pods get devices, and keep running whatever ends or
vanishes on the node."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time
import unittest
import urllib.error

import failures
import tiers
from cluster import GPU, Extender, own_cluster, pod, wait_for, write_whole
from device_plugin import NODE, DevicePlugin
from node_agent import Agent

# After a device plugin has registered, a kubelet keeps reporting the number of devices, so no other
# test can use its node.
INSTANCE = int(os.environ.get("SYNERGY_TEST_INSTANCE", "3"))
GPUS = 8
# There are more pods than open files and threads may be left over, so a leak for each pod shows;
# the same holds for the kubelet's restarts.
PODS, RESTARTS = (200, 10) if tiers.IS_LONG else (24, 3)
LEFT_OVER = 4
SHOW = "echo devices=$NVIDIA_VISIBLE_DEVICES"


def gpu_pod(name, gpus, script=f"{SHOW}; sleep 3600", scheduler="default-scheduler"):
    made = pod(name, gpus, "10m", "8Mi", scheduler=scheduler, nodeSelector={"kubernetes.io/hostname": NODE})
    container = made["spec"]["containers"][0]
    container["command"] = ["sh", "-c", script]
    container["resources"]["limits"].pop("memory", None)
    return made


class DevicePluginTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(os.environ["SYNERGY_TEST_STATE"]) / "device-plugin"
        cls.cluster = cls.enterClassContext(own_cluster(folder, INSTANCE))

    def setUp(self):
        self.cluster.clear()
        self.plugin = DevicePlugin(self.cluster)
        self.addCleanup(self.plugin.log.close)
        self.plugin.write(gpus=GPUS)
        self.plugin.start()
        self.addCleanup(self.stop)
        self.await_allocatable(GPUS)

    def stop(self):
        self.cluster.clear()
        self.assertEqual(self.plugin.end(), 0, "the device plugin has to end cleanly on SIGTERM")

    def await_allocatable(self, count):
        wait_for(f"{count} allocatable GPUs", lambda: self.plugin.allocatable() == count)

    def phases(self):
        return {name: found["status"].get("phase") for name, found in self.cluster.pods().items()}

    def await_phase(self, phase, *names):
        def reached():
            phases = self.phases()
            failed = [name for name in names if phases.get(name) == "Failed"]
            self.assertEqual([], failed, [self.cluster.events(name) for name in failed])
            return all(phases.get(name) == phase for name in names)
        wait_for(f"{names} to be {phase}", reached)

    def devices_of(self, name):
        """Returns the devices that the container sees."""
        def shown():
            log = self.cluster.kubectl("logs", name, check=False)
            return next((line for line in log.splitlines() if line.startswith("devices=")), None)
        return wait_for(f"{name} to tell its devices", shown).removeprefix("devices=").split(",")

    def node_events(self):
        events = json.loads(self.cluster.kubectl(
            "get", "events", "--namespace", "default",
            "--field-selector", f"involvedObject.kind=Node,involvedObject.name={NODE}", "--output", "json"))["items"]
        return {(event["type"], event["reason"], event["message"]) for event in events}

    def owners(self):
        """Returns device -> pod, by the plugin's metrics, which ask the kubelet."""
        found = {}
        for labels in self.plugin.metrics("synergy_gpu_allocated"):
            fields = dict(part.split("=", 1) for part in labels.strip("{}").split(","))
            found[fields["uuid"].strip('"')] = fields["pod"].strip('"')
            self.assertEqual(fields["node"].strip('"'), NODE)
        return found

    def test_pods_of_one_two_and_four_gpus_get_different_ones(self):
        sizes = {"one": 1, "two": 2, "four": 4}
        self.cluster.create(*[gpu_pod(name, size) for name, size in sizes.items()])
        self.await_phase("Running", *sizes)
        given = {name: self.devices_of(name) for name in sizes}
        self.assertEqual({name: len(devices) for name, devices in given.items()}, sizes)
        everything = [device for devices in given.values() for device in devices]
        self.assertEqual(len(set(everything)), 7, given)
        self.assertEqual(self.owners(), {device: name for name, devices in given.items() for device in devices})

    def test_the_node_agent_estimates_silent_pods_from_busy_gpus(self):
        self.plugin.end()
        shown = self.cluster.folder / "gpu-busy.json"
        shown.unlink(missing_ok=True)
        # The GPUs of the fake NVML have no device files.
        nvml = ("--nvml-library", os.environ["SYNERGY_FAKE_NVML"], "--gpu-busy-file", str(shown),
                "--device-list-strategy", "envvar")
        xid = self.cluster.folder / "xid"
        self.plugin.start(source=nvml, SYNERGY_FAKE_NVML_UTILIZATION="75", SYNERGY_FAKE_NVML_XID=str(xid))
        self.await_allocatable(4)
        agent = Agent(self.cluster, self.cluster.folder, f"gpuBusyFile: {shown}\n")
        agent.start()
        self.addCleanup(agent.end)

        amounts = json.dumps({"cpu": "10m", "memory": "8Mi"})
        bar = "i=0; while sleep 0.5; do i=$((i+1)); echo \"$i%|##   | $i/1000 [00:10<00:10, 2.00it/s]\"; done"
        pods = [gpu_pod("silent", 2), gpu_pod("tells", 1, bar), gpu_pod("unmanaged", 1)]
        for one in pods[:2]:
            one["metadata"]["annotations"] = {
                "synergy.io/container": "train", "synergy.io/demand": amounts, "synergy.io/floor": amounts}
        self.cluster.create(*pods)
        self.await_phase("Running", "silent", "tells", "unmanaged")

        def busy():
            found = re.findall(r'^synergy_pod_gpu_busy_seconds_total{.*pod="([^"]*)".*} (.*)$', agent.get("/metrics"),
                               re.M)
            return {name: float(seconds) for name, seconds in found}
        wait_for("the silent pod alone to be estimated", lambda: set(busy()) == {"silent"})
        wait_for("the other one's log to tell",
                 lambda: 'synergy_pod_iterations_per_second{namespace="default",pod="tells"'
                 in agent.get("/metrics"))

        # (when the file was written, since when and how long its GPU was busy by the file, and by
        # the agent)
        seen = []

        def look():
            content = json.loads(shown.read_text(encoding="utf-8"))
            silent = next(one for one in content["containers"] if one["pod"] == "silent")
            seen.append((content["at"] / 1e9, silent["since"], silent["seconds"], busy()["silent"]))
            # The agent and this test do not read the file at the same times. The agent counts all
            # of what it has read.
            return next(((then, seen[-1]) for then in seen if then[1] == seen[-1][1] and seen[-1][2] - then[2] > 3 and
                         abs((seen[-1][2] - then[2]) - (seen[-1][3] - then[3])) < 0.01), None)
        first, last = wait_for("the agent to count what the file tells", look)
        print(f"{last[2] - first[2]:.2f} s busy in {last[0] - first[0]:.2f} s")
        # These are the plugin's own times, so that late reads do not matter.
        self.assertAlmostEqual((last[2] - first[2]) / (last[0] - first[0]), 0.75, delta=0.01)
        self.assertEqual(set(busy()), {"silent"})

        # This Xid is an error of the application: the GPU stays healthy.
        gpu = next(number for number in range(4) if f"GPU-0000000{number}" in self.devices_of("silent")[0])
        write_whole(xid, f"{gpu} 31")
        found, = wait_for("the Xid of the pod's GPU", lambda: json.loads(shown.read_text(encoding="utf-8")).get("xids"))
        self.assertEqual((found["pod"], found["container"], found["xid"]), ("silent", "train", 31))

        # Without the file, there is no estimate.
        self.plugin.process.kill()
        self.plugin.process.wait()
        wait_for("the estimate to end", lambda: not busy())
        self.plugin.start(source=nvml, SYNERGY_FAKE_NVML_UTILIZATION="75")
        again = wait_for("it to go on", busy)
        self.assertGreaterEqual(again["silent"], last[3])

    def unhealthy_devices(self, name):
        """Returns the pod's unhealthy devices, by `synergy explain`."""
        shown = subprocess.run([pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy", "explain", "pod", name,
                               "--output", "json"],
                              env=self.cluster.environment, check=True, capture_output=True, text=True).stdout
        return [(each["container"], each["resource"], each["id"], each["health"])
                for each in json.loads(shown)["unhealthyDevices"]]

    def test_an_unhealthy_gpu_leaves_allocatable_and_comes_back(self):
        self.cluster.create(gpu_pod("holder", GPUS))
        self.await_phase("Running", "holder")
        self.assertEqual(self.unhealthy_devices("holder"), [])
        # Kubelets before 1.36 do not write the status.
        has_status = int(self.cluster.called("GET", "/version")["minor"]) >= 36
        container = self.cluster.get("pod", "holder")["spec"]["containers"][0]["name"]
        for unhealthy, expected in (([3], GPUS - 1), ([], GPUS)):
            self.plugin.write(gpus=GPUS, unhealthy=unhealthy)
            started = time.monotonic()
            self.await_allocatable(expected)
            print(f"allocatable is {expected} after {time.monotonic() - started:.2f} s")
            expected_devices = [(container, "nvidia.com/gpu", f"GPU-{number}", "Unhealthy")
                                for number in unhealthy] if has_status else []
            wait_for("the pod that has it to tell of it",
                     lambda found=expected_devices: self.unhealthy_devices("holder") == found)
        wait_for("the Node to tell of both", lambda: self.node_events() >= {
            ("Warning", "SynergyGpuUnhealthy", "GPU GPU-3 is unhealthy: marked by the test"),
            ("Normal", "SynergyGpuHealthy", "GPU GPU-3 is healthy again (it was: marked by the test)")})
        self.assertIn("SynergyGpuUnhealthy", self.cluster.kubectl("describe", "node", NODE))

    def test_the_node_reports_its_gpus(self):
        def shown(count, healthy):
            metadata = self.cluster.get("node", NODE)["metadata"]
            gpus = json.loads(metadata["annotations"].get("synergy.io/gpu-inventory", "{}")).get("gpus", [])
            return (metadata["labels"].get("nvidia.com/gpu.count") == str(count) and len(gpus) == count
                    and sum(gpu["healthy"] for gpu in gpus) == healthy)
        wait_for("labels and annotation", lambda: shown(GPUS, GPUS))
        labels = self.cluster.get("node", NODE)["metadata"]["labels"]
        self.assertEqual(labels["nvidia.com/gpu.product"], "NVIDIA-A100-SXM4-80GB")
        self.assertEqual(labels["nvidia.com/gpu.memory"], "81920")
        self.plugin.write(gpus=GPUS, unhealthy=[0, 1])
        wait_for("the annotation to tell of bad health", lambda: shown(GPUS, GPUS - 2))

    def test_many_pods_leak_nothing(self):
        before = self.plugin.process_facts()
        names = [f"short-{number:03}" for number in range(PODS)]
        self.cluster.create(*[gpu_pod(name, 1, SHOW) for name in names])
        wait_for("all pods to succeed",
                 lambda: set(self.phases().values()) <= {"Succeeded", "Failed"}, 600)
        self.assertEqual({"Succeeded"}, set(self.phases().values()))
        self.cluster.clear()
        wait_for("no device to be allocated", lambda: not self.owners())
        after = self.plugin.process_facts()
        print(f"before {before}, after {after}")
        self.assertLessEqual(after["files"], before["files"] + LEFT_OVER)
        self.assertLessEqual(after["threads"], before["threads"] + LEFT_OVER)
        self.cluster.create(gpu_pod("all", GPUS))
        self.await_phase("Running", "all")
        self.assertEqual(len(set(self.devices_of("all"))), GPUS)

    def identity(self, name):
        status = self.cluster.get("pod", name)["status"]["containerStatuses"][0]
        return status["containerID"], status["restartCount"]

    def test_restarts_of_the_kubelet_during_allocations(self):
        self.cluster.create(gpu_pod("long", 2))
        self.await_phase("Running", "long")
        identity, devices = self.identity("long"), set(self.devices_of("long"))
        for number in range(RESTARTS):
            # The test does not wait for this pod: the kubelet restarts while the pod is bound,
            # admitted or started.
            self.cluster.create(gpu_pod(f"during-{number}", 1))
            before = self.plugin.registrations()
            self.cluster.script("restart", "kubelet-1", "KILL")
            started = time.monotonic()
            wait_for("a new registration", lambda before=before: self.plugin.registrations() > before)
            wait_for("the plugin to be ready", self.plugin.is_ready)
            print(f"registered {time.monotonic() - started:.2f} s after the kubelet's start")
            self.await_allocatable(GPUS)
            self.cluster.create(gpu_pod(f"after-{number}", 1))
            self.await_phase("Running", f"after-{number}", "long")
            self.assertNotIn(self.devices_of(f"after-{number}")[0], devices)
            self.assertEqual(self.identity("long"), identity)
            self.cluster.kubectl("delete", "pod", f"during-{number}", f"after-{number}", "--force", "--grace-period=0")
        wait_for("the long one's devices alone to be allocated", lambda: set(self.owners()) == devices)

    def test_a_pod_goes_on_when_the_plugin_is_killed(self):
        self.cluster.create(gpu_pod("long", 2))
        self.await_phase("Running", "long")
        identity = self.identity("long")
        self.plugin.end(signal.SIGKILL)
        self.await_allocatable(0)
        self.plugin.start()
        self.await_allocatable(GPUS)
        self.assertEqual(self.identity("long"), identity)
        self.cluster.create(gpu_pod("next", GPUS - 2))
        self.await_phase("Running", "next")
        self.assertFalse(set(self.devices_of("next")) & set(self.devices_of("long")))

    def test_a_deleted_socket_is_restored(self):
        before = self.plugin.registrations()
        subprocess.run(
            self.plugin.in_node("sh", "-c", "rm /var/lib/kubelet/device-plugins/synergy-nvidia.com_gpu-*.sock"),
            check=True)
        wait_for("a new registration", lambda: self.plugin.registrations() > before)
        self.await_allocatable(GPUS)
        self.cluster.create(gpu_pod("all", GPUS))
        self.await_phase("Running", "all")

    def start_another(self, *ids):
        """Starts another device plugin for the same resource, with the name of NVIDIA's socket."""
        another = subprocess.Popen(
            self.plugin.in_node(os.environ["SYNERGY_STAND_IN_PLUGIN"], "/var/lib/kubelet/device-plugins",
                                "nvidia-gpu.sock", GPU, *ids),
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(another.stdout.close)
        self.addCleanup(another.wait)
        self.addCleanup(another.kill)
        self.assertEqual(another.stdout.readline(), "registered\n")
        return another

    def why_not_ready(self):
        try:
            return self.plugin.get("/readyz") and ""
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.read().decode()

    def await_stopped(self):
        wait_for("the plugin to stop", lambda: "another component offers these GPUs" in self.why_not_ready())
        wait_for("the event",
                 lambda: any(reason == "SynergyDevicePluginStopped" for _, reason, _ in self.node_events()))
        self.assertEqual(self.plugin.get("/healthz"), "ok\n")

    def test_it_yields_to_a_later_plugin_and_does_not_return(self):
        ids = [f"GPU-{number}" for number in range(4)]
        another = self.start_another(*ids)
        self.await_stopped()
        if int(self.cluster.called("GET", "/version")["minor"]) < 37:
            # Kubelets before 1.37 drop the other plugin's devices with our stream, so the other
            # plugin has to be restarted.
            another.kill()
            another.wait()
            another = self.start_another(*ids)
        self.await_allocatable(4)
        self.cluster.create(gpu_pod("theirs", 2))
        self.await_phase("Running", "theirs")
        self.assertLess(set(self.devices_of("theirs")), set(ids))
        registrations = self.plugin.registrations()
        another.kill()
        another.wait()
        self.await_allocatable(0)
        self.cluster.script("restart", "kubelet-1", "KILL")
        self.start_another(*ids)
        self.await_allocatable(4)
        self.assertEqual(self.plugin.registrations(), registrations)
        self.await_phase("Running", "theirs")

    def test_it_changes_nothing_if_another_plugin_was_first(self):
        self.assertEqual(self.plugin.end(), 0)
        self.await_allocatable(0)
        ids = [f"GPU-{number}" for number in range(4)]
        self.start_another(*ids)
        self.await_allocatable(4)
        self.plugin.start(ready=False)
        wait_for("it to answer", self.answers)
        self.await_stopped()
        self.assertEqual(self.plugin.registrations(), 0)
        self.assertEqual(self.plugin.allocatable(), 4)
        self.cluster.create(gpu_pod("theirs", 4))
        self.await_phase("Running", "theirs")
        self.assertEqual(set(self.devices_of("theirs")), set(ids))

    def test_pods_share_a_gpu_in_slices_once_no_pod_has_all_of_it(self):
        shared = f"{GPU}.shared"

        def slices():
            return self.cluster.get("node", NODE)["status"]["allocatable"].get(shared)

        def slice_pod(name):
            made = gpu_pod(name, 1)
            for amounts in made["spec"]["containers"][0]["resources"].values():
                if GPU in amounts:
                    amounts[shared] = amounts.pop(GPU)
            return made

        self.plugin.write(gpus=1)
        self.await_allocatable(1)
        self.cluster.create(gpu_pod("whole", 1))
        self.await_phase("Running", "whole")
        self.plugin.end()
        config = self.cluster.folder / "sharing.yaml"
        config.write_text("health: {probeInterval: 1s}\n"
                          f"sharing: {{timeSlicing: {{resources: [{{name: {GPU}, replicas: 2}}]}}}}\n",
                          encoding="utf-8")
        self.plugin.start(source=("--config", str(config), "--inventory", str(self.plugin.file)))
        wait_for("no slice to be free while a pod has the GPU", lambda: slices() == "0")
        self.cluster.kubectl("delete", "pod", "whole", "--now")
        wait_for("the slices", lambda: slices() == "2")
        wait_for("the label", lambda: self.cluster.get("node", NODE)["metadata"]["labels"].get(
            "nvidia.com/gpu.replicas") == "2")

        self.cluster.create(*[slice_pod(f"sharer-{number}") for number in range(3)])
        wait_for("two to run and one to wait",
                 lambda: sorted(self.phases().values()) == ["Pending", "Running", "Running"])
        running = [name for name, phase in self.phases().items() if phase == "Running"]
        self.assertEqual([self.devices_of(name) for name in running], [["GPU-0"], ["GPU-0"]])
        self.cluster.kubectl("delete", "pod", running[0], "--now")
        wait_for("the third to run", lambda: list(self.phases().values()) == ["Running", "Running"])

    def answers(self):
        try:
            return self.plugin.get("/healthz")
        except OSError:
            return None

    def test_the_whole_path_from_the_plugin_through_the_extender_to_the_pod(self):
        extender = Extender(self.cluster)
        self.addCleanup(extender.log.close)
        extender.start()
        self.addCleanup(extender.end)
        names = [f"job-{number}" for number in range(3)]
        self.cluster.create(*[gpu_pod(name, 4, scheduler="synergy-scheduler") for name in names])
        wait_for("two to run and one to wait",
                 lambda: sorted(self.phases().values()) == ["Pending", "Running", "Running"])
        running = [name for name, phase in self.phases().items() if phase == "Running"]
        self.assertFalse(set(self.devices_of(running[0])) & set(self.devices_of(running[1])))

    def test_a_pod_gets_gpus_of_the_product_that_it_asks_for_and_no_others(self):
        extender = Extender(self.cluster)
        self.addCleanup(extender.log.close)
        extender.start()
        self.addCleanup(extender.end)
        for name, product in (("other", "NVIDIA-H100-80GB-HBM3"), ("this", "NVIDIA-A100-SXM4-80GB")):
            asking = gpu_pod(name, 1, scheduler="synergy-scheduler")
            asking["metadata"]["labels"] = {"synergy.io/gpu-product": product}
            self.cluster.create(asking)
        self.await_phase("Running", "this")
        wait_for("the other to hear why not",
                 lambda: any("GPUs of another product" in text for text in self.cluster.events("other")))


if __name__ == "__main__":
    failures.main()
