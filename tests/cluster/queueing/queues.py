"""Kueue queues with RoundPolicies, as a user creates them (docs/queues.md), a watcher of the jobs
that have quota, and a base class for tests."""

import collections
import json
import math
import os
import pathlib
import subprocess
import time
import unittest
import urllib.request

import trainers
from api import Watch
from cluster import GPU, Cluster, Extender, wait_for

QUEUE = "kueue.x-k8s.io/queue-name"
CLASS = "kueue.x-k8s.io/priority-class"
ENOUGH = {"cpu": "1000", "memory": "1000Ti", GPU: "1000"}


def kueue(kind, name, **spec):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": name}, "spec": spec}


FLAVOR = kueue("ResourceFlavor", "any")


def priority_class(name, value):
    item = kueue("WorkloadPriorityClass", name)
    del item["spec"]
    return item | {"value": value}


def queue(name, quotas=None, **spec):
    """Returns a ClusterQueue with these quotas, or with more than enough, and a LocalQueue of the
    same name."""
    quotas = ENOUGH | (quotas or {})
    flavor = {"name": "any", "resources": [{"name": name, "nominalQuota": quota} for name, quota in quotas.items()]}
    groups = [{"coveredResources": list(quotas), "flavors": [flavor]}]
    local = kueue("LocalQueue", name, clusterQueue=name)
    local["metadata"]["namespace"] = "default"
    return [kueue("ClusterQueue", name, namespaceSelector={}, resourceGroups=groups, **spec), local]


def of_turns(name, gpus, **spec):
    """Returns a queue whose jobs may lose their turns."""
    return queue(name, {GPU: str(gpus)}, preemption={"withinClusterQueue": "LowerPriority"}, **spec)


# The admission check by which Synergy chooses a job's GPU type.
CHECK = "synergy-rounds"
CHECKED = {"admissionChecksStrategy": {"admissionChecks": [{"name": CHECK}]}}


def round_policy(name, order, seconds, least=1, cost=1, **spec):
    """Returns a RoundPolicy for the queue of that name."""
    return {"apiVersion": "synergy.io/v1alpha1", "kind": "RoundPolicy", "metadata": {"name": name},
            "spec": {"clusterQueues": [name], "policy": order, "roundSeconds": seconds, "leastRunSeconds": least,
                     "restartCostSeconds": cost} | spec}


CONTROLLER = "synergy-controller"
# The length of a round that outlasts every test.
FOR_EVER = 31622400


def job_of(workload):
    """Returns the name of the Workload's job or pod."""
    return workload["metadata"]["ownerReferences"][0]["name"]


def gpus_in_use(workload):
    """Returns the GPUs of the Workload's admission, without those of pods that Kueue counts as
    done."""
    done = {each["name"]: each["count"] for each in workload["status"].get("reclaimablePods", [])}
    gpus = 0
    for given in workload["status"]["admission"]["podSetAssignments"]:
        of_all, count = int(given.get("resourceUsage", {}).get(GPU, 0)), given.get("count", 1)
        gpus += of_all * (count - done.get(given["name"], 0)) // count
    return gpus


class Watcher:
    """Records which jobs have quota of a queue. It follows each change on the API server, so that
    it misses no state in between. The record is complete after the `with` block, or after
    look()."""

    def __init__(self, cluster, queue):
        self.cluster, self.queue = cluster, queue
        self.most = 0  # the most GPUs that were admitted at the same time
        self.holders = []  # sets of jobs that were admitted at the same time, in order
        self.turns = collections.Counter()  # job -> how many times it was admitted
        self.watches = {}

    def watch(self, kind):
        self.watches[kind] = Watch(self.cluster.api, self.cluster.api.kind(kind).path())

    def look(self):
        self.most, self.holders, self.turns = 0, [], collections.Counter()
        admitted = {}  # UID of a Workload -> (its job, GPUs)
        for _, change, item in self.watches["workloads"].until_now():
            if item["spec"]["queueName"] != self.queue:
                continue
            status = item.get("status", {})
            # Kueue leaves the admission in the status of a finished workload.
            is_over = change == "DELETED" or any((each["type"], each["status"]) == ("Finished", "True")
                                                 for each in status.get("conditions", []))
            admission = None if is_over else status.get("admission")
            uid, job = item["metadata"]["uid"], job_of(item)
            if admission is None:
                admitted.pop(uid, None)
            else:
                self.turns[job] += uid not in admitted
                admitted[uid] = (job, gpus_in_use(item))
            self.most = max(self.most, sum(gpus for _, gpus in admitted.values()))
            holders = {job for job, _ in admitted.values()}
            if self.holders[-1:] != [holders]:
                self.holders.append(holders)
        return self

    def __enter__(self):
        self.watch("workloads")
        return self

    def __exit__(self, failed, *_):
        if not failed:
            self.look()
        for watch in self.watches.values():
            watch.__exit__()


