"""A node agent that reports what a test says, for nodes without a kubelet."""

import contextlib
import http.server
import json
import ssl
import threading
import time

from cluster import wait_for

LABEL = "synergy.test/agent"
NAMESPACE = "synergy-system"
NANOSECONDS = 1_000_000_000


def controller_settings(cluster, port):
    """Returns the section `progress` of the controller's configuration: it queries agents on that
    port, which show the cluster's certificate for localhost."""
    return (f"{{enabled: true, interval: 2s, port: {port}, agents: {LABEL}, serverName: localhost, "
            f"caFile: {cluster.state}/pki/ca.crt}}")


class StandInAgent:
    """Answers for the pods of one node."""

    def __init__(self, cluster, node, port):
        self.cluster = cluster
        self.node = node
        self.port = port
        self.idle = {}  # seconds, by pod name
        self.asked = 0  # reports so far

    def report(self):
        """Returns the text of its progress, as wire/agents/progress.cc reads it."""
        now = time.time_ns()
        pods = [{"uid": pod["metadata"]["uid"], "namespace": "default", "name": name, "container": "train",
                 "idle": {"idle": round(self.idle.get(name, 0) * NANOSECONDS), "mostCpu": 10}}
                for name, pod in self.cluster.pods().items() if pod["spec"].get("nodeName") == self.node]
        self.asked += 1
        return json.dumps({"node": self.node, "since": now - 3600 * NANOSECONDS, "at": now, "pods": pods})

    @contextlib.contextmanager
    def serving(self):
        """Serves meanwhile, and is a pod of its node with this machine's address."""
        agent = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                body = agent.report().encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        pki = self.cluster.state / "pki"
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pki / "webhook.crt", pki / "webhook.key")
        with http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler) as server:
            server.daemon_threads = True
            server.socket = context.wrap_socket(server.socket, server_side=True)
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                self.become_a_pod()
                yield self
            finally:
                self.cluster.delete("pod", "stand-in-agent", namespace=NAMESPACE)
                server.shutdown()
                thread.join()

    def become_a_pod(self):
        name = "stand-in-agent"
        self.cluster.delete("pod", name, namespace=NAMESPACE, wait=True)
        self.cluster.create({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": {LABEL: ""}},
            "spec": {"nodeName": self.node, "tolerations": [{"operator": "Exists"}], "terminationGracePeriodSeconds": 0,
                     "containers": [{"name": "agent", "image": "synergy.test/busybox:1"}]}})
        wait_for("the agent's pod to run", lambda: self.cluster.get("pod", name, namespace=NAMESPACE)["status"].get(
            "podIP"))
        address = {"podIP": "127.0.0.1", "podIPs": [{"ip": "127.0.0.1"}]}
        self.cluster.patch("pod", name, {"status": address}, "status", namespace=NAMESPACE)
        wait_for("the controller to ask it", lambda: self.asked)
