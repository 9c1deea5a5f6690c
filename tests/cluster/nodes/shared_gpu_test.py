"""Two trainings take turns on one GPU, with all parts of the product: the device plugin offers the
GPU twice, the controller plans, and the node agent suspends one training at a time."""

import os
import pathlib
import time
import unittest

import failures
import trainers
from cluster import GPU, Extender, own_cluster, wait_for
from device_plugin import DevicePlugin

INSTANCE = int(os.environ.get("SYNERGY_TEST_INSTANCE", "12"))
TURNS = f"{GPU}.turns"
SLICE = 30  # seconds
SLICES = 10
PATIENCE = 180
FREEZERS = pathlib.Path("/sys/fs/cgroup/freezer")
CPU = pathlib.Path("/sys/fs/cgroup/cpuacct")


def training(name):
    """Returns a training in which each iteration takes the same CPU time."""
    arguments = ["--workers", "1", "--cpu-per-iteration", "1", "--gpu-step", "20", "--lines", "20"]
    made = trainers.pod_with(name, "turns", arguments, {}, {})
    made["spec"] |= {"schedulerName": "synergy-scheduler", "nodeSelector": {"synergy.test/node": "real"}}
    made["spec"]["containers"][0]["resources"] = {"limits": {TURNS: "1"}}
    return made


class SharedPlugin(DevicePlugin):
    """The device plugin, with one GPU on which two pods take turns."""

    def start_shared(self):
        self.write(gpus=1)
        config = self.cluster.folder / "device-plugin.yaml"
        config.write_text(f"sharing: {{turns: {{resources: [{{name: {GPU}, height: 2}}]}}}}\n", encoding="utf-8")
        self.start(source=("--inventory", str(self.file), "--config", str(config)))


@unittest.skipUnless(FREEZERS.is_dir(), "control groups v1")
class SharedGpuTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(os.environ["SYNERGY_TEST_STATE"]) / "shared-gpu"
        cls.cluster = cls.enterClassContext(own_cluster(
            folder, INSTANCE, "--real-nodes", "1", "--simulated-nodes", "0", "--controller", os.environ["SYNERGY_BIN"],
            "--agents"))
        trainers.load_image(cls.cluster)
        with open(cls.cluster.state / "agent-1.yaml", "a", encoding="utf-8") as config:
            config.write("turns: {enabled: true}\n")
        cls.cluster.script("restart", "agent-1")
        plugin = SharedPlugin(cls.cluster)
        cls.addClassCleanup(plugin.log.close)
        plugin.start_shared()
        cls.addClassCleanup(plugin.end)
        wait_for("the GPU in turns",
                 lambda: cls.cluster.get("node", "node-1")["status"]["allocatable"].get(TURNS) == "2")
        extender = Extender(cls.cluster)
        cls.addClassCleanup(extender.log.close)
        cls.addClassCleanup(extender.end)
        extender.start()
        cls.enterClassContext(cls.cluster.controller(turns=f"{{enabled: true, quantum: {SLICE}s}}"))

    def group(self, name):
        found = self.cluster.pods()[name]
        container = found["status"]["containerStatuses"][0]["containerID"].removeprefix("containerd://")
        quality = found["status"]["qosClass"].lower()
        within = "" if quality == "guaranteed" else f"{quality}/"
        return (f"synergy-test-{self.cluster.instance()}/node-1/kubepods/{within}"
                f"pod{found['metadata']['uid']}/{container}")

    def runs(self, group):
        return (FREEZERS / group / "freezer.state").read_text(encoding="utf-8").strip() == "THAWED"

    def await_turns(self, *groups):
        """Waits until exactly one training runs, and then until the other one resumes."""
        wait_for("one of them to be suspended",
                 lambda: [self.runs(group) for group in groups].count(True) == 1, PATIENCE)
        first = self.runs(groups[0])
        wait_for("the other one's turn", lambda: self.runs(groups[0]) != first, 3 * SLICE)

    def test_each_has_half_of_the_gpu_while_turns_are_planned(self):
        self.cluster.create(training("a"), training("b"))
        wait_for("both to run", lambda: all(
            (self.cluster.pods()[name]["status"].get("containerStatuses") or [{}])[0].get("state", {}).get("running")
            for name in ("a", "b")), PATIENCE)
        groups = [self.group(name) for name in ("a", "b")]
        self.await_turns(*groups)

        def used():
            return [int((CPU / group / "cpuacct.usage").read_text(encoding="utf-8")) for group in groups]
        before, alike, looks = used(), 0, 0
        end = time.monotonic() + SLICES * SLICE
        while time.monotonic() < end:
            alike += self.runs(groups[0]) == self.runs(groups[1])
            looks += 1
            time.sleep(0.25)
        iterations = [now - then for now, then in zip(used(), before)]
        part = iterations[0] / sum(iterations)
        print(f"a had {part:.1%} of {SLICES} slices; both alike in {alike} of {looks} looks", flush=True)
        self.assertAlmostEqual(part, 0.5, delta=0.02)
        self.assertLess(alike, 0.05 * looks)

        # Without a controller both run, although the annotations stay.
        self.cluster.script("stop", "synergy-controller", "KILL")
        wait_for("both to run", lambda: all(map(self.runs, groups)), PATIENCE)
        end = time.monotonic() + 2 * SLICE
        while time.monotonic() < end:
            self.assertTrue(all(map(self.runs, groups)), "without a controller")
            time.sleep(0.5)
        self.cluster.script("start", "synergy-controller")
        self.await_turns(*groups)

        self.cluster.kubectl("delete", "pod", "b")
        wait_for("the turns to end", lambda: "synergy.io/turn" not in self.cluster.pods()["a"]["metadata"][
            "annotations"], PATIENCE)
        self.assertTrue(self.runs(groups[0]))
        self.assertEqual(self.cluster.pods()["a"]["status"]["containerStatuses"][0]["restartCount"], 0)


if __name__ == "__main__":
    failures.main()
