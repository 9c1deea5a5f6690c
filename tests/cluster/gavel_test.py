"""Gavel's policies in Kueue's queues (docs/gavel.md): on which of three GPU products a job has its turn, on simulated
nodes, and how fast a training on a real one is seen to be."""

import datetime
import json
import os
import pathlib
import re
import subprocess
import time
import unittest
import urllib.request

import queues
import trainers
import turns
from cluster import GPU, ROOT, Extender, own_cluster, wait_for
from queues import CHECK, QUEUE

INSTANCE = int(os.environ.get("SYNERGY_TEST_INSTANCE", "13"))
ROUND = 8  # seconds
PATIENCE = 5  # seconds
# Within which all are where they belong, in seconds: a policy is asked again after 6.4 rounds, where the next begins, and then Kueue
# takes some seconds for a move.
SETTLING = 8 * ROUND + 30
PRODUCT = "nvidia.com/gpu.product"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/synergy-system/leases/synergy-controller"
# Iterations a second: one kind that loses much without a V100, and one that hardly does.
SPEEDS = {"steep": {"V100": 4, "P100": 2, "K80": 1}, "flat": {"V100": 2, "P100": 1.9, "K80": 1.8}}


def profile(workload, product, speed):
    return {"apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile", "metadata": {"name": f"{workload}-{product.lower()}"},
            "spec": {"workload": workload, "gpuProduct": product, "processMemory": "1Mi",
                     "points": [{"cpu": 1, "memory": "1Gi", "throughput": speed}]}}


