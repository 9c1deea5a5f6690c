"""Creates and deletes training pods on simulated nodes, kills parts of the control plane and of
Synergy meanwhile, and checks the invariants throughout. scripts/soak.sh brings up what it needs.

  soak.py [--seconds N] [--pods N] [--seed N] [--output json]

After that, it runs the hundred jobs of the recorded trace with the same checks and without kills.
The exit status is 1 if an invariant did not hold; each violation is one line.
"""

import argparse
import csv
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time
import urllib.request

from api import PODS, Api, ApiError
from cluster import GPU, ROOT, Cluster, Extender
from invariants import IdleGpus, Invariants, annotation, managed, quantity

MODELS = [path.stem for path in sorted((ROOT / "examples/profiles").glob("*.yaml"))]
KILL_EVERY = 20
API_SERVER_RESTART_EVERY = 45
REFUSE_EVERY = 7
# Time is counted in looks at the cluster that the API server has answered, at most one a second. So
# the limits stretch on a busy machine, where everything takes longer. This is how long GPUs may be
# idle while a pod waits for which room can be made: an API server takes 9 s to come back, and may
# be killed again.
LONGEST_IDLE = 120
OTHERS_LIMIT = 60
# The wording of the API server, as log lines quote it.
DENIED = re.compile(
    r'(?:\\"([^"\\]+)\\" is forbidden: |)User \\"([^"\\]+)\\" cannot (\w+) resource \\"(\w+)(?:/(\w+)|)\\"')


def training_pod(name, model, gpus, seconds):
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "labels": {"synergy.io/profile": model, "soak": "training"},
                     "annotations": {"synergy.test/run-seconds": str(seconds)}},
        "spec": {
            # The pod names its scheduler, because the webhook that sets it is sometimes down.
            "schedulerName": "synergy-scheduler",
            "restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "tolerations": [{"operator": "Exists"}],
            "nodeSelector": {"synergy.test/node": "simulated"},
            "containers": [{"name": "train", "image": "synergy.test/busybox:1",
                            "resources": {"limits": {GPU: str(gpus)}}}],
        },
    }


def other_pod(name):
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "labels": {"soak": "other"}, "annotations": {"synergy.test/run-seconds": "5"}},
        "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "tolerations": [{"operator": "Exists"}],
                 "containers": [{"name": "web", "image": "synergy.test/busybox:1"}]},
    }


class Controllers:
    """Runs two replicas: the cluster's, which the webhook configuration names, and a second one."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.config = cluster.folder / "second-controller.yaml"
        text = (cluster.state / "synergy-controller.yaml").read_text(encoding="utf-8").splitlines()
        text = [line for line in text if not line.startswith(("listen:", "httpListen:"))]
        self.port = int((cluster.folder / "second-controller-port").read_text(encoding="utf-8"))
        self.config.write_text("\n".join([*text, 'listen: "127.0.0.1:0"', f'httpListen: "127.0.0.1:{self.port}"', ""]),
                               encoding="utf-8")
        self.log = open(cluster.folder / "second-controller.log", "ab")
        self.second = None
        self.counters = {}
        self.start_second()

    def start_second(self):
        program = pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy-controller"
        self.second = subprocess.Popen([str(program),
                                        "--kubeconfig", str(self.cluster.state / "synergy-controller.kubeconfig"),
                                        "--config", str(self.config)], stderr=self.log)

    def kill_first(self):
        self.count()
        return subprocess.Popen([str(ROOT / "scripts/cluster.sh"), "--state", str(self.cluster.state), "restart",
                                 "synergy-controller", "KILL"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill_second(self):
        self.count()
        self.second.kill()
        self.second.wait()
        self.start_second()

    def count(self):
        """Adds the processes' counters to the totals, before the processes are killed."""
        for url in (self.cluster.environment["SYNERGY_CONTROLLER_URL"], f"http://127.0.0.1:{self.port}"):
            try:
                with urllib.request.urlopen(url + "/metrics", timeout=5) as answer:
                    lines = answer.read().decode().splitlines()
            except OSError:
                continue
            for line in lines:
                if line.startswith(("synergy_tuner_changes_total", "synergy_tuner_holds_total")):
                    name, value = line.rsplit(" ", 1)
                    self.counters[name] = self.counters.get(name, 0) + float(value)

    def end(self):
        self.count()
        self.second.terminate()
        self.second.wait(timeout=30)
        self.log.close()


