"""Checks synergy-device-plugin on a machine with an NVIDIA GPU: the driver is real, and only the
kubelet is a stand-in. It is not part of the gate, which has no GPU.

    python3 tests/gpu/device_plugin_check.py build/release/bin/synergy-device-plugin

It needs the driver, nvidia-ml-py, grpcio, protobuf, PyTorch and protoc; the test of containers also
needs root, runc and control groups v2. It changes no setting of the GPU. Results:
docs/evidence/device-plugin.md.
"""

import ctypes
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import pynvml

from stand_in_kubelet import Kubelet

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROTOCOLS = ("deviceplugin/protocol/device_plugin.proto", "src/kubelet/pod_resources.proto")
PLUGIN = "build/release/bin/synergy-device-plugin"
GPM_GRAPHICS_UTILIZATION = 1

# A load that is busy for a fraction of each period. If the period is similar to that of the
# driver's samples, the two alias.
LOAD = """
import sys, time, torch
period, duty, end = float(sys.argv[1]), float(sys.argv[2]), time.time() + float(sys.argv[3])
a = torch.randn(1024, 1024, device="cuda", dtype=torch.bfloat16)
a @ a
torch.cuda.synchronize()
print("started", flush=True)
next = time.time()
while time.time() < end:
    busy = time.time() + period * duty
    while time.time() < busy:
        for _ in range(20): a @ a
        torch.cuda.synchronize()
    next += period
    time.sleep(max(0, next - time.time()))
"""
# A program that ends with a failed assertion in a kernel: Xid 43.
ASSERTION = """
import torch
x = torch.zeros(4, device="cuda")[torch.tensor([9], device="cuda")]
torch.cuda.synchronize()
"""
CUDA = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
device, context, memory = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
for call in (lambda: cuda.cuInit(0), lambda: cuda.cuDeviceGet(ctypes.byref(device), 0),
             lambda: cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device),
             lambda: cuda.cuMemAlloc_v2(ctypes.byref(memory), 1 << 20),
             lambda: cuda.cuMemsetD8_v2(memory, 1, 1 << 20), cuda.cuCtxSynchronize):
    error = call()
    if error: sys.exit(f"CUDA error {error}")
