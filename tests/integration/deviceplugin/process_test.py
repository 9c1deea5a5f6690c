"""Tests synergy-device-plugin as a process: its output, how it ends, the effect of SIGHUP, and its
files."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

PROGRAM = os.environ["SYNERGY_DEVICE_PLUGIN"]
FAKE_NVML = os.environ["SYNERGY_FAKE_NVML"]
INVENTORY = """
sharedDeviceNodes: [/dev/null]
gpus:
- {uuid: GPU-0, product: NVIDIA A100, memory: 80Gi, deviceNodes: [/dev/zero]}
- {uuid: GPU-1, product: NVIDIA T4, memory: 16Gi}
"""


def wait_for(what, check):
    deadline = time.monotonic() + 20
    while not (found := check()):
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain for {what}")
        time.sleep(0.02)
    return found


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=20, check=False)


class OneShotTest(unittest.TestCase):
    def test_the_file_is_printed_as_json(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "gpus.yaml"
            file.write_text(INVENTORY, encoding="utf-8")
            done = run("--inventory", str(file), "--one-shot", "--output", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual([gpu["id"] for gpu in report["gpus"]], ["GPU-0", "GPU-1"])
        self.assertEqual([device["id"] for device in report["resources"]["nvidia.com/gpu"]], ["GPU-0", "GPU-1"])

    def test_nvml_is_printed_as_json(self):
        done = run("--nvml-library", FAKE_NVML, "--one-shot")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual((len(report["gpus"]), report["driver"], report["cuda"]), (4, "550.54.15", "12.4"))
        self.assertIn([0, 1, "single-switch", 4], report["links"])

    def test_a_missing_driver_is_a_clear_error(self):
        for arguments in (["--one-shot"], ["--when-nvml-missing", "exit"]):
            done = run("--nvml-library", "libnot-there.so.1", *arguments)
            self.assertEqual(done.returncode, 1)
            self.assertIn("libnot-there.so.1", done.stderr)

    def test_wrong_usage_ends_with_status_two(self):
        for arguments in (["--source", "magic"], ["--source", "file"], ["--no-such-flag"], ["--resource", "gpu"],
                          ["--config", "/none.yaml"], ["--node-name", "n1"], ["--mig-strategy", "some"]):
            done = run(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertTrue(done.stderr, arguments)


class ProcessTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "plugins").mkdir()
        self.write("gpus.yaml", INVENTORY)
        self.config("")
        self.process = None

    def write(self, name, text):
        new = self.folder / (name + ".new")
        new.write_text(text, encoding="utf-8")
        new.rename(self.folder / name)

    def config(self, more, cdi_command="no-such-nvidia-ctk"):
        self.write("config.yaml", f"""
