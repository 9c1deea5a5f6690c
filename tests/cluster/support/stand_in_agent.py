"""A node agent that reports what a test wants."""

import http.server
import json
import ssl
import threading

from cluster import free_port, pod, wait_for

NAME = "stand-in-agent"


class StandInAgent:
    """The agent of that node, while it is entered. It serves with the controller's own certificate,
    whose name is localhost. Agents of several nodes have the same port and addresses of their
    own."""

    def __init__(self, cluster, node, address="127.0.0.1", port=None):
        self.cluster, self.node, self.address = cluster, node, address
        self.name = NAME if port is None else f"{NAME}-{node}"
        self.reports = {}  # by the pod's uid
        self.renewals = 0  # queries that renewed turns on GPUs
        self.port = port or free_port()

    def report(self, name, **progress):
        """Reports this of a pod from now on, in the members of docs/internals/progress.md."""
        uid = self.cluster.pods()[name]["metadata"]["uid"]
        self.reports[uid] = {"uid": uid, **progress}

    def settings(self):
        """Returns the controller's section `progress`."""
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
        """Its pod is on the node, with this machine's address."""
        item = pod(self.name, gpus=0, cpu="1m", memory="1Mi", nodeName=self.node)
        item["metadata"] |= {"namespace": "synergy-system", "labels": {"app": NAME}}
        self.cluster.create(item)
        wait_for("the agent's pod to run", lambda: self.cluster.get("pods", self.name, namespace="synergy-system")[
            "status"].get("phase") == "Running")
        self.cluster.patch("Pod", self.name,
                           {"status": {"podIP": self.address, "podIPs": [{"ip": self.address}]}},
                           subresource="status", namespace="synergy-system")
