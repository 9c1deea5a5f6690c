"""The API server, asked without kubectl in between: for what is timed, for many calls, and for pods' changes as they come."""

import http.client
import json
import socket
import ssl
import threading
import time
import urllib.parse

PODS = "/api/v1/namespaces/default/pods"


class ApiError(Exception):
    """The server is away, or has refused; `status` is 0 in the first case."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Api:
    """As the administrator. Calls share a connection, so one thread makes them."""

    def __init__(self, cluster):
        config = json.loads(cluster.kubectl("config", "view", "--raw", "--minify", "--output", "json"))
        server, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self.address = urllib.parse.urlsplit(server["server"]).netloc
        self.context = ssl.create_default_context(cafile=server["certificate-authority"])
        self.context.load_cert_chain(user["client-certificate"], user["client-key"])
        self.connection = None

    def call(self, method, path, body=None, content_type="application/json"):
        if self.connection is None:
            self.connection = http.client.HTTPSConnection(self.address, timeout=10, context=self.context)
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

    def open(self, path):
        """A connection of its own, and its answer, to be read as it comes."""
        connection = http.client.HTTPSConnection(self.address, context=self.context, timeout=600)
        connection.request("GET", path)
        return connection, connection.getresponse()

    def items(self, path):
        return self.call("GET", path)["items"]

    def create_pod(self, pod):
        self.call("POST", PODS, pod)

    def annotate(self, pod, annotations):
        self.call("PATCH", f"{PODS}/{pod}", {"metadata": {"annotations": annotations}}, "application/merge-patch+json")


class PodWatch:
    """Every pod as it changes, with the time at which we heard of it: the API server's own times are whole seconds.

    with PodWatch(api) as watch: moment, pod = watch.first(lambda pod: ...)
    """

    def __init__(self, api):
        self.events = []  # (monotonic time, ADDED, MODIFIED or DELETED, pod)
        self.news = threading.Condition()
        self.connection, self.answer = api.open(PODS + "?watch=1")
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        try:
            for line in self.answer:
                event = json.loads(line)
                with self.news:
                    self.events.append((time.monotonic(), event["type"], event["object"]))
                    self.news.notify_all()
        except (OSError, ValueError, http.client.HTTPException):
            pass  # closed

    def first(self, check, since=0.0, seconds=60):
        """(time, pod) of the first event not before `since` for whose pod `check` is true. The limit only bounds a failure."""
        deadline = time.monotonic() + seconds
        seen = 0
        with self.news:
            while True:
                for moment, kind, pod in self.events[seen:]:
                    if moment >= since and kind != "DELETED" and check(pod):
                        return moment, pod
                seen = len(self.events)
                if not self.news.wait(deadline - time.monotonic()):
                    raise AssertionError(f"waited {seconds} s in vain for a change of a pod")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Ends the read that the thread waits in.
        self.connection.sock.shutdown(socket.SHUT_RDWR)
        self.thread.join(10)
        self.answer.close()
        self.connection.close()