class QueueTest(unittest.TestCase):
    """A test with Kueue, an extender and the queues of its class. Deletes all of its objects at its
    end."""

    gpus = 0  # GPUs of the real node
    objects = ()  # objects that all tests of the class share

    @classmethod
    def setUpClass(cls):
        """Uses the cluster that these tests share; its real node has the trainers' image."""
        cls.cluster = Cluster()
        cls.prepare()

    @classmethod
    def prepare(cls):
        if cls.gpus:
            trainers.advertise_gpus(cls.cluster, cls.gpus)
            cls.addClassCleanup(trainers.advertise_gpus, cls.cluster, 0)
        cls.addClassCleanup(cls.remove_all)
        cls.cluster.create(*cls.objects)
        for item in cls.objects:
            if item["kind"] == "TrainingProfile":
                wait_for("the profiles to be judged",
                         lambda name=item["metadata"]["name"]: cls.cluster.get("tp", name).get("status", {}).get(
                             "demand"))
        cls.extender = Extender(cls.cluster)
        cls.extender.start()
        cls.addClassCleanup(lambda: (cls.extender.end(), cls.extender.log.close()))

    @classmethod
    def remove_all(cls):
        for item in reversed(cls.objects):
            cls.cluster.delete(item["kind"], item["metadata"]["name"])
        # Kueue releases the objects one after the other.
        wait_for("what the tests share to be gone", lambda: not any(
            cls.cluster.called("GET", cls.cluster.api.kind(item["kind"]).path(name=item["metadata"]["name"]),
                               absent=True) for item in cls.objects))

    def setUp(self):
        self.made = []
        self.cluster.clear()
        self.addCleanup(self.remove)

    def create(self, *items):
        self.made += [(item["kind"], item["metadata"]["name"]) for item in items]
        self.cluster.create(*items)

    def remove(self):
        for kind, name in reversed(self.made):
            self.cluster.delete(kind, name)
        self.cluster.clear()
        wait_for("all workloads to be gone", lambda: not self.cluster.get("workloads")["items"])

    def order(self, queue, policy, **spec):
        """Creates a RoundPolicy whose rounds begin only when the test calls begin_round()."""
        self.create(round_policy(queue, policy, FOR_EVER, **spec))
        wait_for("the queue to be ordered",
                 lambda: self.cluster.get("roundpolicy", queue).get("status", {}).get("queues", [{}])[0].get("ready"))

    def await_ordered(self, queue, count):
        """Waits until the controller orders that many jobs in the queue."""
        wait_for(f"{count} jobs of {queue} to be ordered", lambda: count == sum(
            self.metric(f'synergy_rounds_workloads{{band="{band}",cluster_queue="{queue}"}}')
            for band in ("runs", "next", "waits")))

    def begin_round(self, queue):
        """Begins a round at once, and returns when the controller has decided. No further round
        begins by itself, so that a slow machine changes nothing."""
        # A round begins at multiples of its length, so a change of the length begins another round.
        seconds = self.cluster.get("roundpolicy", queue)["spec"]["roundSeconds"]
        other = FOR_EVER - 1 if seconds == FOR_EVER else FOR_EVER
        generation = self.cluster.patch("roundpolicy", queue,
                                        {"spec": {"roundSeconds": other}})["metadata"]["generation"]
        wait_for("the round to begin",
                 lambda: self.cluster.get("roundpolicy", queue)["status"].get("observedGeneration") == generation)

    def by_a_round(self, queue, what, check):
        """Begins a round, waits until `check` returns something true, and returns that. Begins
        another round if the leader stopped leading before it had decided, which can happen on a
        busy machine."""
        begun = -math.inf

        def passed():
            nonlocal begun
            found = check()
            if not found and time.monotonic() > begun + 30:
                self.begin_round(queue)
                begun = time.monotonic()
            return found
        return wait_for(what, passed)

    def workloads(self, queue):
        """Returns job -> Workload, for the Workloads in that queue."""
        return {job_of(item): item
                for item in self.cluster.get("workloads")["items"] if item["spec"]["queueName"] == queue}

    def workload(self, job):
        return wait_for(f"the workload of {job}", lambda: next(
            (item for item in self.cluster.get("workloads")["items"] if job_of(item) == job), None))

    def priorities(self, queue):
        return {name: item["spec"].get("priority", 0) for name, item in self.workloads(queue).items()}

    def ask(self, path):
        """Returns the controller's answer to a request for this path."""
        with urllib.request.urlopen(self.cluster.environment["SYNERGY_CONTROLLER_URL"] + path, timeout=10) as answer:
            return answer.read().decode()

    def metric(self, line):
        """Returns the value of the controller's metric with this name and these labels; 0 if there
        is none."""
        values = [text.rsplit(" ", 1)[1] for text in self.ask("/metrics").splitlines() if text.startswith(line + " ")]
        return float(values[0]) if values else 0.0

    def progress(self):
        return self.cluster.progress()

    def synergy(self, *arguments):
        done = subprocess.run([str(pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy"), *arguments],
                              env=self.cluster.environment, check=True, capture_output=True, text=True)
        return done.stdout

    def read(self, *arguments):
        return json.loads(self.synergy(*arguments, "--output", "json"))

    def refusal(self, method, kind, name, body=None):
        """Returns the API server's refusal of a call by the controller; empty if the controller may
        make the call."""
        return self.cluster.complaint(method, kind, name, body, user=CONTROLLER)

    def may(self, verb, group, resource):
        """Returns whether the controller has this right."""
        spec = {"user": CONTROLLER,
                "resourceAttributes": {"namespace": "default", "verb": verb, "group": group, "resource": resource}}
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
        return self.cluster.called("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                                   review)["status"]["allowed"]

    def stop_controller(self):
        """Stops the controller as if its machine were gone. It starts again when the test ends."""
        self.addCleanup(self.cluster.script, "start", CONTROLLER)
        self.cluster.script("stop", CONTROLLER, "KILL")

    def start_controller(self):
        self.cluster.script("start", CONTROLLER)