def training(name, workload, queue="typed", checkpoints=True, **spec):
    """A Job of one GPU that trains for ever."""
    annotations = {"synergy.io/checkpoint": "true"} if checkpoints else {}
    container = {"name": "train", "image": "synergy.test/busybox:1", "resources": {"limits": {GPU: "1"}}}
    template = {"metadata": {"labels": {"synergy.io/workload": workload}, "annotations": annotations},
                "spec": {"tolerations": [{"operator": "Exists"}], "restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
                         "containers": [container], **spec}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": {QUEUE: queue}}, "spec": {"template": template}}


def real_training(name, product):
    """On the real node, with its own progress; of a kind that nobody knows."""
    arguments = ["--workers", "1", "--cpu-per-iteration", "0.25", "--gpu-step", str(1000 / turns.PER_SECOND), "--lines", "10"]
    labels = {"synergy.io/profile": "takes-turns", "synergy.io/enforcement": "shared"}
    pod = trainers.pod_with(name, "insensitive", arguments, labels, {})
    template = {"metadata": {"labels": labels, "annotations": {"synergy.io/checkpoint": "true"}}, "spec": pod["spec"] | on(product)}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": {QUEUE: "typed"}}, "spec": {"template": template}}


def due(job, **after):
    """With a deadline so long from now."""
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(**after)
    job["spec"]["template"]["metadata"]["annotations"]["synergy.io/deadline"] = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    return job


def on(product):
    return {"nodeSelector": {PRODUCT: product}}


class GavelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(os.environ["SYNERGY_TEST_STATE"]) / "gavel"
        cls.cluster = cls.enterClassContext(own_cluster(
            folder, INSTANCE, "--real-nodes", "1", "--simulated-nodes", "1", "--shape", str(ROOT / "tests/cluster/shapes/types.yaml"),
            "--controller", os.environ["SYNERGY_BIN"], "--agents", "--kueue"))
        # Without GPUs so far.
        cls.cluster.kubectl("label", "nodes", "--selector", "synergy.test/node=real", f"{PRODUCT}=T4")
        trainers.load_image(cls.cluster)
        settings = cls.cluster.state / "synergy-controller.yaml"
        text = settings.read_text(encoding="utf-8")
        settings.write_text(text.replace("kueue: {enabled: true}", f"kueue: {{enabled: true, typePatience: {PATIENCE}s}}"), encoding="utf-8")
        cls.cluster.script("restart", "synergy-controller")
        by_type = queues.kueue("ResourceFlavor", "v100s", nodeLabels={PRODUCT: "V100"})
        typed_flavor = queues.of_turns("by-type", 2, **queues.CHECKED)
        typed_flavor[0]["spec"]["resourceGroups"][0]["flavors"][0]["name"] = "v100s"
        cls.cluster.create(queues.FLAVOR, turns.PROFILE, by_type, queues.kueue("AdmissionCheck", CHECK, controllerName="synergy.io/rounds"),
                           *queues.of_turns("typed", 6, **queues.CHECKED), *queues.of_turns("plain", 6, **queues.CHECKED), *typed_flavor,
                           *(profile(workload, product, speed) for workload, speeds in SPEEDS.items() for product, speed in speeds.items()))
        cls.extender = Extender(cls.cluster)
        cls.extender.start()
        cls.addClassCleanup(cls.extender.log.close)
        cls.addClassCleanup(cls.extender.end)

    def follow(self, policy="gavel-las", queue="typed", **spec):
        item = queues.round_policy(queue, policy, ROUND)
        item["spec"] |= spec
        self.cluster.create(item)
        self.addCleanup(self.cluster.kubectl, "delete", "roundpolicy", queue)

    def create(self, *jobs):
        for job in jobs:
            self.addCleanup(self.end, job["metadata"]["name"])
        self.cluster.create(*jobs)

    def end(self, name):
        self.cluster.kubectl("delete", "job", name, "--ignore-not-found")
        wait_for(f"the pods of {name} to be gone", lambda: name not in self.products())

    def products(self):
        """Of each job that runs, on which product."""
        nodes = {item["metadata"]["name"]: item["metadata"]["labels"].get(PRODUCT) for item in self.cluster.get("nodes")["items"]}
        return {pod["metadata"]["labels"]["job-name"]: nodes[pod["spec"]["nodeName"]] for pod in self.cluster.pods().values()
                if pod["spec"].get("nodeName")}

    def answer(self, job):
        """What the check says of the job's Workload."""
        for item in self.cluster.get("workloads")["items"]:
            if item["metadata"]["ownerReferences"][0]["name"] == job:
                return next((check for check in item.get("status", {}).get("admissionChecks", []) if check["name"] == CHECK), {})
        return {}

    def synergy(self, *arguments):
        return subprocess.run([str(pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy"), *arguments], env=self.cluster.environment,
                              check=True, capture_output=True, text=True).stdout

    def progress(self):
        with urllib.request.urlopen(self.cluster.environment["SYNERGY_CONTROLLER_URL"] + "/progress", timeout=10) as answer:
            return json.load(answer).get("pods") or []

    def have(self, **wanted):
        """Waits until these jobs run on these products."""
        wait_for(f"{wanted}", lambda: {name: self.products().get(name) for name in wanted} == wanted, SETTLING)

    def test_each_job_has_the_product_on_which_it_is_worth_most(self):
        self.follow()
        self.create(*(training(f"flat-{number}", "flat") for number in range(4)))
        self.create(*(training(f"steep-{number}", "steep") for number in range(2)))

        def settled():
            products = self.products()
            return len(products) == 6 and products["steep-0"] == products["steep-1"] == "V100"

        # Who came first has had the best until a round began.
        wait_for("all to be where they are worth most", settled, SETTLING)
        answer = self.answer("steep-0")
        self.assertEqual((answer["state"], answer["podSetUpdates"]), ("Ready", [{"name": "main", "nodeSelector": {PRODUCT: "V100"}}]))
        self.assertIn("V100 4, P100 2, K80 1", answer["message"])
        status = self.cluster.get("roundpolicy", "typed")["status"]
        self.assertEqual([(entry["name"], entry["ready"]) for entry in status["queues"]], [("typed", True)])
        shown = json.loads(self.synergy("queue", "typed", "--output", "json"))[0]["workloads"]
        self.assertEqual({item["job"]: item["gpuProduct"] for item in shown}, self.products())
        # They are where they ought to be: nobody moves for nothing.
        before = {name: pod["metadata"]["uid"] for name, pod in self.cluster.pods().items()}
        time.sleep(3 * ROUND)
        self.assertEqual({name: pod["metadata"]["uid"] for name, pod in self.cluster.pods().items()}, before)

    def test_a_type_that_the_user_names_stays_and_a_job_moves_to_a_faster_one_once_it_is_free(self):
        self.follow()
        self.create(training("first", "flat", checkpoints=False, **on("V100")), training("second", "flat", **on("V100")))
        self.have(first="V100", second="V100")
        self.create(training("moves", "steep"))
        self.have(moves="P100")
        pods = {pod["metadata"]["labels"]["job-name"]: pod["metadata"]["uid"] for pod in self.cluster.pods().values()}
        self.create(training("slow", "steep", **on("K80")))
        self.have(slow="K80")
        self.end("second")
        self.have(moves="V100")
        log = (self.cluster.state / "logs/synergy-controller.log").read_text(encoding="utf-8")
        self.assertRegex(log, r"its turn on P100 is over and goes on on V100")
        told = [message for message in self.cluster.events("moves") if message.startswith("from P100 to V100; speeds: ")]
        self.assertEqual(len(told), 1)
        after = {pod["metadata"]["labels"]["job-name"]: pod["metadata"]["uid"] for pod in self.cluster.pods().values()}
        self.assertEqual(after["first"], pods["first"], "it does not checkpoint")
        self.assertEqual(self.products()["slow"], "K80")

    def test_jobs_that_are_as_good_take_turns_on_what_is_too_little(self):
        """Seven for six GPUs: nobody waits for ever."""
        self.follow()
        names = [f"steep-{number}" for number in range(7)]
        self.create(*(training(name, "steep") for name in names))
        on_v100 = set()
        wait_for("five of them to have had a V100", lambda: on_v100.update(
            name for name, product in self.products().items() if product == "V100") or len(on_v100) >= 5, 20 * ROUND)

    def test_without_a_policy_that_chooses_types_jobs_start_at_once(self):
        self.create(training("plain", "steep", "plain"))
        wait_for("it to run", lambda: "plain" in self.products())
        self.assertEqual(self.answer("plain")["state"], "Ready")
        self.assertNotIn("podSetUpdates", self.answer("plain"))
        check = self.cluster.get("admissioncheck", CHECK)
        self.assertIn(("Active", "True"), [(entry["type"], entry["status"]) for entry in check["status"]["conditions"]])

    def test_an_answer_to_what_is_no_longer_so_is_refused(self):
        """What the controller relies on: with an old resource version, as it writes them, a Retry never meets an eviction by Kueue."""
        self.create(training("changed", "steep", "plain"))
        wait_for("it to run", lambda: "changed" in self.products())
        workload = next(item for item in self.cluster.get("workloads")["items"] if item["metadata"]["ownerReferences"][0]["name"] == "changed")
        answer = workload["status"]["admissionChecks"][0] | {"state": "Retry", "requeueAfterSeconds": 1}
        metadata = workload["metadata"]
        patch = [{"op": "replace", "path": "/metadata/uid", "value": metadata["uid"]},
                 {"op": "replace", "path": "/metadata/resourceVersion", "value": str(int(metadata["resourceVersion"]) - 1)},
                 {"op": "replace", "path": "/status/admissionChecks/0", "value": answer}]
        with self.assertRaisesRegex(AssertionError, "Conflict|has been modified"):
            self.cluster.kubectl("patch", "workload", metadata["name"], "--subresource", "status", "--type", "json", "--patch", json.dumps(patch))
        self.assertEqual(self.answer("changed")["state"], "Ready")

    def test_queues_whose_flavors_are_types_are_refused(self):
        self.follow(queue="by-type")
        status = wait_for("its status", lambda: self.cluster.get("roundpolicy", "by-type").get("status", {}).get("conditions"))
        self.assertEqual((status[0]["status"], status[0]["reason"]), ("False", "QueueRefused"))
        self.assertRegex(status[0]["message"], re.escape("flavor v100s names the GPU product V100"))

    def test_what_a_policy_by_cost_needs_is_named(self):
        self.follow("gavel-cost", prices={"V100": 1})
        status = wait_for("its status", lambda: self.cluster.get("roundpolicy", "typed").get("status", {}).get("conditions"))
        self.assertEqual(status[0]["status"], "False")
        self.assertRegex(status[0]["message"], r"spec\.prices: (P100|K80) has none")

    def test_jobs_start_where_nobody_leads(self):
        self.follow()
        self.cluster.script("stop", "synergy-controller", "KILL")
        self.addCleanup(self.cluster.kubectl, "delete", "lease", "synergy-controller", "--namespace", "synergy-system", "--ignore-not-found")
        # Somebody who has died has the lease for long.
        held = json.dumps({"spec": {"holderIdentity": "dead", "leaseDurationSeconds": 3600, "renewTime": "2026-01-01T00:00:00.000000Z"}})
        self.cluster.kubectl("patch", "lease", "synergy-controller", "--namespace", "synergy-system", "--type", "merge", "--patch", held)
        self.cluster.script("start", "synergy-controller")
        self.create(training("orphan", "steep"))
        wait_for("it to run", lambda: "orphan" in self.products())
        self.assertIn("it takes any", self.answer("orphan")["message"])
        self.assertNotIn("podSetUpdates", self.answer("orphan"))
        # Whoever leads again moves it where it belongs.
        self.cluster.kubectl("delete", "lease", "synergy-controller", "--namespace", "synergy-system")
        self.have(orphan="V100")

    def test_a_job_explains_its_type(self):
        self.follow()
        self.create(training("told", "steep"))
        self.have(told="V100")
        self.assertIn("GPU type V100: its turn is on V100; speeds: V100 4, P100 2, K80 1", self.synergy("explain", "job", "told"))

    def test_deadlines_are_kept_at_the_least_cost_and_one_that_cannot_be_is_said(self):
        """One V100 and two K80s are left. Each needs an hour on a V100, or twice that on a P100, for want of progress."""
        both = training("both", "flat", "plain", **on("P100"))
        both["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"][GPU] = "2"
        self.create(both, training("one", "flat", "plain", **on("V100")))
        self.have(both="P100", one="V100")
        # All are there before anything is decided.
        self.hold("Hold")
        self.create(due(training("far", "steep"), hours=15), due(training("near", "steep"), minutes=65),
                    due(training("lost", "steep", **on("K80")), minutes=30))
        wait_for("all to be queued", lambda: len(json.loads(self.synergy("queue", "typed", "--output", "json"))[0]["workloads"]) == 3)
        self.follow("gavel-cost", prices={"V100": 4, "P100": 1.5, "K80": 0.5, "T4": 1})
        wait_for("the queue to be ordered", lambda: self.cluster.get("roundpolicy", "typed").get("status", {}).get("queues", [{}])[0].get("ready"))
        self.hold("None")
        self.have(near="V100", far="K80", lost="K80")
        self.assertIn("its deadline is in danger", self.synergy("explain", "job", "lost"))
        self.assertNotIn("in danger", self.synergy("explain", "job", "near"))

    def hold(self, how):
        self.cluster.kubectl("patch", "clusterqueue", "typed", "--type", "merge", "--patch", json.dumps({"spec": {"stopPolicy": how}}))
        if how != "None":
            self.addCleanup(self.hold, "None")

    def test_speeds_are_learnt_from_progress(self):
        trainers.advertise_gpus(self.cluster)
        self.addCleanup(trainers.advertise_gpus, self.cluster, 0)
        self.follow()
        self.create(real_training("first", "T4"))
        self.have(first="T4")
        self.assertIn("speeds: T4 1 (estimate)", self.synergy("explain", "job", "first"))
        wait_for("its progress to be known", lambda: [pod for pod in self.progress() if pod.get("rate")])
        time.sleep(ROUND + 1)
        # Once a round it is learnt, and told to whoever is given its type from then on.
        self.create(real_training("second", "T4"))
        self.have(second="T4")
        told = re.search(r"its turn is on T4; speeds: T4 ([\d.]+)$", self.synergy("explain", "job", "second"), re.M)
        self.assertAlmostEqual(float(told.group(1)), turns.PER_SECOND, delta=0.2 * turns.PER_SECOND)


if __name__ == "__main__":
    unittest.main(verbosity=2)
