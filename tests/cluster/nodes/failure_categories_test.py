"""Real pods that fail on a real node in the ways that need no GPU: what Synergy calls each, and that
it stops no job whose retries are not futile. In the long tier."""

import os
import random
import time

import failures
from cluster import GPU, wait_for
from failing import IMPORT, RETRIES, FailingJobs, job

LONG = 300  # seconds; only limits how long a failing test waits
SOAK = int(os.environ.get("SYNERGY_FAILURES_SECONDS", "180"))
# A shell has to live on to report how a process of it ended, because process 1 ignores signals.
# Of two "$" in a command, Kubernetes keeps one.
CHILD = "sh -c 'kill -{} $$$$'; exit $?"
# Prints what a Python program would, because the image has no Python.
USAGE = "echo 'usage: train.py [-h] [--lr LR]' >&2; echo 'train.py: error: unrecognized arguments: --rl' >&2; exit 2"

# name -> script, category, cause, advice
BY_LOG = {
    "import": (IMPORT, "import", "user", "fix"),
    "argument": (USAGE, "arguments", "user", "fix"),
    "script": ("sh /train.sh", "command", "user", "fix"),
    "shell": ("exec sh -c 'if then'", "syntax", "user", "fix"),
    "shm": ("dd if=/dev/zero of=/dev/shm/torch_1 bs=1M count=4", "shm-too-small", "user", "fix"),
    "disk": ("dd if=/dev/zero of=/data/model.pt bs=1M count=4", "disk-full", "user", "fix"),
    "missing": ("cat /data/train.csv", "input-missing", "user", "fix"),
    "refused": ("echo nobody:x:65534:65534::/:/bin/sh >/etc/passwd; touch /data/key; chmod 600 /data/key; "
                "su nobody -c 'cat /data/key'; exit 1", "permission", "user", "fix"),
    "port": ("nc -l -p 29500 & sleep 1; nc -l -p 29500", "port", "infrastructure", "retry"),
    "segfault": (CHILD.format("SEGV"), "segfault", "engine", "retry"),
    "abort": (CHILD.format("ABRT"), "abort", "engine", "retry"),
    "killed": (CHILD.format("KILL"), "killed", "unknown", "retry"),
    "interrupted": (CHILD.format("INT"), "killed", "user", "retry"),
    "unknown": ("exit 3", "unknown", "unknown", "retry"),
}

# Scripts of the soak: those whose retries are futile, and others. Synergy stops at most ten jobs an
# hour in a namespace.
FUTILE = {name: BY_LOG[name] for name in ("import", "argument", "script", "shell", "shm")}
FUTILE_JOBS = 8
OTHER = {name: BY_LOG[name] for name in ("missing", "port", "segfault", "killed", "unknown")} | {
    "either": (f"if [ $(($(date +%s) / 7 % 2)) = 0 ]; then {IMPORT}; fi; {USAGE}", None, None, None)}