listen: 127.0.0.1:0
stateFolder: {self.folder}/state
kubelet: {{pluginFolder: {self.folder}/plugins, podResourcesSocket: {self.folder}/none.sock}}
cdi: {{folder: {self.folder}/cdi, command: [{cdi_command}]}}
{more}
""")

    def start(self, *arguments):
        log = open(self.folder / "log", "wb")
        self.addCleanup(log.close)
        self.process = subprocess.Popen([PROGRAM, "--config", str(self.folder / "config.yaml"), *arguments], stderr=log)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        self.port = wait_for("the port", lambda: re.search(r" port=(\d+)", self.log())).group(1)

    def log(self):
        return (self.folder / "log").read_text(encoding="utf-8")

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
            return answer.read().decode()

    def sockets(self):
        """Returns the sockets' names without the random part."""
        return sorted(re.sub(r"-[0-9a-f]{8}\.sock$", "", file.name) for file in (self.folder / "plugins").iterdir())

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(timeout=20), 0)

    def test_probes_distinguish_liveness_from_readiness(self):
        self.start("--inventory", str(self.folder / "gpus.yaml"))
        self.assertEqual(self.get("/healthz"), "ok\n")
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.get("/readyz")
        self.assertEqual(refused.exception.code, 503)
        refused.exception.close()

    def test_sighup_reads_the_configuration_again(self):
        self.start("--inventory", str(self.folder / "gpus.yaml"))
        wait_for("the socket", lambda: self.sockets() == ["synergy-nvidia.com_gpu"])
        self.config("resources: [{product: '*T4*', resource: nvidia.com/t4}]")
        self.process.send_signal(signal.SIGHUP)
        t4 = 'synergy_device_plugin_devices{resource="nvidia.com/t4",product="NVIDIA T4",health="healthy"} 1'
        wait_for("the new resource", lambda: t4 in self.get("/metrics"))
        wait_for("its socket", lambda: self.sockets() == ["synergy-nvidia.com_gpu", "synergy-nvidia.com_t4"])
        self.end()
        self.assertEqual(self.sockets(), [])

    def test_settings_that_wait_for_a_restart_are_reported(self):
        self.config("nvml: {whenMissing: wait}")
        self.start("--inventory", str(self.folder / "gpus.yaml"))
        for more in ("nvml: {whenMissing: exit}", "gpuBusyFile: /elsewhere"):
            self.config(more)
            before = self.log().count("waits for a restart")
            self.process.send_signal(signal.SIGHUP)
            wait_for("a complaint", lambda before=before: self.log().count("waits for a restart") > before)
        self.end()

    def test_a_broken_configuration_changes_nothing(self):
        self.start("--inventory", str(self.folder / "gpus.yaml"))
        self.config("speed: 9")
        self.process.send_signal(signal.SIGHUP)
        wait_for("a complaint", lambda: "unknown field" in self.log())
        self.assertEqual(self.get("/healthz"), "ok\n")
        self.end()

    def test_the_cdi_specification_stays_whatever_happens(self):
        self.config("health: {probeInterval: 100ms}")
        self.start("--inventory", str(self.folder / "gpus.yaml"), "--device-list-strategy", "cdi")
        file = self.folder / "cdi/synergy.io-gpu.json"
        wait_for("the specification", file.exists)
        text = file.read_text(encoding="utf-8")
        spec = json.loads(text)
        self.assertEqual(spec["kind"], "synergy.io/gpu")
        self.assertEqual(spec["devices"][0]["containerEdits"]["deviceNodes"],
                         [{"path": "/dev/zero"}, {"path": "/dev/null"}])
        self.assertIn("only device nodes", self.log())
        file.unlink()
        wait_for("the specification again", file.exists)
        self.end()
        self.assertEqual(file.read_text(encoding="utf-8"), text)

    def test_nvidias_program_makes_the_cdi_specification_complete(self):
        complete = json.dumps({"cdiVersion": "0.5.0", "kind": "synergy.io/gpu", "containerEdits": {"hooks": []},
                               "devices": [{"name": name, "containerEdits": {}} for name in ("GPU-0", "GPU-1")]})
        program = self.folder / "nvidia-ctk"
        program.write_text(f"#!/bin/sh\necho '{complete}'\n", encoding="utf-8")
        program.chmod(0o755)
        self.config("", program)
        self.start("--inventory", str(self.folder / "gpus.yaml"), "--device-list-strategy", "cdi")
        file = self.folder / "cdi/synergy.io-gpu.json"
        wait_for("the specification", file.exists)
        self.assertEqual(json.loads(file.read_text(encoding="utf-8")), json.loads(complete))
        self.end()

    def test_a_slow_program_for_the_cdi_specification_delays_no_answer(self):
        self.write("hold", "")
        program = self.folder / "nvidia-ctk"
        program.write_text(f"#!/bin/sh\ncd {self.folder}\ntouch begun\nwhile [ -e hold ]; do sleep 0.05; done\n",
                           encoding="utf-8")
        program.chmod(0o755)
        self.config("", program)
        self.start("--inventory", str(self.folder / "gpus.yaml"), "--device-list-strategy", "cdi")
        wait_for("the program", (self.folder / "begun").exists)
        self.assertEqual(self.get("/metrics").count("synergy_gpu_info{"), 2)
        self.assertEqual(self.get("/healthz"), "ok\n")
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.get("/readyz")
        refused.exception.close()
        self.assertFalse((self.folder / "cdi/synergy.io-gpu.json").exists(), "the program still runs")
        (self.folder / "hold").unlink()
        wait_for("the socket", lambda: self.sockets() == ["synergy-nvidia.com_gpu"])
        self.end()

    def test_it_waits_for_a_missing_driver(self):
        self.start("--nvml-library", str(self.folder / "libnvidia-ml.so.1"))
        wait_for("a complaint", lambda: "cannot be loaded" in self.log())
        self.assertEqual(self.sockets(), [])
        os.symlink(FAKE_NVML, self.folder / "libnvidia-ml.so.1")
        self.process.send_signal(signal.SIGHUP)
        wait_for("the GPUs", lambda: self.get("/metrics").count("synergy_gpu_info{") == 4)
        self.end()


if __name__ == "__main__":
    unittest.main()
