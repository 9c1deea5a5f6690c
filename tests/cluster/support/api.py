"""Calls the API server without kubectl: for calls that are timed, for many calls, and to watch pods
as they change."""

import atexit
import contextlib
import http.client
import json
import socket
import ssl
import threading
import time
import typing
import urllib.parse
import weakref

PODS = "/api/v1/namespaces/default/pods"
MERGE_PATCH = "application/merge-patch+json"
# The API server closes a connection without requests after 90 s, even in the middle of the next
# request.
IDLE = 45
STRATEGIC = "application/strategic-merge-patch+json"  # what kubectl patch sends


def causes_in(text):
    """Returns the reasons in a Status's details."""
    try:
        return [cause.get("reason") for cause in json.loads(text)["details"]["causes"]]
    except (ValueError, KeyError, TypeError):
        return []


class ApiError(Exception):
    """The API server does not answer (`status` is 0) or has refused the call. `causes`: the reasons
    that it names, if any."""

    def __init__(self, status, message, causes=()):
        super().__init__(message)
        self.status = status
        self.causes = list(causes)


def message_of(text):
    """Returns the message of the API server's refusal: a Status's message, or the raw answer."""
    try:
        return json.loads(text)["message"]
    except (ValueError, KeyError, TypeError):
        return text.decode(errors="replace")[:500]


class Kind(typing.NamedTuple):
    folder: str  # path in the API, such as /apis/apps/v1
    resource: str
    name: str
    namespaced: bool

    def path(self, namespace="default", name=None):
        """Returns the path of one object, or of all; without a namespace, of all namespaces."""
        within = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        return f"{self.folder}{within}/{self.resource}" + (f"/{name}" if name else "")


