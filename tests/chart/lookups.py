"""An API server with only a few objects, which the chart looks up during an installation or
upgrade."""

import http.server
import json
import threading

WEBHOOKS = "admissionregistration.k8s.io/v1"
LEASES = "coordination.k8s.io/v1"


class Lookups:
    """Serves inside a `with` block. `webhooks` are configurations, `daemons` DaemonSets and `leases`
    Leases, as Helm renders them."""

    def __init__(self, webhooks=(), daemons=(), leases=()):
        answers = {
            "/version": {"major": "1", "minor": "35", "gitVersion": "v1.35.4"},
            "/apis/apps/v1": resources("apps/v1", "daemonsets", "DaemonSet"),
            "/apis/apps/v1/daemonsets": listed("apps/v1", "DaemonSet", daemons),
            f"/apis/{WEBHOOKS}": resources(WEBHOOKS, "mutatingwebhookconfigurations", "MutatingWebhookConfiguration",
                                           namespaced=False),
            f"/apis/{WEBHOOKS}/mutatingwebhookconfigurations": listed(WEBHOOKS, "MutatingWebhookConfiguration",
                                                                      webhooks),
            f"/apis/{LEASES}": resources(LEASES, "leases", "Lease"),
            **{f"/apis/{LEASES}/namespaces/{lease['metadata']['namespace']}/leases/{lease['metadata']['name']}":
               {"apiVersion": LEASES, "kind": "Lease", **lease} for lease in leases}}

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                found = answers.get(self.path.split("?", 1)[0])
                missing = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}
                body = json.dumps(found or missing).encode()
                self.send_response(200 if found else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever).start()
        return "--dry-run=server", "--kube-apiserver", f"http://127.0.0.1:{self.server.server_port}"

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def listed(version, kind, items):
    return {"kind": f"{kind}List", "apiVersion": version,
            "items": [{"apiVersion": version, "kind": kind, **item} for item in items]}


def resources(version, name, kind, namespaced=True):
    return {"kind": "APIResourceList", "groupVersion": version,
            "resources": [{"name": name, "namespaced": namespaced, "kind": kind, "verbs": ["get", "list"]}]}
