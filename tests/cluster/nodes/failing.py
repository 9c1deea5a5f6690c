"""Jobs that fail on a real node, and what Synergy reports of them."""

import http.server
import json
import os
import pathlib
import subprocess
import threading
import unittest

import trainers
from cluster import GPU, Extender, own_cluster, wait_for

# Another instance than those of the clusters that other tests share.
INSTANCE = int(os.environ.get("SYNERGY_TEST_INSTANCE", "12"))
SYNERGY = pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy"
RETRIES = "synergy.io/retries"
IMPORT = "echo \"ModuleNotFoundError: No module named 'apex'\"; exit 1"


def job(name, script, retries=0, memory="64Mi", **template):
    """Returns a Job of one pod with a GPU that runs the script."""
    limits = {GPU: "1", "memory": memory}
    return {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
        "spec": {"backoffLimit": retries, "template": {
            "metadata": {"labels": {"synergy.io/user": "ann", "kueue.x-k8s.io/queue-name": "research"}},
            "spec": {
                "schedulerName": "synergy-scheduler", "restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
                "containers": [{"name": "train", "image": "synergy.test/busybox:1", "command": ["sh", "-c", script],
                                "resources": {"limits": limits, "requests": {**limits, "cpu": "10m"}}}],
                **template}}}}


def records_of(cluster):
    """Returns the records of failures of the namespace, by the names of their jobs."""
    found = [item for item in cluster.get("configmaps", namespace="synergy-system")["items"]
             if item["metadata"]["name"] == "synergy-failures-default"]
    records = {}
    for record in json.loads(found[0]["data"]["failures.json"])["failures"] if found else []:
        records.setdefault(record["owner"]["name"] if "owner" in record else record["pod"], []).append(record)
    return records


class Registry(http.server.BaseHTTPRequestHandler):
    """A registry without images."""

    def do_GET(self):
        self.send_response(404)
        self.end_headers()

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


def registry(test):
    """Runs a registry without images until the test ends. Returns its port."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    threading.Thread(target=server.serve_forever).start()
    test.addCleanup(server.server_close)
    test.addCleanup(server.shutdown)
    return server.server_port


class FailingJobs(unittest.TestCase):
    """A cluster with a real node of eight GPUs, and a cordoned simulated one."""

    FOLDER = ""

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(os.environ["SYNERGY_TEST_STATE"]) / cls.FOLDER
        cls.cluster = cls.enterClassContext(own_cluster(
            folder, INSTANCE, "--real-nodes", "1", "--simulated-nodes", "1",
            "--controller", os.environ["SYNERGY_BIN"], "--agents"))
        trainers.advertise_gpus(cls.cluster, 8)
        # A node without containers, which only the test of other nodes needs.
        node, = cls.cluster.get("nodes", labelSelector="synergy.test/node=simulated")["items"]
        cls.other_node = node["metadata"]["name"]
        cls.cluster.kubectl("cordon", cls.other_node)
        extender = Extender(cls.cluster, settings="elsewhereNamespace: synergy-system\n")
        cls.addClassCleanup(extender.log.close)
        extender.start()
        cls.addClassCleanup(extender.end)

    def synergy(self, *arguments):
        return subprocess.run([SYNERGY, *arguments], env=self.cluster.environment, check=True, stdout=subprocess.PIPE,
                              text=True).stdout

    def records(self):
        return records_of(self.cluster)

    def events(self, kind, name, reason="SynergyFailure"):
        events = self.cluster.get("events", fieldSelector=f"reason={reason}")["items"]
        return [event["message"] for event in events
                if event["involvedObject"]["kind"] == kind and event["involvedObject"]["name"] == name]

    def await_records(self, **counts):
        """Waits until there are so many records of these jobs."""
        wait_for(f"the records of {', '.join(counts)}", lambda: all(
            len(self.records().get(name, [])) >= count for name, count in counts.items()), 900)
        return self.records()

    def nodes_of(self, name):
        """Returns the nodes to which the Job's pods went."""
        pods = self.cluster.get("pods", labelSelector=f"job-name={name}")["items"]
        return {pod["spec"]["nodeName"] for pod in pods if "nodeName" in pod["spec"]}

    def suspended(self, name):
        return self.cluster.get("job", name)["spec"].get("suspend", False)