class Api:
    """A client with a token, or with the rights of the administrator, who may impersonate any user.
    Each thread has its own connection."""

    def __init__(self, cluster):
        config = json.loads(cluster.kubectl("config", "view", "--raw", "--minify", "--output", "json"))
        server, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self.address = urllib.parse.urlsplit(server["server"]).netloc
        self.context = ssl.create_default_context(cafile=server["certificate-authority"])
        self.anonymous = ssl.create_default_context(cafile=server["certificate-authority"])
        self.context.load_cert_chain(user["client-certificate"], user["client-key"])
        self.own = threading.local()
        self.opened = weakref.WeakSet()
        atexit.register(self.close)
        self.kinds = {}  # each name of a kind -> its Kind

    def call(self, method, path, body=None, content_type="application/json", accept="application/json", user=None,
             token=None):
        headers = {"Content-Type": content_type, "Accept": accept} | ({"Impersonate-User": user} if user else {})
        if token:
            headers["Authorization"] = f"Bearer {token}"
            with contextlib.closing(
                http.client.HTTPSConnection(self.address, timeout=60, context=self.anonymous)) as connection:
                return self.answer(connection, method, path, body, headers)
        connection = getattr(self.own, "connection", None)
        now = time.monotonic()
        if connection is not None and now > self.own.used + IDLE:
            connection.close()
            connection = None
        self.own.used = now
        if connection is None:
            connection = self.own.connection = http.client.HTTPSConnection(self.address, timeout=60,
                                                                           context=self.context)
            self.opened.add(connection)
        try:
            return self.answer(connection, method, path, body, headers)
        except ApiError as error:
            if not error.status:
                connection.close()
                self.own.connection = None
            raise

    def answer(self, connection, method, path, body, headers):
        try:
            connection.request(method, path, body and json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as problem:
            raise ApiError(0, str(problem) or type(problem).__name__) from problem
        if answer.status >= 300:
            raise ApiError(answer.status, message_of(text), causes_in(text))
        return json.loads(text)

    def close(self):
        for connection in list(self.opened):
            connection.close()

    def leave(self):
        """Closes the calling thread's connection. A thread calls it before it ends."""
        if connection := getattr(self.own, "connection", None):
            connection.close()

    def open(self, path):
        """Returns a new connection and its answer, for reading while the answer arrives."""
        connection = http.client.HTTPSConnection(self.address, context=self.context, timeout=600)
        connection.request("GET", path)
        return connection, connection.getresponse()

    def items(self, path):
        return self.call("GET", path)["items"]

    def kind(self, name):
        """Returns the kind that has this name: "pods", "pod", "po", "Pod", "deployments.apps"."""
        if name.lower() not in self.kinds:
            self.kinds = self.discover()
        if name.lower() not in self.kinds:
            raise ApiError(404, f"the API server has no kind {name}")
        return self.kinds[name.lower()]

    def discover(self):
        kinds = {}
        for root in ("/api", "/apis"):
            for group in self.call(
                "GET", root, accept="application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")["items"]:
                group_name = group["metadata"].get("name", "")
                # The preferred version comes first; some kinds exist only in another version.
                for version, entry in ((version, entry) for version in group["versions"]
                                       for entry in version.get("resources", [])):
                    folder = (f"{root}/{group_name}/{version['version']}" if group_name
                              else f"{root}/{version['version']}")
                    kind = Kind(folder, entry["resource"], entry["responseKind"]["kind"],
                                entry["scope"] == "Namespaced")
                    names = [entry["resource"], entry.get("singularResource"), kind.name, *entry.get("shortNames", [])]
                    for name in filter(None, names):
                        # Core kinds come first, so that "events" means the core kind.
                        kinds.setdefault(name.lower(), kind)
                        kinds.setdefault(f"{name}.{group_name}".lower(), kind)
        return kinds

    def create_pod(self, pod):
        self.call("POST", PODS, pod)

    def annotate(self, pod, annotations):
        self.call("PATCH", f"{PODS}/{pod}", {"metadata": {"annotations": annotations}}, MERGE_PATCH)


class Watch:
    """Records each change of the objects under a path, with the time at which it arrives: the API
    server's own times are in whole seconds.

    with Watch(api, PODS) as watch: moment, pod = watch.first(lambda pod: ...)
    """

    def __init__(self, api, path):
        self.api, self.path = api, path
        self.events = []  # (monotonic time, ADDED, MODIFIED or DELETED, object)
        self.news = threading.Condition()
        self.connection, self.answer = api.open(path + "?watch=1")
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
            pass  # the connection was closed

    def first(self, check, since=0.0, seconds=60):
        """Returns (time, object) of the first event not before `since` whose object satisfies
        `check`. `seconds` only limits how long a failing test waits."""
        deadline = time.monotonic() + seconds
        seen = 0
        with self.news:
            while True:
                for moment, kind, item in self.events[seen:]:
                    if moment >= since and kind != "DELETED" and check(item):
                        return moment, item
                seen = len(self.events)
                if not self.news.wait(deadline - time.monotonic()):
                    raise AssertionError(f"waited {seconds} s in vain for a change of {self.path}")

    def until_now(self, seconds=60):
        """Returns all events, once they include the last change of each object that exists now.
        `seconds` only limits how long a failing test waits."""
        wanted = {item["metadata"]["uid"]: int(item["metadata"]["resourceVersion"])
                  for item in self.api.items(self.path)}
        deadline = time.monotonic() + seconds
        with self.news:
            while True:
                seen = {item["metadata"]["uid"]: int(item["metadata"]["resourceVersion"]) for _, _, item in self.events}
                if all(seen.get(uid, 0) >= version for uid, version in wanted.items()):
                    return list(self.events)
                if not self.news.wait(deadline - time.monotonic()):
                    raise AssertionError(f"the watch of {self.path} does not keep up, or has ended")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Interrupts the read in which the thread waits.
        self.connection.sock.shutdown(socket.SHUT_RDWR)
        self.thread.join(10)
        self.answer.close()
        self.connection.close()


class PodWatch(Watch):
    def __init__(self, api):
        super().__init__(api, PODS)
