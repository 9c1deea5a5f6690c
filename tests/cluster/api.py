"""The API server, asked without kubectl in between: for what is timed, and for pods' changes as they come."""

import http.client
import json
import socket
import ssl
import threading
import time
import urllib.parse

PODS = "/api/v1/namespaces/default/pods"


class Api:
    """As the administrator."""

    def __init__(self, cluster):
        config = json.loads(cluster.kubectl("config", "view", "--raw", "--minify", "--output", "json"))
        server, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self.address = urllib.parse.urlsplit(server["server"]).netloc
        self.context = ssl.create_default_context(cafile=server["certificate-authority"])
        self.context.load_cert_chain(user["client-certificate"], user["client-key"])

    def request(self, method, path, body=None):
        connection = http.client.HTTPSConnection(self.address, context=self.context, timeout=600)
        text = None if body is None else json.dumps(body)
        connection.request(method, path, text, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        if answer.status >= 300:
            raise AssertionError(f"{method} {path}: {answer.status} {answer.read().decode()}")
        return connection, answer

    def create_pod(self, pod):
        connection, answer = self.request("POST", PODS, pod)
        answer.close()
        connection.close()


class PodWatch:
    """Every pod as it changes, with the time at which we heard of it: the API server's own times are whole seconds.

    with PodWatch(api) as watch: moment, pod = watch.first(lambda pod: ...)
    """

    def __init__(self, api):
        self.events = []  # (monotonic time, ADDED, MODIFIED or DELETED, pod)
        self.news = threading.Condition()
        self.connection, self.answer = api.request("GET", PODS + "?watch=1")
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