def volumes(made):
    """Adds a small /dev/shm and a small /data."""
    spec = made["spec"]["template"]["spec"]
    spec["volumes"] = [{"name": name, "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}} for name in ("shm", "data")]
    spec["containers"][0]["volumeMounts"] = [{"name": "shm", "mountPath": "/dev/shm"},
                                             {"name": "data", "mountPath": "/data"}]
    return made


def sleeping(name, **template):
    # A pod without a grace period would be gone before the kubelet reports its end.
    return job(name, "sleep 1000", **{"terminationGracePeriodSeconds": 2, **template})


class FailureCategoriesTest(FailingJobs):
    FOLDER = "failure-categories"

    def leading(self, name, category):
        """Waits until the job has a failure, and returns its leading record."""
        records = wait_for(f"the failure of {name}", lambda: self.records().get(name), LONG)
        record = next(each for each in records if each.get("leads"))
        self.assertEqual(record["category"], category, (name, record))
        return record

    def start(self, made):
        """Creates the Job, and returns its pod once that runs."""
        self.cluster.create(made)
        name = made["metadata"]["name"]

        def running():
            pods = self.cluster.get("pods", labelSelector=f"job-name={name}")["items"]
            return pods[0] if pods and pods[0]["status"].get("phase") == "Running" else None
        return wait_for(f"{name} to run", running)

    def test_each_category_that_needs_no_gpu_is_recognised(self):
        made = [volumes(job(name, script)) for name, (script, *_) in BY_LOG.items()]
        made.append(job("host-oom", "tail /dev/zero", memory="16Mi"))
        # The kubelet evicts the pod, or ends it.
        evicted = job("own-storage", "dd if=/dev/zero of=/data/x bs=1M count=8; sleep 1000")
        spec = evicted["spec"]["template"]["spec"]
        spec["volumes"] = [{"name": "data", "emptyDir": {"sizeLimit": "1Mi"}}]
        spec["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
        late = job("late", "sleep 1000", activeDeadlineSeconds=3)
        absent = job("absent", "")
        absent["spec"]["template"]["spec"]["containers"][0]["command"] = ["/train"]
        # The container is restarted in its pod.
        again = job("again", "", restartPolicy="OnFailure", retries=3)
        again["spec"]["template"]["spec"]["containers"][0]["command"] = ["/train"]
        bad_name = job("bad-name", "")
        bad_name["spec"]["template"]["spec"]["containers"][0]["image"] = "Bert:2"
        never = job("never-pulled", "")
        never["spec"]["template"]["spec"]["containers"][0] |= {"image": "synergy.test/none:1",
                                                               "imagePullPolicy": "Never"}
        self.cluster.create(*made, evicted, late, absent, again, bad_name, never)
        for name, (_, category, cause, advice) in BY_LOG.items():
            record = self.leading(name, category)
            self.assertEqual((record["cause"], record["advice"]), (cause, advice), record)
        for name, category in {"host-oom": "host-oom", "own-storage": "disk-full", "late": "deadline",
                               "absent": "command", "again": "command", "bad-name": "image",
                               "never-pulled": "image"}.items():
            self.leading(name, category)
        self.cluster.delete("jobs", *BY_LOG, "host-oom", "own-storage", "late", "absent", "again", "bad-name",
                            "never-pulled")

    def test_the_guilty_rank_leads_although_it_is_ended_last(self):
        gang = job("gang", "if [ $JOB_COMPLETION_INDEX = 3 ]; then"
                   "  echo 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.'; sleep 1000; fi;"
                   "sleep 8; echo 'RuntimeError: Connection closed by peer [10.0.0.3]:29500'; exit 1",
                   terminationGracePeriodSeconds=20)
        gang["metadata"]["annotations"] = {"synergy.io/gang": "true"}
        gang["spec"] |= {"completions": 4, "parallelism": 4, "completionMode": "Indexed"}
        self.cluster.create(gang)
        wait_for("all ranks' failures", lambda: len(self.records().get("gang", [])) == 4, LONG)
        record = self.leading("gang", "gpu-oom")
        self.assertEqual((record["rank"], record["cause"], record["behaviour"]), ("3", "user", "deterministic"))
        self.assertTrue([text for text in self.events("Job", "gang")
                         if "(rank 3) failed, and 3 more pods with it: gpu-oom" in text])
        ends = {each["rank"]: each["at"] for each in self.records()["gang"]}
        self.assertEqual(max(ends, key=ends.get), "3", "it was ended last")
        self.cluster.delete("jobs", "gang")

    def test_evictions_and_preemptions_are_no_mistake_of_the_user(self):
        def taken_away(name, category, rule):
            record = self.leading(name, category)
            self.assertEqual((record["cause"], record["rule"]), ("infrastructure", rule), record)
        pod = self.start(sleeping("drained"))["metadata"]["name"]
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": "default"}}
        self.cluster.called("POST", self.cluster.api.kind("pod").path("default", pod) + "/eviction", eviction)
        taken_away("drained", "evicted", "condition-evicted")
        self.cluster.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                             "metadata": {"name": "urgent"}, "value": 1000})
        self.start(sleeping("displaced"))
        urgent = sleeping("urgent", priorityClassName="urgent")
        resources = urgent["spec"]["template"]["spec"]["containers"][0]["resources"]
        resources["limits"][GPU] = resources["requests"][GPU] = "8"
        self.cluster.create(urgent)
        taken_away("displaced", "preempted", "condition-preempted")
        self.cluster.delete("jobs", "drained", "displaced", "urgent", wait=True)
        self.start(sleeping("tainted"))
        self.cluster.kubectl("taint", "node", "node-1", "synergy.test/broken=:NoExecute")
        self.addCleanup(self.cluster.kubectl, "taint", "node", "node-1", "synergy.test/broken-", check=False)
        taken_away("tainted", "evicted", "condition-evicted")
        self.cluster.kubectl("taint", "node", "node-1", "synergy.test/broken-")
        self.cluster.delete("jobs", "tainted")

    def test_a_pod_whose_node_is_gone_is_evicted(self):
        self.cluster.kubectl("uncordon", self.other_node)
        lost = sleeping("node-gone", nodeSelector={"synergy.test/node": "simulated"})
        self.start(lost)
        self.cluster.delete("nodes", self.other_node)
        record = self.leading("node-gone", "evicted")
        self.assertEqual((record["cause"], record["rule"]), ("infrastructure", "condition-evicted"), record)
        self.cluster.delete("jobs", "node-gone")

    def test_random_failures_stop_only_jobs_whose_retries_are_futile(self):
        seed = int(os.environ.get("SYNERGY_FAILURES_SEED", str(time.time_ns() % 10**6)))
        print(f"seed {seed} (SYNERGY_FAILURES_SEED)")
        chance = random.Random(seed)
        asking = {f"futile-{i}": chance.choice(sorted(FUTILE)) for i in range(FUTILE_JOBS)}
        silent = {f"unasked-{i}": chance.choice(sorted(FUTILE)) for i in range(4)}
        others = {f"other-{i}": chance.choice(sorted(OTHER)) for i in range(12)}
        others |= {f"healthy-{i}": "healthy" for i in range(2)}
        names = [*asking, *silent, *others]
        chance.shuffle(names)
        ends = time.monotonic() + SOAK
        for name in names:
            kind = (asking | silent | others)[name]
            script = "sleep 1000" if kind == "healthy" else (FUTILE | OTHER)[kind][0]
            made = volumes(job(f"soak-{name}", script, retries=20))
            if name not in silent:
                made["metadata"]["annotations"] = {RETRIES: "stop-futile,elsewhere,larger"}
            self.cluster.create(made)
            time.sleep(chance.uniform(0, SOAK / 3 / len(names)))
        wait_for("all futile ones to be stopped",
                 lambda: all(self.suspended(f"soak-{name}") for name in asking), LONG)
        while time.monotonic() < ends:
            time.sleep(1)
        failed = {name: self.cluster.get("job", f"soak-{name}")["status"].get("failed", 0) for name in names}
        suspended = {name for name in names if self.suspended(f"soak-{name}")}
        # One futile retry each.
        self.assertEqual({name: failed[name] for name in asking}, {name: 2 for name in asking})
        self.assertFalse(suspended & set(silent), "nobody asked")
        records = self.records()
        for name in suspended - set(asking):
            # Its chance made it fail alike twice in a row.
            last = [record["category"] for record in records[f"soak-{name}"] if record.get("leads")][-2:]
            self.assertEqual((others[name], len(set(last))), ("either", 1), (name, last))
        for name in (name for name, kind in others.items() if kind == "healthy"):
            pods = self.cluster.get("pods", labelSelector=f"job-name=soak-{name}")["items"]
            self.assertEqual([(pod["status"]["phase"], "deletionTimestamp" in pod["metadata"]) for pod in pods],
                             [("Running", False)], name)
        print(f"{len(names)} jobs, {sum(failed.values())} failures, {len(suspended)} stopped")
        self.cluster.delete("jobs", *(f"soak-{name}" for name in names))


if __name__ == "__main__":
    failures.main()
