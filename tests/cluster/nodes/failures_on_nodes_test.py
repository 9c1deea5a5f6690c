"""Real pods that fail on a real node: their events, records and figures, by their logs and exit
codes, while the controller is killed."""

import json
import re
import shlex
import time

import yaml

import failures
from cluster import GPU, ROOT, wait_for, write_whole
from failing import IMPORT, RETRIES, FailingJobs, job, registry

SECRET = "hf_abcdefghijklmnopqrstuvwxyz"
OUT_OF_MEMORY = f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. token={SECRET}"
LOST = "echo 'NVRM: Xid: 79, GPU has fallen off the bus.'; exit 1"
MEASURED = "measured-greedy-1gpu"  # the name that src/profile/measured/measured_profile.cc makes
PROCESS = 16 << 20
# Waits for give_sign(), and until its shell has ended: the end of the container would kill that shell.
AT_A_SIGN = "mkfifo /go; read shell </go; while kill -0 $shell 2>/dev/null; do :; done"


def greedy(name, **requests):
    """Returns a Job that needs a little more than 20 MiB, of a workload that was measured to need
    16 MiB."""
    made = job(name, "exec dd if=/dev/zero of=/dev/null bs=20M count=1", retries=6)
    made["metadata"]["annotations"] = {RETRIES: "larger"}
    template = made["spec"]["template"]
    template["metadata"]["labels"] |= {"synergy.io/workload": "greedy", "synergy.io/enforcement": "strict"}
    template["spec"]["containers"][0]["resources"] = {"limits": {GPU: "1", **requests}}
    return made


