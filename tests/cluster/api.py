"""The API server in few words and without a process per call, for drivers that make many."""

import base64
import http.client
import json
import ssl
import tempfile
import urllib.parse


class ApiError(Exception):
    """The server is away, or has refused; `status` is 0 in the first case."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Api:
    """One connection, by the current context of a kubeconfig as `kubectl config view --raw --minify -o json` shows it."""

    def __init__(self, view):
        cluster, user = view["clusters"][0]["cluster"], view["users"][0]["user"]
        self.address = urllib.parse.urlparse(cluster["server"])
        self.tls = ssl.create_default_context(cadata=self.content(cluster, "certificate-authority"))
        with tempfile.NamedTemporaryFile("w") as pair:
            pair.write(self.content(user, "client-certificate") + "\n" + self.content(user, "client-key"))
            pair.flush()
            self.tls.load_cert_chain(pair.name)
        self.connection = None

    @staticmethod
    def content(entry, field):
        if field + "-data" in entry:
            return base64.b64decode(entry[field + "-data"]).decode()
        with open(entry[field], encoding="utf-8") as file:
            return file.read()

    def call(self, method, path, body=None, content_type="application/json"):
        if self.connection is None:
            self.connection = http.client.HTTPSConnection(self.address.hostname, self.address.port, timeout=10, context=self.tls)
        try:
            self.connection.request(method, path, body and json.dumps(body), {"Content-Type": content_type})
            answer = self.connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as problem:
            self.connection.close()
            self.connection = None
            raise ApiError(0, str(problem)) from problem
        if answer.status >= 300:
            raise ApiError(answer.status, text.decode(errors="replace")[:500])
        return json.loads(text)

    def items(self, path):
        return self.call("GET", path)["items"]

    def annotate(self, pod, annotations):
        self.call("PATCH", f"/api/v1/namespaces/default/pods/{pod}", {"metadata": {"annotations": annotations}},
                  "application/merge-patch+json")
