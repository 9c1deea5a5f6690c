"""Runs the same jobs on a real control plane and in `synergy simulate`, from the same cluster.

The pods are on simulated nodes, so this module computes their work: it takes the profile's
throughput for the amounts that the pod's status reports as in force, and deletes the pod when the
work is done.
"""

import contextlib
import csv
import json
import os
import pathlib
import random
import statistics
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from api import PODS, Api, ApiError, PodWatch
from cluster import GPU, ROOT, wait_for
from invariants import amounts, annotation, managed, quantity

TRACE = ROOT / "tests/data/synergy/static_100job.csv"
MEASURED = json.loads((ROOT / "tests/data/synergy/reference/profiles.json").read_text(encoding="utf-8"))
# Model -> its speeds on servers with 3 CPUs for each GPU.
MODELS = {model: gpus["1"]["tput"] for model, gpus in MEASURED["3"].items() if "1" in gpus}
# This workload is equally fast with any amounts, so the test can choose when its pods end.
STEADY = {"apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile", "metadata": {"name": "steady"},
          "spec": {"gpus": 1, "processMemory": "1Mi", "points": [{"cpu": 1, "memory": "20G", "throughput": 1},
                                                                 {"cpu": 9, "memory": "60G", "throughput": 1}]}}
ROUND = 1  # seconds, of the tuner
STEP = 60  # simulated seconds between two arrivals


def points(model):
    """Yields (CPU, GB, throughput) with one GPU. A shorter row lacks the smallest amounts of
    memory."""
    for cpu, row in zip(MEASURED["_doc"]["rows_cpu_per_gpu"], MODELS[model]):
        memories = MEASURED["_doc"]["cols_mem_gb_per_gpu"][-len(row):]
        yield from ((cpu, memory, throughput) for memory, throughput in zip(memories, row))


def training_profile(model):
    measured = [{"cpu": cpu, "memory": f"{memory}G", "throughput": throughput}
                for cpu, memory, throughput in points(model)]
    return {"apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile", "metadata": {"name": model},
            "spec": {"gpus": 1, "processMemory": "1Mi", "points": measured}}


def pod(name, model, gpus, enforcement):
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "labels": {"synergy.io/profile": model, "synergy.io/enforcement": enforcement}},
        "spec": {
            "schedulerName": "synergy-scheduler", "restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "train", "image": "synergy.test/busybox:1",
                            "resources": {"limits": {GPU: str(gpus)}}}],
        },
    }


def simulated_nodes(cluster):
    nodes = cluster.get("nodes", labelSelector="synergy.test/node=simulated")["items"]
    return sorted(nodes, key=lambda node: node["metadata"]["name"])


@contextlib.contextmanager
def prepared(cluster, nodes, **sections):
    """Creates the models' profiles, shortens rounds, and leaves `nodes` of the simulated nodes
    schedulable. `sections`: additional sections of the controller's configuration."""
    profiles = [training_profile(model) for model in MODELS] + [STEADY]
    cluster.create(*profiles)
    closed = [node["metadata"]["name"] for node in simulated_nodes(cluster)[nodes:]]
    for name in closed:
        cluster.patch("node", name, {"spec": {"unschedulable": True}})
    try:
        with cluster.controller(tuner=f"{{round: {ROUND}s}}", **sections):
            for profile in profiles:
                name = profile["metadata"]["name"]
                wait_for(f"profile {name} to be judged",
                         lambda name=name: cluster.get("trainingprofile", name).get("status", {}).get("demand"))
            try:
                yield
            finally:
                cluster.clear()
    finally:
        cluster.delete("trainingprofiles")
        for name in closed:
            cluster.patch("node", name, {"spec": {"unschedulable": None}})


