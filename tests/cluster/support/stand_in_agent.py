"""A stand-in for the node agent, which reports what a test tells it to."""

import http.server
import json
import ssl
import threading

from cluster import free_port, pod, wait_for

NAME = "stand-in-agent"


class StandInAgent:
    """Acts as the agent of that node inside a `with` block. It serves with the controller's
    certificate, whose name is localhost. The agents of several nodes share a port and have
    different addresses."""

    def __init__(self, cluster, node, address="127.0.0.1", port=None):
        self.cluster, self.node, self.address = cluster, node, address
        self.name = NAME if port is None else f"{NAME}-{node}"
        self.reports = {}  # uid of a pod -> its report
        self.renewals = 0  # queries that renewed turns on GPUs
        self.port = port or free_port()

    def report(self, name, **progress):
        """Reports these members of a pod's progress from now on (docs/internals/progress.md)."""
        uid = self.cluster.pods()[name]["metadata"]["uid"]
        self.reports[uid] = {"uid": uid, **progress}

    def settings(self):
        """Returns the `progress` section of the controller's configuration."""
        return (f"{{enabled: true, interval: 1s, port: {self.port}, agents: app={NAME}, serverName: localhost, "
                f"caFile: {self.cluster.state}/pki/ca.crt}}")

    def __enter__(self):
        agent = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                agent.renewals += self.headers.get("Synergy-Turns") == "renew"
                report = {"node": agent.node, "since": 1, "at": 1, "pods": list(agent.reports.values())}
                body = json.dumps(report).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer((self.address, self.port), Handler)
        self.server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.cluster.state / "pki/webhook.crt", self.cluster.state / "pki/webhook.key")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        try:
            self.create_pod()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
        self.cluster.delete("pods", self.name, namespace="synergy-system", wait=True)

    def create_pod(self):
        """Creates the agent's pod on the node, with this machine's address."""
        item = pod(self.name, gpus=0, cpu="1m", memory="1Mi", nodeName=self.node)
        item["metadata"] |= {"namespace": "synergy-system", "labels": {"app": NAME}}
        self.cluster.create(item)
        wait_for("the agent's pod to run", lambda: self.cluster.get("pods", self.name, namespace="synergy-system")[
            "status"].get("phase") == "Running")
        self.cluster.patch("Pod", self.name,
                           {"status": {"podIP": self.address, "podIPs": [{"ip": self.address}]}},
                           subresource="status", namespace="synergy-system")