"""


def await_(condition, seconds=60):
    end = time.time() + seconds
    while not condition():
        if time.time() > end:
            raise TimeoutError
        time.sleep(0.1)


class DevicePluginTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        descriptors = f"{self.folder}/kubelet.desc"
        subprocess.run(["protoc", *(f"-I{(ROOT / file).parent}" for file in PROTOCOLS), "--include_imports",
                        f"--descriptor_set_out={descriptors}", *(str(ROOT / file) for file in PROTOCOLS)], check=True)
        self.kubelet = Kubelet(self.folder, descriptors)
        pynvml.nvmlInit()
        self.gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
        self.uuid = pynvml.nvmlDeviceGetUUID(self.gpu)

    def start(self, **more):
        config = {"source": "nvml", "listen": "127.0.0.1:0", "stateFolder": f"{self.folder}/state",
                  "gpuBusyFile": f"{self.folder}/busy.json",
                  "kubelet": {"pluginFolder": self.kubelet.plugins,
                              "podResourcesSocket": f"{self.kubelet.pod_resources}/kubelet.sock"}, **more}
        file = pathlib.Path(self.folder, "config.yaml")
        file.write_text(json.dumps(config), encoding="utf-8")
        plugin = subprocess.Popen([PLUGIN, "--config", file])
        self.addCleanup(plugin.wait, 20)
        self.addCleanup(plugin.terminate)
        await_(lambda: self.kubelet.lists)

    def test_inventory_is_what_nvml_reports(self):
        inventory = json.loads(subprocess.run([PLUGIN, "--one-shot", "--source", "nvml"], check=True,
                                              stdout=subprocess.PIPE).stdout)
        self.assertEqual(inventory["driver"], pynvml.nvmlSystemGetDriverVersion())
        self.assertEqual(len(inventory["gpus"]), pynvml.nvmlDeviceGetCount())
        gpu = next(gpu for gpu in inventory["gpus"] if gpu["id"] == self.uuid)
        self.assertEqual(gpu["product"], pynvml.nvmlDeviceGetName(self.gpu))
        self.assertEqual(gpu["memory"], pynvml.nvmlDeviceGetMemoryInfo(self.gpu).total)
        self.assertEqual(gpu["deviceNodes"], [f"/dev/nvidia{pynvml.nvmlDeviceGetMinorNumber(self.gpu)}"])
        self.assertEqual(gpu["computeCapability"],
                         "{}.{}".format(*pynvml.nvmlDeviceGetCudaComputeCapability(self.gpu)))

    def test_xid_makes_the_gpu_unhealthy_and_quiet_makes_it_healthy(self):
        self.start(health={"ignoredXids": [], "recoverAfter": "5s"})
        self.assertNotEqual(subprocess.run([sys.executable, "-c", ASSERTION]).returncode, 0)
        await_(lambda: self.kubelet.lists[-1][1][self.uuid] == "Unhealthy")
        await_(lambda: self.kubelet.lists[-1][1][self.uuid] == "Healthy")

    def test_xid_of_an_application_is_ignored_by_default(self):
        self.start()
        self.assertNotEqual(subprocess.run([sys.executable, "-c", ASSERTION]).returncode, 0)
        time.sleep(2)
        self.assertEqual([health for _, health in self.kubelet.lists], [{self.uuid: "Healthy"}])

    def read_busy(self):
        report = json.loads(pathlib.Path(self.folder, "busy.json").read_text(encoding="utf-8"))
        return report["at"] / 1e9, report["containers"][0]["seconds"]

    def measure(self, seconds):
        """Returns the busy fraction of some seconds by the plugin and by GPM's hardware
        counters."""
        before, after = pynvml.nvmlGpmSampleAlloc(), pynvml.nvmlGpmSampleAlloc()
        first = self.read_busy()
        pynvml.nvmlGpmSampleGet(self.gpu, before)
        await_(lambda: self.read_busy()[0] >= first[0] + seconds)
        pynvml.nvmlGpmSampleGet(self.gpu, after)
        last = self.read_busy()
        metrics = pynvml.c_nvmlGpmMetricsGet_t()
        metrics.version, metrics.numMetrics = pynvml.NVML_GPM_METRICS_GET_VERSION, 1
        metrics.sample1, metrics.sample2 = before, after
        metrics.metrics[0].metricId = GPM_GRAPHICS_UTILIZATION
        pynvml.nvmlGpmMetricsGet(metrics)
        return (last[1] - first[1]) / (last[0] - first[0]), metrics.metrics[0].value / 100

    def test_busy_time_is_that_of_the_hardware(self):
        if not pynvml.nvmlGpmQueryDeviceSupport(self.gpu).isSupportedDevice:
            self.skipTest("GPUs before Hopper have no counters to compare with")
        self.start()
        self.kubelet.owned = [("bert", [self.uuid])]
        for period, duty in ((0.2, 0.5), (0.35, 0.3), (0.2, 0.1)):
            with self.subTest(period=period, duty=duty), \
                    subprocess.Popen([sys.executable, "-c", LOAD, str(period), str(duty), "20"],
                                     stdout=subprocess.PIPE) as load:
                load.stdout.readline()
                time.sleep(3)  # the file is written every other second
                plugin, hardware = self.measure(8)
                load.kill()
                print(f"period {period} s, duty {duty}: plugin {plugin:.3f}, GPM {hardware:.3f}")
                self.assertAlmostEqual(plugin, hardware, delta=0.02)

    @unittest.skipUnless(shutil.which("runc") and os.geteuid() == 0, "needs root and runc")
    def test_cuda_runs_with_the_nodes_of_allocate_and_after_resizes(self):
        self.start()
        nodes = [(node.container_path, node.host_path) for node in self.kubelet.allocate([self.uuid]).devices]
        with Container(self.folder, nodes) as container:
            self.assertEqual(container.run_cuda(), 0)
            for resize in (["--cpu-share", "512"], ["--cpu-quota", "200000", "--cpu-period", "100000"],
                           ["--memory", str(12 << 30)]):
                subprocess.run(["runc", "update", *resize, container.name], check=True)
                self.assertEqual(container.run_cuda(), 0, resize)
        with Container(self.folder, nodes[:1]) as container:
            self.assertNotEqual(container.run_cuda(), 0, "without the shared nodes")


class Container:
    """A container with the machine's libraries and only these of its device nodes."""

    def __init__(self, folder, nodes):
        self.name = f"synergy-{os.getpid()}"
        self.bundle = pathlib.Path(tempfile.mkdtemp(dir=folder))
        (self.bundle / "rootfs").mkdir()
        mounts = [{"destination": "/proc", "type": "proc", "source": "proc"},
                  {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"}]
        for place in ("/usr", "/lib", "/lib64", "/bin", "/etc", "/opt", "/root"):
            if os.path.islink(place):
                (self.bundle / "rootfs" / place[1:]).symlink_to(os.readlink(place))
            elif os.path.isdir(place):
                mounts.append({"destination": place, "type": "bind", "source": place, "options": ["rbind", "ro"]})
        devices, rules = [], [{"allow": False, "access": "rwm"}]
        for path, host in nodes:
            number = os.stat(host).st_rdev
            device = {"type": "c", "major": os.major(number), "minor": os.minor(number)}
            devices.append({"path": path, "fileMode": 0o666, "uid": 0, "gid": 0, **device})
            rules.append({"allow": True, "access": "rw", **device})
        environment = [f"{name}={os.environ[name]}" for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ]
        (self.bundle / "config.json").write_text(json.dumps({
            "ociVersion": "1.0.2", "root": {"path": "rootfs"}, "mounts": mounts,
            "process": {"user": {"uid": 0, "gid": 0}, "args": ["sleep", "600"], "env": environment, "cwd": "/"},
            "linux": {"namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount")], "devices": devices,
                      "cgroupsPath": f"/{self.name}",
                      "resources": {"devices": rules, "memory": {"limit": 8 << 30}, "cpu": {"shares": 1024}}}}),
            encoding="utf-8")

    def __enter__(self):
        subprocess.run(["runc", "run", "--detach", "--bundle", self.bundle, self.name], check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        subprocess.run(["runc", "delete", "--force", self.name], check=True)

    def run_cuda(self):
        return subprocess.run(["runc", "exec", self.name, sys.executable, "-c", CUDA]).returncode


if __name__ == "__main__":
    ctypes.CDLL("libnvidia-ml.so.1")
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        PLUGIN = sys.argv.pop(1)
    unittest.main()