class Soak:
    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.cluster = Cluster()
        self.api = Api(self.cluster)
        self.extender = Extender(self.cluster)
        self.invariants, self.idle = Invariants(), IdleGpus(LONGEST_IDLE)
        self.made = self.checks = self.unreachable = 0
        self.ended = set()
        self.kills = {"extender": 0, "controller": 0, "kube-apiserver": 0, "refusals": 0}
        self.violations = []
        self.helpers = []
        self.others = {}
        self.nodes = []
        self.second = self.replayed = 0
        self.unsettled = []

    # ---- faults

    def make(self, pod):
        try:
            self.api.create_pod(pod)
            return True
        except ApiError as error:
            if error.status not in (0, 409, 429, 500, 503, 504):
                raise
            return False

    def add_random(self, alive):
        for _ in range(min(15, self.options.pods - alive)):
            gpus = self.random.choices((1, 2, 4, 8), (80, 12, 6, 2))[0]
            name = f"train-{self.made:05}"
            if not self.make(training_pod(name, self.random.choice(MODELS), gpus, self.random.randint(30, 120))):
                return
            self.made += 1

    def fault(self, second, pods):
        if second % KILL_EVERY == KILL_EVERY // 2:
            self.extender.end(signal.SIGKILL)
            self.extender.start(ready=False)
            self.kills["extender"] += 1
        if second % KILL_EVERY == 0:
            self.kills["controller"] += 1
            if self.random.random() < 0.5:
                self.helpers.append(self.controllers.kill_first())
            else:
                self.controllers.kill_second()
        if second % API_SERVER_RESTART_EVERY == 30:
            self.kills["kube-apiserver"] += 1
            self.helpers.append(subprocess.Popen(
                [str(ROOT / "scripts/cluster.sh"), "--state", str(self.cluster.state), "restart", "kube-apiserver",
                 "KILL"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        if second % REFUSE_EVERY == 0:
            self.refuse(pods)

    def refuse(self, pods):
        """Marks some pods that their kubelets must refuse to shrink until the next call."""
        running = [p["metadata"]["name"] for p in pods if managed(p) and p["spec"].get("nodeName")]
        self.lift_refusals(pods)
        for name in self.random.sample(running, min(5, len(running))):
            self.kills["refusals"] += self.annotate(name, {"synergy.test/resize": "Deferred"})

    def lift_refusals(self, pods):
        for pod in pods:
            if "synergy.test/resize" in pod["metadata"].get("annotations", {}):
                self.annotate(pod["metadata"]["name"], {"synergy.test/resize": None})

    def annotate(self, name, annotations):
        try:
            self.api.annotate(name, annotations)
            return True
        except ApiError:
            return False  # the pod is gone, or the API server is down

    # ---- invariants

    def look(self):
        """Reads and checks the pods, and returns them; None while the API server is down."""
        try:
            self.nodes = self.nodes or self.api.items("/api/v1/nodes")
            pods = self.api.items("/api/v1/pods")
        except ApiError:
            self.unreachable += 1
            return None
        self.checks += 1
        training = [p for p in pods if p["metadata"].get("labels", {}).get("soak") == "training"]
        found = self.invariants.check(self.nodes, pods) + self.idle.check(self.nodes, training, self.checks)
        found += self.check_others(pods)
        for violation in found:
            if violation not in self.violations:
                self.violations.append(violation)
                print(f"{self.second:4} s: {violation}", flush=True)
                self.keep(pods)
        return training

    def keep(self, pods):
        """Saves the state in which a violation was seen."""
        if len(self.violations) <= 10:
            file = self.cluster.folder / f"violation-{len(self.violations)}.json"
            file.write_text(json.dumps(pods), encoding="utf-8")

    def check_others(self, pods):
        """Checks that pods without GPUs are placed, whatever is killed."""
        now, found = self.checks, []
        for pod in pods:
            if pod["metadata"].get("labels", {}).get("soak") == "other":
                name = pod["metadata"]["name"]
                first = self.others.setdefault(name, now)
                if not pod["spec"].get("nodeName") and now - first > OTHERS_LIMIT:
                    found.append(f"{name}, a pod without GPUs, has waited for {now - first} looks")
        return found

    def remove_ended(self, pods):
        """Deletes pods that have ended, as a controller of jobs would."""
        for pod in pods:
            name = pod["metadata"]["name"]
            if pod["status"].get("phase") != "Succeeded" or name in self.ended:
                continue
            try:
                self.api.call("DELETE", f"{PODS}/{name}?gracePeriodSeconds=0")
                self.ended.add(name)
            except ApiError as error:
                if error.status == 0:
                    return

    def missing_rights(self):
        """Returns the calls of our programs that were denied for lack of rights. An API server that
        has just started denies everything, so this asks again about each call."""
        logs = (self.cluster.folder / "extender.log", self.cluster.folder / "second-controller.log",
                self.cluster.state / "logs/synergy-controller.log")
        # Denied call -> the name of one such object, if a log states one.
        denied = {match.groups(default="")[1:]: match[1] for log in logs
                  for match in DENIED.finditer(log.read_text(encoding="utf-8", errors="replace"))}
        for (user, verb, resource, subresource), name in sorted(denied.items()):
            answer = self.cluster.kubectl("auth", "can-i", verb, f"{resource}/{name}" if name else resource,
                                          f"--subresource={subresource}", f"--as={user}", "--namespace=synergy-system",
                                          check=False)
            if answer.strip() != "yes":
                yield f"{user} may not {verb} {resource} {subresource}, and called it"

    # ---- phases

    def run(self):
        self.extender.start()
        self.controllers = Controllers(self.cluster)
        try:
            self.churn()
            self.settle()
            self.replay()
        finally:
            self.controllers.end()
            self.extender.end()
            self.extender.log.close()
            for helper in self.helpers:
                helper.wait(timeout=120)
        self.violations += self.missing_rights()
        return self.report()

    def tick(self, started):
        """Waits for the next whole second. If a look was late, the next wait is shorter."""
        self.second += 1
        time.sleep(max(0.0, started + self.second - time.monotonic()))

    def churn(self):
        started = time.monotonic()
        while time.monotonic() - started < self.options.seconds:
            pods = self.look()
            if pods is not None:
                self.remove_ended(pods)
                self.add_random(sum(p["status"].get("phase") != "Succeeded" for p in pods))
                if self.second % 10 == 5:
                    self.make(other_pod(f"web-{self.second:05}"))
                if self.second % 15 == 0:
                    self.progress(pods)
            self.fault(self.second, pods or [])
            self.tick(started)

    def settle(self):
        """Stops the kills: soon afterwards each pod must have the amounts that it is due."""
        print("no more faults", flush=True)
        for helper in self.helpers:
            helper.wait(timeout=120)
        if not self.until(self.settled, LONGEST_IDLE):
            self.violations.append(f"{LONGEST_IDLE} looks after the last fault: {self.unsettled}")
            self.keep(self.look())
        if not self.until(self.deleted, 120):
            self.violations.append("the pods could not be deleted")

    def deleted(self, pods):
        try:
            # The API server was never this busy before, and may answer late.
            if pods:
                self.api.call("DELETE", f"{PODS}?gracePeriodSeconds=0")
        except ApiError:
            pass
        return not pods

    def settled(self, pods):
        self.lift_refusals(pods)
        self.remove_ended(pods)
        self.unsettled = [f"{node} has GPUs for a pod that waits" for node in self.idle.since]
        self.unsettled += [f"{p['metadata']['name']} is being resized" for p in pods if self.resizing(p)]
        return not self.unsettled

    @staticmethod
    def resizing(pod):
        container = managed(pod)
        if not container or not pod["spec"].get("nodeName") or pod["status"].get("phase") != "Running":
            return False
        asked = container["resources"]["requests"]
        for status in pod["status"].get("containerStatuses", []):
            if status["name"] == container["name"]:
                got = status.get("resources", {}).get("requests", {})
                return any(quantity(asked[r]) != quantity(got.get(r, 0)) for r in ("cpu", "memory"))
        return True

    def replay(self):
        """Creates all jobs of the trace at once, sized as recorded, and waits until the last one
        has run."""
        with open(ROOT / "tests/data/synergy/static_100job.csv", encoding="utf-8") as file:
            jobs = list(csv.DictReader(file))
        print(f"the trace: {len(jobs)} jobs", flush=True)
        for job in jobs:
            seconds = max(2, round(float(job["duration_s_at_fair"]) / 500))
            # Try again while the API server throttles.
            while not self.make(training_pod(f"job-{int(job['job_id']):03}", job["model"], int(job["gpus"]), seconds)):
                time.sleep(0.2)
        names = {f"job-{int(job['job_id']):03}" for job in jobs}
        done = set()

        def all_done(pods):
            done.update(p["metadata"]["name"] for p in pods if p["status"].get("phase") == "Succeeded")
            self.remove_ended(pods)
            return names <= done

        if not self.until(all_done, 600):
            self.violations.append(f"{len(names - done)} of the trace's jobs have not run")
        self.replayed = len(done)

    def until(self, check, looks):
        """Returns whether `check` becomes true within so many looks."""
        last = self.checks + looks
        while self.checks < last:
            pods = self.look()
            if pods is not None and check(pods):
                return True
            time.sleep(1)
        return False

    def progress(self, pods):
        bound = sum(bool(p["spec"].get("nodeName")) for p in pods)
        fungible = sum(bool(annotation(p, "floor")) for p in pods)
        print(f"{self.second:4} s: {len(pods)} pods, {bound} bound, {fungible} fungible; {self.made} made; "
              f"{len(self.violations)} violations", flush=True)

    def report(self):
        counters = {name: int(value) for name, value in sorted(self.controllers.counters.items())}
        report = {"pods_made": self.made, "trace_jobs": self.replayed, "checks": self.checks,
                  "api_server_away": self.unreachable, "faults": self.kills,
                  "longest_idle_gpus_looks": self.idle.longest, "counters": counters, "violations": self.violations}
        if self.options.output == "json":
            print(json.dumps(report, indent=2))
        else:
            for name, value in report.items():
                print(f"{name}: {value}")
        # A soak in which nothing is changed proves nothing.
        idle = not any("reclaimed" in name.lower() and value for name, value in counters.items())
        if idle:
            print("nothing was ever reclaimed, so this run has tested nothing", file=sys.stderr)
        return 1 if self.violations or idle else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--pods", type=int, default=500, help="number of pods at a time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", choices=("text", "json"), default="text")
    return Soak(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
