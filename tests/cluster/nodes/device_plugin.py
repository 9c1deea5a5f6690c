"""Runs synergy-device-plugin on a real node, in the node's mount namespace and with the usual
paths."""

import functools
import json
import os
import pathlib
import signal
import subprocess
import urllib.request

from cluster import GPU, ROOT, free_port, wait_for, write_whole

NODE = "node-1"


def inventory(gpus=8, unhealthy=()):
    """Returns the text of an inventory file for a server with NVSwitch: each NUMA node has half of
    the GPUs."""
    lines = ["driverVersion: '550.54'", "nvlinks: 12", "gpus:"]
    for number in range(gpus):
        line = f"uuid: GPU-{number}, product: NVIDIA A100-SXM4-80GB, memory: 80Gi"
        if number in unhealthy:
            line += ", unhealthy: marked by the test"
        lines.append(f"- {{{line}}}")
    return "\n".join(lines) + "\n"


@functools.cache
def make_kubeconfig(cluster):
    """Makes a kubeconfig of the service account, with only the shipped rights, as a pod on that
    node has it."""
    account, namespace = "synergy-device-plugin", "synergy-system"
    # a cluster with a controller already has it
    cluster.kubectl("create", "namespace", namespace, check=False)
    cluster.create({"apiVersion": "v1", "kind": "ServiceAccount",
                    "metadata": {"name": account, "namespace": namespace}})
    manifests = ["device-plugin/device-plugin-rbac", "device-plugin/device-plugin-policy"]
    # A cluster with a controller already has these, for the users as which its programs run.
    if not cluster.kubectl("get", "validatingadmissionpolicies", "synergy-pods", "--ignore-not-found"):
        manifests.append("admission-policies")
    cluster.kubectl("apply", "--validate=ignore", *(f"--filename={ROOT}/manifests/{name}.yaml" for name in manifests))
    token = cluster.kubectl("create", "token", account, "--namespace", namespace,
                            "--bound-object-kind", "Node", "--bound-object-name", NODE).strip()
    status = json.loads(cluster.script("status", "--output", "json"))
    content = {
        "current-context": "test",
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        "clusters": [{"name": "test", "cluster": {
            "server": status["api"], "certificate-authority": str(cluster.state / "pki/ca.crt")}}],
        "users": [{"name": "test", "user": {"token": token}}],
    }
    file = cluster.folder / "device-plugin.kubeconfig"
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


class DevicePlugin:
    def __init__(self, cluster):
        self.cluster = cluster
        self.process = None
        self.file = cluster.folder / "gpus.yaml"
        self.log = open(cluster.folder / "device-plugin.log", "ab")
        self.port = free_port()
        self.kubeconfig = make_kubeconfig(cluster)

    def write(self, **what):
        write_whole(self.file, inventory(**what))

    def in_node(self, *command):
        """Returns a command that runs this one in the node's mount namespace. Without nsenter's
        --pid the process is the command itself."""
        return ["nsenter", "--target", str(self.cluster.pid_of("containerd-1")), "--mount", *command]

    def start(self, ready=True, source=(), **environment):
        """Starts the plugin with the inventory file, or with the flags in `source`."""
        program = pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy-device-plugin"
        self.process = subprocess.Popen(
            self.in_node(str(program), *(source or ("--inventory", str(self.file))), "--node-name", NODE,
                         "--kubeconfig", str(self.kubeconfig), "--listen", f"127.0.0.1:{self.port}"),
            stderr=self.log, env={**os.environ, **environment})
        if ready:
            wait_for("the device plugin to be ready", self.is_ready)

    def end(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(timeout=30)

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
            return answer.read().decode()

    def is_ready(self):
        if self.process.poll() is not None:
            raise AssertionError(f"the device plugin ended with {self.process.returncode}; see {self.log.name}")
        try:
            return self.get("/readyz")
        except OSError:
            return False

    def metrics(self, name):
        """Returns the text of the labels -> the value, for one metric."""
        lines = [line for line in self.get("/metrics").splitlines() if line.startswith((name + "{", name + " "))]
        return {line.rsplit(" ", 1)[0].removeprefix(name): float(line.rsplit(" ", 1)[1]) for line in lines}

    def allocatable(self):
        return int(self.cluster.get("node", NODE)["status"]["allocatable"].get(GPU, 0))

    def registrations(self):
        counts = self.metrics("synergy_device_plugin_registrations_total")
        return sum(count for labels, count in counts.items() if 'outcome="ok"' in labels)

    def process_facts(self):
        """Returns the numbers of open files and of threads, and the resident KiB."""
        folder = pathlib.Path(f"/proc/{self.process.pid}")
        status = dict(line.split(":", 1) for line in (folder / "status").read_text(encoding="utf-8").splitlines())
        return {
            "files": len(list((folder / "fd").iterdir())),
            "threads": int(status["Threads"]),
            "resident": int(status["VmRSS"].split()[0]),
        }