class FailuresOnNodesTest(FailingJobs):
    FOLDER = "failures-on-nodes"

    def await_running(self, name):
        """Waits until the Job's pod runs. Returns the pod's name."""
        return wait_for("its pod", lambda: [
            one["metadata"]["name"] for one in self.cluster.get("pods", labelSelector=f"job-name={name}")["items"]
            if one["status"]["phase"] == "Running"])[0]

    def give_sign(self, pod):
        """Lets a pod continue that waits by AT_A_SIGN."""
        self.cluster.kubectl("exec", pod, "--", "sh", "-c", "until [ -p /go ]; do :; done; echo $$ >/go")

    def test_failures_are_reported_by_log_and_status(self):
        # Each run prints how many were before it.
        restarting = job("restarting", "n=$(cat /runs/n 2>/dev/null || echo 0); echo $((n + 1)) >/runs/n;"
                         "echo \"ModuleNotFoundError: No module named 'apex_$n'\"; exit 1")
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "restarting"},
               "spec": {**restarting["spec"]["template"]["spec"], "restartPolicy": "OnFailure",
                        "volumes": [{"name": "runs", "emptyDir": {}}]}}
        pod["spec"]["containers"][0]["volumeMounts"] = [{"name": "runs", "mountPath": "/runs"}]
        self.cluster.create(
            job("gpu-oom", f"echo '{OUT_OF_MEMORY}' >&2; exit 1"),
            job("import", IMPORT, retries=1),
            job("host-oom", "tail /dev/zero", memory="16Mi"),
            job("silent", "exit 127"),
            job("done", "echo 'CUDA out of memory, retrying'; exit 0"), pod)
        records = self.await_records(**{"gpu-oom": 1, "host-oom": 1, "silent": 1, "restarting": 1})
        # Pods that fail while there is no controller are reported by the next one.
        self.cluster.create(job("meanwhile", f"{AT_A_SIGN}; echo \"SyntaxError: invalid syntax\"; exit 1"))
        pod = self.await_running("meanwhile")
        self.cluster.script("stop", "synergy-controller", "KILL")
        self.give_sign(pod)
        gone = {"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "synergy-failures-gone", "namespace": "synergy-system",
                             "labels": {"synergy.io/failures": "true"}},
                "data": {"namespace": "gone", "failures.json": '{"failures": []}'}}
        self.cluster.create(gone)
        wait_for("it to fail", lambda: self.cluster.get("job", "meanwhile").get("status", {}).get("failed"))
        self.cluster.script("start", "synergy-controller")
        records = self.await_records(**{"import": 2, "meanwhile": 1})
        wait_for("the records of a namespace that is gone to be removed", lambda: gone["metadata"]["name"] not in [
            item["metadata"]["name"] for item in self.cluster.get("configmaps", namespace="synergy-system")["items"]])
        categories = {"gpu-oom": "gpu-oom", "import": "import", "host-oom": "host-oom", "silent": "command",
                      "restarting": "import", "meanwhile": "syntax"}
        self.assertNotIn("done", records)
        records = {name: records[name] for name in categories}
        self.assertEqual({name: own[0]["category"] for name, own in records.items()}, categories)
        keys = [(record["uid"], record["container"], record.get("run", 0)) for own in records.values()
                for record in own]
        self.assertEqual(len(keys), len(set(keys)), "each failure is recorded once")
        oom = records["gpu-oom"][0]
        self.assertIn("CUDA out of memory", oom["evidence"])
        self.assertNotIn(SECRET, json.dumps(records))
        self.assertEqual((oom["cause"], oom["advice"], oom["exitCode"], oom["queue"], oom["user"]),
                         ("user", "fix", 1, "research", "ann"))
        self.assertEqual({record["exitCode"] for record in records["host-oom"]}, {137})
        # A container that fails again and again spends most of the time in CrashLoopBackOff.
        ends = self.await_records(restarting=3)["restarting"]
        for record in ends:
            self.assertIn(f"'apex_{record.get('run', 0)}'", record["evidence"])
        self.assertEqual(len({record["started"] for record in ends}), len(ends))

        for name in ("gpu-oom", "meanwhile"):
            of_job, = self.events("Job", name)
            of_pod, = self.events("Pod", records[name][0]["pod"])
            self.assertIn(records[name][0]["category"], of_job)
            self.assertIn(records[name][0]["evidence"], of_pod)

        sums = {(item["category"], item["user"]): item for item in json.loads(self.synergy("failures", "-o", "json"))}
        self.assertEqual(sums["gpu-oom", "ann"]["failures"], 1)
        self.assertEqual(sums["gpu-oom", "ann"]["queue"], "research")
        self.assertGreaterEqual(sums["import", "ann"]["failures"], 2)
        self.assertIn("gpu-oom", self.synergy("failures", "--all-namespaces", "--since", "1h"))
        attempts = json.loads(self.synergy("explain", "job", "import", "-o", "json"))["attempts"]
        self.assertEqual([attempt["first"]["category"] for attempt in attempts], ["import", "import"])
        self.assertIn("No module named 'apex'", self.synergy("explain", "job", "import"))

    def test_an_xid_of_the_pods_gpu_decides(self):
        """The report is that of the device plugin (device_plugin_test.py)."""
        line = "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=3, OpType=ALLREDUCE)"
        self.cluster.create(job("lost-gpu", f"{AT_A_SIGN}; echo '{line}' >&2; exit 1"))
        pod = self.await_running("lost-gpu")
        now = time.time_ns()
        report = {"at": now, "xids": [{"namespace": "default", "pod": pod, "container": "train", "xid": 79, "at": now}]}
        write_whole(self.cluster.state / "gpu-busy-1.json", json.dumps(report))
        self.give_sign(pod)
        record, = self.await_records(**{"lost-gpu": 1})["lost-gpu"]
        self.assertEqual((record["category"], record["cause"], record["advice"], record["evidence"]),
                         ("gpu-lost", "infrastructure", "retry-elsewhere", "Xid 79"))

    def test_futile_retries_end_where_that_is_asked_for(self):
        def asking(item, word="stop-futile", **spec):
            item["metadata"]["annotations"] = {RETRIES: word}
            item["spec"] |= spec
            return item
        self.wait_for_what_is_missing()
        self.cluster.create(
            asking(job("futile", IMPORT, retries=6)),
            asking(job("array", IMPORT, retries=6), completions=2, parallelism=1),
            asking(job("killed", "kill -9 $$", retries=6)),
            asking(job("misspelt", IMPORT, retries=6), "stop-futil"),
            job("unasked", IMPORT, retries=6))
        self.ask_for_larger_memory()
        message, = wait_for("the job to be suspended", lambda: self.events("Job", "futile", "SynergySuspended"))
        self.assertTrue(self.suspended("futile"))
        self.assertIn("import: a Python module or a name in it is missing", message)
        # The next leader does nothing twice.
        self.cluster.script("restart", "synergy-controller")
        # The event has the command that resumes it; then the count begins again.
        command = re.search(r"To resume it: (kubectl .*)", message)[1]
        self.cluster.kubectl(*shlex.split(command)[1:])
        self.await_records(futile=3, array=3, killed=3, misspelt=3, unasked=3)
        self.assertEqual(["toSuspend" in record for record in self.records()["futile"]][:3], [False, True, False])
        self.assertEqual([name for name in ("array", "killed", "misspelt", "unasked") if self.suspended(name)], [])
        wait_for("the array's event", lambda: any(
            "its other completions may succeed" in text for text in self.events("Job", "array", "SynergyRetries")))
        wait_for("the word to be named", lambda: any(
            '"stop-futil"' in text for text in self.events("Job", "misspelt", "SynergyRetries")))
        self.refuses_other_changes("unasked")
        self.cluster.delete("jobs", "futile", "array", "killed", "misspelt", "unasked")
        self.gets_larger_memory()
        self.reports_what_is_missing_once()

    def wait_for_what_is_missing(self):
        """Creates jobs whose pods wait: for an image that the registry does not have, and for a
        ConfigMap."""
        no_image, no_settings = (job(name, "exit 127") for name in ("no-image", "no-settings"))
        image = f"127.0.0.1:{registry(self)}/bert:2"
        no_image["spec"]["template"]["spec"]["containers"][0]["image"] = image
        reference = {"configMapRef": {"name": "settings"}}
        no_settings["spec"]["template"]["spec"]["containers"][0]["envFrom"] = [reference]
        for made in (no_image, no_settings):
            made["metadata"]["annotations"] = {RETRIES: "stop-futile,elsewhere"}
        self.cluster.create(no_image, no_settings)

    def reports_what_is_missing_once(self):
        records = self.await_records(**{"no-image": 1, "no-settings": 1})
        found = {name: [(record["category"], record["cause"], record["rule"]) for record in records[name]]
                 for name in ("no-image", "no-settings")}
        self.assertEqual(found, {"no-image": [("image", "user", "image")],
                                 "no-settings": [("configuration", "user", "config-error")]})
        self.assertIn("bert:2", records["no-image"][0]["evidence"])
        self.assertIn('configmap "settings" not found', records["no-settings"][0]["evidence"])
        for name in found:
            message, = self.events("Job", name)
            self.assertIn("does not start", message)
            self.assertEqual(len(self.events("Pod", records[name][0]["pod"])), 1)
            self.assertEqual(self.events("Job", name, "SynergyRetries"), [])
        self.assertIn("which does not start", self.synergy("explain", "job", "no-image"))
        # It starts at last, and fails: that is another failure.
        self.cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}})
        records = self.await_records(**{"no-settings": 2})
        self.assertEqual([record["category"] for record in records["no-settings"]], ["configuration", "command"])
        self.assertEqual(len(records["no-image"]), 1)
        self.cluster.delete("jobs", "no-image", "no-settings")

    def ask_for_larger_memory(self):
        """Creates jobs whose processes need more memory than a limit that Synergy chooses, by what
        it measured, and than one that the author wrote."""
        self.cluster.create({
            "apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile",
            "metadata": {"name": MEASURED, "labels": {"app.kubernetes.io/managed-by": "synergy-controller"}},
            "spec": {"workload": "greedy", "gpus": 1}})
        points = [{"cpu": "100m", "throughput": 1, "certainty": "exact", "windows": 1, "spread": 0}]
        memory = {"process": str(PROCESS), "dataSet": "0", "bytesPerIteration": "0", "confirmed": True}
        measured = {"revision": 1, "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "confirmed": True,
                    "points": points, "memory": memory}
        self.cluster.patch("trainingprofile", MEASURED, {"status": {"measured": measured}}, subresource="status")
        wait_for("the profile to be judged",
                 lambda: "demand" in self.cluster.get("trainingprofile", MEASURED)["status"])
        self.cluster.create(greedy("greedy"), greedy("written", memory="16Mi"))

    def gets_larger_memory(self):
        wait_for("the next attempt to survive", lambda: self.cluster.get("job", "greedy")["status"].get("succeeded"))
        pods = sorted(self.cluster.get("pods", labelSelector="job-name=greedy")["items"],
                      key=lambda pod: pod["metadata"]["creationTimestamp"])
        limits = [int(pod["spec"]["containers"][0]["resources"]["limits"]["memory"]) for pod in pods]
        self.assertEqual(limits[0], PROCESS + PROCESS // 10)
        self.assertAlmostEqual(limits[-1], limits[0] * 1.5, delta=4)
        records = self.records()["greedy"]
        # An act of Synergy's is joined with the failure.
        self.assertEqual({(record["category"], record["cause"], record["behaviour"], record["act"], record["rule"])
                          for record in records},
                         {("host-oom", "synergy", "transient", "chose its memory limit", "oom-killed")})
        # The controller was restarted meanwhile, so another attempt may have begun as before.
        self.assertEqual({record["chosenMemory"] for record in records}, {limits[0]})
        self.assertEqual({record["larger"] for record in records if "larger" in record}, {limits[-1]})
        # However many attempts and leaders there were, it was raised once.
        status = self.cluster.get("trainingprofile", MEASURED)["status"]
        self.assertEqual((status["memoryRaise"]["times"], int(status["memoryRaise"]["tooSmall"])), (1, limits[0]))
        self.assertTrue(any("the limit that Synergy chose is too small" in text
                            for text in self.events("Job", "greedy", "SynergyRetries")))
        wait_for("the author's limit to be said to be too small", lambda: any(
            "that its author wrote is too small, and stays" in text
            for text in self.events("Job", "written", "SynergyRetries")))
        self.assertEqual({pod["spec"]["containers"][0]["resources"]["limits"]["memory"]
                          for pod in self.cluster.get("pods", labelSelector="job-name=written")["items"]}, {"16Mi"})
        self.assertIn("of memory instead of", self.synergy("explain", "job", "greedy"))
        self.cluster.delete("jobs", "greedy", "written")
        self.cluster.delete("trainingprofiles", MEASURED)

    def test_a_job_is_tried_again_on_another_node_where_that_is_asked_for(self):
        lost = job("lost", LOST, retries=6)
        lost["metadata"]["annotations"] = {RETRIES: "stop-futile,elsewhere"}
        self.cluster.create(lost)
        message, = wait_for("the preference", lambda: self.events("Job", "lost", "SynergyRetries"))[:1]
        self.assertIn("gpu-lost: a GPU stopped working; the next attempt prefers other nodes than node-1", message)
        self.cluster.kubectl("uncordon", self.other_node)
        self.addCleanup(self.cluster.kubectl, "cordon", self.other_node)
        # Pods of other workloads go on going to the node that fits best.
        self.cluster.create(job("control", f"{LOST}; :"))
        wait_for("the retry on the other node", lambda: self.other_node in self.nodes_of("lost"))
        wait_for("the control's pod", lambda: self.nodes_of("control"))
        self.assertEqual(self.nodes_of("control"), {"node-1"})
        # A preference refuses no node.
        self.cluster.kubectl("cordon", self.other_node)
        self.cluster.create(job("last-choice", LOST))
        wait_for("a pod on the avoided node", lambda: self.nodes_of("last-choice") == {"node-1"})
        self.cluster.delete("jobs", "lost", "control", "last-choice")

    def refuses_other_changes(self, name):
        """Checks that the controller may suspend the Job, and change nothing else of it."""
        def is_accepted(body):
            return bool(self.cluster.kubectl("patch", "job", name, "--as", "synergy-controller", "--type", "merge",
                                             "--dry-run=server", "-o", "name", "-p", json.dumps(body), check=False))
        noted = {"metadata": {"annotations": {"synergy.io/retries-stopped": "now"}}, "spec": {"suspend": True}}
        self.assertTrue(is_accepted(noted))
        for body in ({"spec": {"suspend": True, "backoffLimit": 0}}, {"spec": {"parallelism": 0}},
                     {"metadata": {"labels": {"a": "b"}}}, {"metadata": {"annotations": {RETRIES: "stop-futile"}}},
                     {"metadata": {"finalizers": ["example.com/x"]}}):
            self.assertFalse(is_accepted(body), body)
        self.cluster.patch("job", name, {"spec": {"suspend": True}})
        self.assertFalse(is_accepted({"spec": {"suspend": False}}))

    def test_the_controller_writes_no_other_config_maps(self):
        policy = (ROOT / "manifests/failures-policy.yaml").read_text(encoding="utf-8")
        for item in yaml.safe_load_all(policy.replace("system:serviceaccount:synergy-system:synergy-controller",
                                                      "synergy-controller")):
            self.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(item))

        def complaint(name):
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
            return self.cluster.kubectl("create", "--as", "synergy-controller", "-n", "synergy-system",
                                        "--dry-run=server", "-o", "name", "-f", "-", stdin=json.dumps(body),
                                        check=False)
        wait_for("the policy to be in force", lambda: not complaint("other"))
        self.cluster.kubectl("delete", "configmap", "synergy-elsewhere", "-n", "synergy-system", "--ignore-not-found")
        for name in ("synergy-failures-team", "synergy-elsewhere"):
            self.assertIn(name, complaint(name))


if __name__ == "__main__":
    failures.main()
