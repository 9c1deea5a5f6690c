"""Runs synergy-node-agent beside a real kubelet, as a process."""

import json
import os
import pathlib
import re
import signal
import subprocess
import urllib.request

import yaml

from cluster import ROOT, wait_for


# The capabilities that the chart's value nodeAgent.seeReads adds.
SEES_READS = "-all,+sys_ptrace,+dac_read_search"


class Agent:
    """Runs synergy-node-agent as its DaemonSet does: as root without capabilities, with the rights
    of the shipped role."""

    def __init__(self, cluster, folder, settings=""):
        """`settings`: additional lines of its configuration."""
        self.capabilities = "-all"
        self.cluster = cluster
        self.folder = folder
        manifest = yaml.safe_load_all((ROOT / "manifests/node-agent-rbac.yaml").read_text(encoding="utf-8"))
        cluster.kubectl("create", "namespace", "synergy-system", check=False)
        for item in manifest:
            if item["kind"] in ("ServiceAccount", "ClusterRole", "ClusterRoleBinding"):
                cluster.kubectl("apply", "--validate=ignore", "-f", "-", stdin=json.dumps(item))
        token = cluster.kubectl("create", "token", "synergy-node-agent", "-n", "synergy-system").strip()
        admin = json.loads(cluster.kubectl("config", "view", "--raw", "-o", "json"))
        self.kubeconfig = folder / "node-agent.kubeconfig"
        self.kubeconfig.touch(0o600)
        self.kubeconfig.write_text(json.dumps({
            "clusters": admin["clusters"], "users": [{"name": "agent", "user": {"token": token}}],
            "contexts": [{"name": "agent", "context": {"cluster": admin["clusters"][0]["name"], "user": "agent"}}],
            "current-context": "agent"}), encoding="utf-8")
        self.config = folder / "node-agent.yaml"
        self.config.write_text(
            f"listen: 127.0.0.1:0\nkubeletCgroupRoot: /synergy-test-{cluster.instance()}/node-1\ngiveUpAfter: 5m\n"
            f"podLogFolder: {cluster.state}/node-1/log/pods\nstateFolder: {folder}/node-agent-state\n{settings}",
            encoding="utf-8")
        self.process = None
        self.port = None

    def start(self):
        log_file = self.folder / "node-agent.log"
        log_file.write_text("", encoding="utf-8")
        with open(log_file, "ab") as log:
            self.process = subprocess.Popen(
                ["setpriv", f"--bounding-set={self.capabilities}", "--inh-caps=-all", "--no-new-privs",
                 str(pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy-node-agent"),
                 "--kubeconfig", str(self.kubeconfig),
                 "--config", str(self.config), "--node-name", "node-1", "--log-level", "debug"], stderr=log)
        served = wait_for("the agent to serve", lambda: re.search(r" port=(\d+)", log_file.read_text(encoding="utf-8")))
        self.port = int(served.group(1))
        wait_for("the agent to be ready", self.is_ready)

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
            return answer.read().decode()

    def is_ready(self):
        try:
            return self.get("/readyz")
        except OSError:
            return False

    def metric(self, line):
        return float(re.search(f"^{re.escape(line)} (.*)$", self.get("/metrics"), re.M).group(1))

    def child(self):
        """Returns the agent's process id. Its parent is the guardian, which removes CPU quotas."""
        return int(pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text(
            encoding="utf-8"))

    def memory(self):
        """Returns the memory of both processes in bytes. Shared pages count once."""
        return sum(int(re.search(r"^Pss:\s+(\d+) kB",
                                 pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8"),
                                 re.M).group(1)) * 1024 for pid in (self.process.pid, self.child()))

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=30)