def synergy(cluster, *arguments):
    command = [str(pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy"), *map(str, arguments)]
    done = subprocess.run(command, env=cluster.environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def made_again(*recordings):
    """Returns, for each recording, the result of `synergy replay`: whether its decisions are the
    same when they are made again."""
    program = pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy"
    done = subprocess.run([str(program), "replay", "--output", "json", *map(str, recordings)],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def save_cluster(cluster, file):
    synergy(cluster, "simulate", "--from-cluster", "--save-cluster", file)


def write_trace(file, jobs):
    """`jobs`: (id, model, arrival, GPUs, seconds at the fair share)."""
    lines = ["job_id,model,arrival_s,total_iterations,gpus,duration_s_at_fair"]
    lines += [f"{number},{model},{arrival:.6f},1,{gpus},{seconds:.6f}"
              for number, model, arrival, gpus, seconds in jobs]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


# ---- a pod's amounts


def in_force(item):
    """Returns the (CPU, memory) that the kubelet reports; None before it reports them."""
    container = managed(item)
    statuses = item["status"].get("containerStatuses", []) if container else []
    given = next((s.get("resources", {}).get("requests") for s in statuses if s["name"] == container["name"]), None)
    return (quantity(given["cpu"]), quantity(given["memory"])) if given else None


def requested(item):
    asked = managed(item)["resources"]["requests"]
    return quantity(asked["cpu"]), quantity(asked["memory"])


def bound_with(item):
    """Returns what the extender chose for a pod that has just been bound."""
    change = json.loads(annotation(item, "change") or "{}")
    if change.get("kind", "").lower() == "allocated":
        return quantity(change["to"]["cpu"]), quantity(change["to"]["memory"])
    return requested(item)


def unschedulable(item):
    return any(c["type"] == "PodScheduled" and c["status"] == "False" and c.get("reason") == "Unschedulable"
               for c in item["status"].get("conditions", []))


def is_settled(item):
    if item["metadata"].get("deletionTimestamp") or annotation(item, "hold"):
        return False
    if not item["spec"].get("nodeName"):
        return unschedulable(item)
    change = annotation(item, "change")
    to = change and json.loads(change)["to"]
    announced = to and (quantity(to["cpu"]), quantity(to["memory"])) != requested(item)
    return in_force(item) == requested(item) and not announced


def place(item):
    """Returns (node, CPU, memory) in the format of a simulation's file of changes."""
    if not item["spec"].get("nodeName"):
        return None
    cpu, memory = requested(item)
    return item["spec"]["nodeName"], float(cpu), int(memory)


def wait_until_quiet(cluster, seconds=180):
    """Returns the pods when all are settled and none has changed while the tuner divided all nodes
    twice."""
    seen, since = None, 0

    def quiet():
        nonlocal seen, since
        rounds = cluster.controller_metric("synergy_tuner_rounds_total")
        pods = cluster.pods()
        versions = {name: item["metadata"]["resourceVersion"] for name, item in pods.items()}
        if versions != seen or not all(is_settled(item) for item in pods.values()):
            # The next round may already have begun, and the last round's decisions are visible only
            # one round later.
            seen, since = versions, rounds + 3
        return [pods] if rounds >= since else None
    return wait_for("quiet", quiet, seconds)[0]


# ---- one by one


def mixed_jobs(count, seed):
    """Returns (name, model, GPUs). Every fifth pod is deleted again when the cluster is quiet."""
    chance = random.Random(seed)
    for number in range(count):
        model = "steady" if number % 5 == 4 else chance.choice(sorted(MODELS))
        yield f"job-{number}-0", model, chance.choice((1, 1, 2, 4))


class OneByOne:
    """Creates each pod when the cluster is quiet, and compares its place."""

    def __init__(self, cluster, folder, count, seed):
        self.cluster, self.folder = cluster, folder
        self.jobs = list(mixed_jobs(count, seed))

    def run(self):
        """Returns [(moment, pod, what, real, simulated)] for everything that was compared. A place
        is (node, CPU, memory), or None if the pod has none."""
        save_cluster(self.cluster, self.folder / "cluster.json")
        real = self.run_really()
        simulated = self.simulate()
        compared = []
        for moment, what, pods in real:
            expected = simulated_at(simulated, moment)
            compared += [(what, name, pods.get(name), expected.get(name))
                         for name in sorted(pods.keys() | expected.keys())]
        at_bind = {row["pod"]: row_place(row) for row in simulated if row["what"] == "bound"}
        compared += [("at bind", name, given, at_bind.get(name)) for name, given in sorted(self.bound.items())]
        return compared

    def run_really(self):
        with PodWatch(Api(self.cluster)) as watch:
            return self.run_watched(watch)

    def run_watched(self, watch):
        moments, self.bound = [], {}
        for number, (name, model, gpus) in enumerate(self.jobs):
            self.cluster.create(pod(name, model, gpus, "shared"))
            # Takes the change that binds the pod: a moment later the tuner may have changed it.
            _, first = watch.first(lambda item, name=name: item["metadata"]["name"] == name
                                   and (item["spec"].get("nodeName") or unschedulable(item)))
            pods = wait_until_quiet(self.cluster)
            if first["spec"].get("nodeName") and managed(first):
                cpu, memory = bound_with(first)
                self.bound[name] = first["spec"]["nodeName"], float(cpu), int(memory)
            moments.append((number * STEP + STEP / 2 - 2, f"after {name}",
                            {n: place(p) for n, p in pods.items() if place(p)}))
            if model == "steady" and place(pods[name]):
                self.cluster.delete("pod", name)
                pods = wait_until_quiet(self.cluster)
                moments.append(((number + 1) * STEP - 1, f"without {name}",
                                {n: place(p) for n, p in pods.items() if place(p)}))
        return moments

    def simulate(self):
        trace, changes = self.folder / "one-by-one.csv", self.folder / "changes.csv"
        write_trace(trace, [(number, model, number * STEP, gpus, STEP / 2 if model == "steady" else 1e6)
                            for number, (_, model, gpus) in enumerate(self.jobs)])
        synergy(self.cluster, "simulate", "--cluster", self.folder / "cluster.json", "--trace", trace,
                "--round", f"{ROUND}s", "--restart-cost", "0s", "--changes", changes, "--quiet")
        with open(changes, encoding="utf-8") as file:
            return list(csv.DictReader(file))


def row_place(row):
    return row["node"], float(row["cpu"]), int(row["memory"])


def simulated_at(changes, moment):
    pods = {}
    for row in changes:
        if float(row["time_s"]) > moment:
            break
        if row["what"] == "gone":
            pods.pop(row["pod"], None)
        else:
            pods[row["pod"]] = row_place(row)
    return pods


def difference_text(what, name, real, simulated):
    def text(side):
        return "nowhere" if side is None else f"{side[0]} with {side[1]:g} CPU and {side[2] / 1e9:g} GB"

    return f"{what}: {name} is on {text(real)}, by the simulator on {text(simulated)}"


# ---- free runs


class Profile:
    """Interpolates a measured grid of one GPU, as docs/internals/sizing.md says."""

    def __init__(self, model):
        self.cells = {(cpu, memory * 1e9): throughput for cpu, memory, throughput in points(model)}
        self.cpus = sorted({cpu for cpu, _ in self.cells})
        self.memories = sorted({memory for _, memory in self.cells})
        for i, cpu in enumerate(self.cpus):  # less is never faster
            for j, memory in enumerate(self.memories):
                before = [self.cells[self.cpus[i - 1], memory]] if i else []
                before += [self.cells[cpu, self.memories[j - 1]]] if j else []
                self.cells[cpu, memory] = max([self.cells[cpu, memory], *before])

    @staticmethod
    def locate(axis, amount):
        """Returns (index, fraction of the way to the next, factor)."""
        if amount >= axis[-1]:
            return len(axis) - 1, 0, 1
        if amount < axis[0]:
            return 0, 0, amount / axis[0]
        below = max(i for i, known in enumerate(axis) if known <= amount)
        return below, (amount - axis[below]) / (axis[below + 1] - axis[below]), 1

    def throughput(self, cpu, memory):
        row, row_part, row_factor = self.locate(self.cpus, cpu)
        column, column_part, column_factor = self.locate(self.memories, memory)

        def along_cpu(j):
            low = self.cells[self.cpus[row], self.memories[j]]
            return low + row_part * (self.cells[self.cpus[row + 1], self.memories[j]] - low) if row_part else low

        low = along_cpu(column)
        if column_part:
            high = along_cpu(column + 1)
            low = low / (1 - column_part + column_part * low / high) if low != high else low
        return low * row_factor * column_factor


class Training:
    """A pod's work, in seconds at the fair share."""

    def __init__(self, model, gpus, seconds, fair_share):
        self.profile, self.gpus, self.left = Profile(model), gpus, seconds
        self.fair = self.profile.throughput(*fair_share)
        self.created = self.bound = self.started = self.ended = None
        self.speed, self.at = 0.0, 0.0

    def give(self, amounts_in_force, now):
        self.work(now)
        cpu, memory = (float(amount) / self.gpus for amount in amounts_in_force)
        self.speed = self.profile.throughput(cpu, memory) / self.fair

    def work(self, now):
        self.left -= (now - self.at) * self.speed
        self.at = now


def recorded_jobs(count, compression):
    """Returns (number, model, arrival, GPUs, seconds) of the recorded static trace. All its jobs
    arrive at once: as fast as they can be created."""
    with open(TRACE, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))[:count]
    return [(int(row["job_id"]), row["model"], 0.03 * number, int(row["gpus"]),
             float(row["duration_s_at_fair"]) / compression)
            for number, row in enumerate(rows)]


class FreeRun:
    """Creates the jobs as they arrive, and ends each when its work is done.

    Threads make the calls: a thread that waits for an answer would miss the end of the next job.
    """

    def __init__(self, cluster, jobs, fair_share):
        self.cluster, self.jobs = cluster, jobs
        self.own = threading.local()
        self.deletions = []  # seconds of each call
        self.trainings = {f"job-{number}-0": Training(model, gpus, seconds, fair_share)
                          for number, model, _, gpus, seconds in jobs}
        self.asked = {}  # pod -> (time, amounts in its spec since then)
        self.resizes = []
        self.seen = 0

    def run(self, seconds=900):
        deadline = time.monotonic() + seconds
        with PodWatch(Api(self.cluster)) as watch, ThreadPoolExecutor(1) as creator, ThreadPoolExecutor(4) as deleter:
            calls = []
            started = time.monotonic()
            arriving = list(self.jobs)
            while any(t.ended is None for t in self.trainings.values()):
                now = time.monotonic()
                if arriving and started + arriving[0][2] <= now:
                    number, model, _, gpus, _ = arriving.pop(0)
                    self.trainings[f"job-{number}-0"].created = now
                    calls.append(creator.submit(self.create, pod(f"job-{number}-0", model, gpus, "strict")))
                self.follow(watch)
                calls += [deleter.submit(self.delete, name) for name in self.end_finished()]
                if now > deadline:
                    raise AssertionError(
                        f"after {seconds} s: {[n for n, t in self.trainings.items() if t.ended is None]}")
                with watch.news:
                    watch.news.wait(0.01)
            for call in calls:
                call.result()
        wait_for("all pods to be gone", lambda: not self.cluster.pods())

    def api(self):
        """Returns this thread's client, whose calls share a connection."""
        if not hasattr(self.own, "api"):
            self.own.api = Api(self.cluster)
        return self.own.api

    def create(self, item):
        self.api().create_pod(item)

    def delete(self, name):
        begun = time.monotonic()
        try:
            self.api().call("DELETE", f"{PODS}/{name}?gracePeriodSeconds=0")
        except ApiError as error:
            if error.status != 404:
                raise
        self.deletions.append(time.monotonic() - begun)

    def follow(self, watch):
        with watch.news:
            events, self.seen = watch.events[self.seen:], len(watch.events)
        for moment, kind, item in events:
            training = self.trainings.get(item["metadata"]["name"])
            if training is None or training.ended is not None or kind == "DELETED":
                continue
            if training.bound is None and item["spec"].get("nodeName"):
                training.bound = moment
            given = in_force(item)
            if given is None or item["status"].get("phase") != "Running":
                continue
            if training.started is None:
                training.started = training.at = moment
            self.time_resize(item, given, moment)
            training.give(given, moment)

    def time_resize(self, item, given, moment):
        name, wanted = item["metadata"]["name"], requested(item)
        since, asked = self.asked.get(name, (moment, given))
        if wanted == given and asked != given:
            self.resizes.append(moment - since)
        self.asked[name] = (since if asked == wanted else moment, wanted)

    def end_finished(self):
        """Deletes the pods that have finished their work; returns their names."""
        now = time.monotonic()
        for name, training in self.trainings.items():
            if training.started is None or training.ended is not None:
                continue
            training.work(now)
            if training.left <= 0:
                training.ended = now
                yield name

    def completion_times(self):
        return [training.ended - training.created for training in self.trainings.values()]

    def course(self):
        """Returns pod name -> the seconds from the first pod's creation until it was bound, ran and
        ended."""
        first = min(training.created for training in self.trainings.values())
        return {name: [round(moment - first, 3) for moment in (t.bound, t.started, t.ended)]
                for name, t in self.trainings.items()}


def fair_share(cluster):
    """Returns the (CPU, memory) for one GPU of the simulated nodes, which are alike."""
    node = simulated_nodes(cluster)[0]["status"]["allocatable"]
    gpus = int(node[GPU])
    return float(quantity(node["cpu"])) / gpus, float(quantity(node["memory"])) / gpus


def measured_latencies(runs):
    """Returns the value of `--latency`, in seconds, that follows from these runs' watches."""
    schedule, bind, start, resize = [], [], [], []
    for run in runs:
        known = sorted((t for t in run.trainings.values()), key=lambda t: t.bound)
        burst = [t for t in known if t.bound - known[0].bound < 5]
        schedule += [b.bound - a.bound for a, b in zip(burst, burst[1:])]
        bind.append(known[0].bound - known[0].created)
        start += [t.started - t.bound for t in known]
        resize += run.resizes
    pace = statistics.median(schedule) if schedule else 0.01
    return {"schedule": pace, "bind": max(0.001, statistics.median(bind) - pace), "start": statistics.median(start),
            "resize": statistics.mean(resize) if resize else 1.0}


def latency_text(latencies):
    return ",".join(f"{name}={max(1, round(seconds * 1000))}ms" for name, seconds in latencies.items())


def simulated_completion_times(cluster, folder, jobs, latencies):
    trace, times = folder / "free.csv", folder / "free-jobs.csv"
    write_trace(trace, jobs)
    synergy(cluster, "simulate", "--cluster", folder / "cluster.json", "--trace", trace,
            "--mechanism", "synergy-strict",
            "--round", f"{ROUND}s", "--restart-cost", "0s", "--latency", latency_text(latencies), "--jobs-csv", times,
            "--quiet")
    with open(times, encoding="utf-8") as file:
        return [float(row["finish_s"]) - float(row["submit_s"]) for row in csv.DictReader(file)]
