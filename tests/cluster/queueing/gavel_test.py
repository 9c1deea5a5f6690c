"""Gavel's policies in Kueue queues (docs/internals/gavel.md): on which of three GPU products a job
has its turn, on simulated nodes; and the speed that is measured for a training on a real node."""

import datetime
import re
import time

import failures
import fungible
import queues
import tiers
import trainers
import turns
from cluster import GPU, wait_for
from queues import CHECK, QUEUE

# The policy's length of a round in seconds. The test begins each round itself, because moves take
# longer on a busy machine.
ROUND = 2
# Seconds in which all jobs reach their product. It only limits how long a failing test waits: the
# policy decides again after 6.4 rounds, and then Kueue takes some seconds for a move.
SETTLING = 600
PRODUCT = "nvidia.com/gpu.product"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/synergy-system/leases/synergy-controller"
# Iterations per second: one kind is much slower without a V100, the other hardly.
SPEEDS = {"steep": {"V100": 6, "P100": 2, "K80": 1}, "flat": {"V100": 2, "P100": 1.9, "K80": 1.8}}


def profile(workload, product, speed):
    return {"apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile",
            "metadata": {"name": f"{workload}-{product.lower()}"},
            "spec": {"workload": workload, "gpuProduct": product, "processMemory": "1Mi",
                     "points": [{"cpu": 1, "memory": "1Gi", "throughput": speed}]}}


def training(name, workload, queue="typed", checkpoints=True, **spec):
    """Returns a Job with one GPU that trains without end."""
    annotations = {"synergy.io/checkpoint": "true"} if checkpoints else {}
    container = {"name": "train", "image": "synergy.test/busybox:1", "resources": {"limits": {GPU: "1"}}}
    template = {"metadata": {"labels": {"synergy.io/workload": workload}, "annotations": annotations},
                "spec": {"tolerations": [{"operator": "Exists"}], "restartPolicy": "Never",
                         "terminationGracePeriodSeconds": 0, "containers": [container], **spec}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": {QUEUE: queue}},
            "spec": {"template": template}}


def real_training(name, product, workload):
    """Returns a Job for the real node, which reports its progress."""
    arguments = ["--workers", "1", "--cpu-per-iteration", "0.25", "--gpu-step", str(1000 / turns.PER_SECOND),
                 "--lines", "10"]
    labels = {"synergy.io/profile": "takes-turns", "synergy.io/enforcement": "shared", "synergy.io/workload": workload}
    pod = trainers.pod_with(name, "insensitive", arguments, labels, {})
    template = {"metadata": {"labels": labels, "annotations": {"synergy.io/checkpoint": "true"}},
                "spec": pod["spec"] | on(product)}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": {QUEUE: "typed"}},
            "spec": {"template": template}}


def due(job, **after):
    """Returns the job with a deadline that is so far from now."""
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(**after)
    job["spec"]["template"]["metadata"]["annotations"]["synergy.io/deadline"] = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    return job


def on(product):
    return {"nodeSelector": {PRODUCT: product}}


class GavelTest(queues.QueueTest):
    by_type = queues.of_turns("by-type", 2, **queues.CHECKED)
    by_type[0]["spec"]["resourceGroups"][0]["flavors"][0]["name"] = "v100s"
    objects = (queues.FLAVOR, queues.kueue("ResourceFlavor", "v100s", nodeLabels={PRODUCT: "V100"}),
               queues.kueue("AdmissionCheck", CHECK, controllerName="synergy.io/rounds"),
               *queues.of_turns("typed", 6, **queues.CHECKED), *queues.of_turns("plain", 6, **queues.CHECKED), *by_type,
               turns.PROFILE,
               *(profile(workload, product, speed) for workload, speeds in SPEEDS.items()
                 for product, speed in speeds.items()))

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # This node belongs to another test, and would add a fourth product.
        cls.cluster.patch("node", fungible.NODE, {"spec": {"unschedulable": True}})
        cls.addClassCleanup(cls.cluster.patch, "node", fungible.NODE, {"spec": {"unschedulable": None}})
        # Until now these nodes have no GPUs.
        for node in cls.cluster.get("nodes", labelSelector="synergy.test/node=real")["items"]:
            cls.cluster.patch("node", node["metadata"]["name"], {"metadata": {"labels": {PRODUCT: "T4"}}})
            cls.addClassCleanup(cls.cluster.patch, "node", node["metadata"]["name"],
                                {"metadata": {"labels": {PRODUCT: None}}})

    def follow(self, policy="las", queue="typed", **spec):
        item = queues.round_policy(queue, policy, ROUND)
        item["spec"] |= {"gpuTypes": "Aware"} | spec
        self.create(item)

    def end(self, name):
        self.cluster.delete("job", name)
        wait_for(f"the pods of {name} to be gone", lambda: name not in self.products())

    def products(self):
        """Returns job -> product for the jobs that run."""
        nodes = {item["metadata"]["name"]: item["metadata"]["labels"].get(PRODUCT)
                 for item in self.cluster.get("nodes")["items"]}
        return {pod["metadata"]["labels"]["job-name"]: nodes[pod["spec"]["nodeName"]]
                for pod in self.cluster.pods().values()
                if pod["spec"].get("nodeName")}

    def answer(self, job):
        """Returns the state of the admission check in the job's Workload."""
        checks = self.workload(job).get("status", {}).get("admissionChecks", [])
        return next((check for check in checks if check["name"] == CHECK), {})

    def start(self, *jobs):
        """Creates the first jobs of a policy, and waits until the policy has decided. From then on
        rounds begin only when the test begins them."""
        wait_for("the queue to be ordered", lambda: self.cluster.get("roundpolicy", "typed").get("status", {}).get(
            "queues", [{}])[0].get("ready"))
        self.create(*jobs)
        wait_for("the policy to be asked",
                 lambda: any(self.answer(job["metadata"]["name"]).get("podSetUpdates") for job in jobs))
        self.begin_round("typed")

    def is_settled(self):
        """Returns whether all jobs with quota run, and none is going to move."""
        admitted = [item for item in self.cluster.get("workloads")["items"] if item.get("status", {}).get("admission")]
        ready = [check["state"] == "Ready" for item in admitted for check in item["status"].get("admissionChecks", [])]
        return all(ready) and {queues.job_of(item) for item in admitted} == set(self.products())

    def go_on(self, what, check):
        """Begins one round after the other until `check` returns something true. Each round begins
        only when all jobs are where the previous one placed them."""
        def passed():
            if not self.is_settled():
                return False
            if check():
                return True
            self.begin_round("typed")
            time.sleep(2)  # time for the answers of the check
            return False
        wait_for(what, passed, SETTLING)

    def are(self, **wanted):
        """Returns whether these jobs run on these products."""
        products = self.products()
        return {name: products.get(name) for name in wanted} == wanted

    def have(self, **wanted):
        """Waits until these jobs run on these products."""
        wait_for(f"{wanted}", lambda: self.are(**wanted), SETTLING)

    def test_each_job_has_the_product_on_which_it_is_worth_most(self):
        self.follow()
        # The first job has the best product until a round begins.
        self.start(*(training(f"flat-{number}", "flat") for number in range(4)))
        self.create(*(training(f"steep-{number}", "steep") for number in range(2)))
        wait_for("all to run", lambda: len(self.products()) == 6)
        self.go_on("all to be where they are worth most", lambda: self.are(**{"steep-0": "V100", "steep-1": "V100"}))
        answer = self.answer("steep-0")
        self.assertEqual((answer["state"], answer["podSetUpdates"]),
                         ("Ready", [{"name": "main", "nodeSelector": {PRODUCT: "V100"}}]))
        self.assertIn("V100 6, P100 2, K80 1", answer["message"])
        status = self.cluster.get("roundpolicy", "typed")["status"]
        self.assertEqual([(entry["name"], entry["ready"]) for entry in status["queues"]], [("typed", True)])
        wait_for("all to be shown", lambda: {
            item["job"]: item["gpuProduct"] for item in self.read("queue", "typed")[0]["workloads"]} == self.products())
        self.assertIn("GPU type V100: its turn is on V100; speeds: V100 6, P100 2, K80 1",
                      self.synergy("explain", "job", "steep-0"))
        # All jobs are where they should be, so none moves.
        before = {name: pod["metadata"]["uid"] for name, pod in self.cluster.pods().items()}
        with queues.Watcher(self.cluster, "typed") as watcher:
            for _ in range(3):
                self.begin_round("typed")
            time.sleep(2)
        self.assertEqual(watcher.turns, dict.fromkeys(self.products(), 1))
        self.assertEqual({name: pod["metadata"]["uid"] for name, pod in self.cluster.pods().items()}, before)

    def test_a_type_that_the_user_names_stays_and_a_job_moves_to_a_faster_one_once_it_is_free(self):
        self.follow()
        self.start(training("first", "flat", checkpoints=False, **on("V100")), training("second", "flat", **on("V100")))
        self.have(first="V100", second="V100")
        self.create(training("moves", "steep"))
        self.have(moves="P100")
        pods = {pod["metadata"]["labels"]["job-name"]: pod["metadata"]["uid"] for pod in self.cluster.pods().values()}
        self.create(training("slow", "steep", **on("K80")))
        self.have(slow="K80")
        self.end("second")
        self.go_on("it to move", lambda: self.are(moves="V100"))
        log = (self.cluster.state / "logs/synergy-controller.log").read_text(encoding="utf-8")
        self.assertRegex(log, r"its turn moves from P100 to V100")
        read = wait_for("the event", lambda: [text for text in self.cluster.events("moves")
                                              if text.startswith("moves from P100 to V100; speeds: ")])
        self.assertEqual(len(read), 1)
        after = {pod["metadata"]["labels"]["job-name"]: pod["metadata"]["uid"] for pod in self.cluster.pods().values()}
        self.assertEqual(after["first"], pods["first"], "it does not checkpoint")
        self.assertEqual(self.products()["slow"], "K80")

    def test_jobs_that_are_as_good_take_turns_on_what_is_too_little(self):
        """Seven jobs share six GPUs, and each gets turns."""
        self.follow()
        names = [f"steep-{number}" for number in range(7)]
        self.start(*(training(name, "steep") for name in names))
        ran, on_v100 = set(), set()

        def seen():
            ran.update(products := self.products())
            on_v100.update(name for name, product in products.items() if product == "V100")
            return ran == set(names) and len(on_v100) >= (5 if tiers.IS_LONG else 3)

        self.go_on("all to have run, and more than two of them on a V100", seen)

    def test_untyped_jobs_start_at_once_and_stale_answers_are_refused(self):
        self.create(training("plain", "steep", "plain"))
        wait_for("it to run", lambda: "plain" in self.products())
        self.assertEqual(self.answer("plain")["state"], "Ready")
        self.assertNotIn("podSetUpdates", self.answer("plain"))
        check = self.cluster.get("admissioncheck", CHECK)
        self.assertIn(("Active", "True"), [(entry["type"], entry["status"]) for entry in check["status"]["conditions"]])
        # The controller relies on this: a Retry that it writes with an old resource version never
        # meets an eviction by Kueue.
        workload = self.workload("plain")
        answer = workload["status"]["admissionChecks"][0] | {"state": "Retry", "requeueAfterSeconds": 1}
        metadata = workload["metadata"]
        patch = [{"op": "replace", "path": "/metadata/uid", "value": metadata["uid"]},
                 {"op": "replace", "path": "/metadata/resourceVersion",
                  "value": str(int(metadata["resourceVersion"]) - 1)},
                 {"op": "replace", "path": "/status/admissionChecks/0", "value": answer}]
        with self.assertRaisesRegex(AssertionError, "has been modified"):
            path = self.cluster.api.kind("workload").path(name=metadata["name"]) + "/status"
            self.cluster.called("PATCH", path, patch, "application/json-patch+json")
        self.assertEqual(self.answer("plain")["state"], "Ready")

    def test_queues_with_typed_flavors_are_refused(self):
        self.follow(queue="by-type")
        status = wait_for("its status",
                          lambda: self.cluster.get("roundpolicy", "by-type").get("status", {}).get("conditions"))
        self.assertEqual((status[0]["status"], status[0]["reason"]), ("False", "QueueRefused"))
        self.assertRegex(status[0]["message"], re.escape("flavor v100s names the GPU product V100"))

    def test_former_names_work_and_combinations_without_a_meaning_are_refused(self):
        self.create(queues.round_policy("typed", "gavel-las", ROUND))

        def conditions():
            status = self.cluster.get("roundpolicy", "typed").get("status", {})
            return {condition["type"]: condition for condition in status.get("conditions", [])}
        former = wait_for("the policy to state its present name", lambda: conditions().get("Deprecated"))
        self.assertIn("policy: las, gpuTypes: Aware", former["message"])
        self.assertEqual(conditions()["Ready"]["status"], "True")
        for spec, why in (({"policy": "srtf", "gpuTypes": "Aware"}, "needs one of the policies fifo, las"),
                          ({"policy": "makespan"}, "this policy needs gpuTypes"),
                          ({"policy": "las", "workers": "Elastic"}, "Elastic needs policy fifo"),
                          ({"policy": "fifo", "gpuTypes": "Ignore", "workers": "Elastic"},
                           "Elastic excludes gpuTypes")):
            self.assertIn(why, self.cluster.complaint("PATCH", "roundpolicy", "typed", {"spec": spec}))
        self.cluster.patch("roundpolicy", "typed", {"spec": {"policy": "las", "gpuTypes": "Aware"}})
        wait_for("the condition to be gone", lambda: "Deprecated" not in conditions())

    def test_missing_prices_of_a_cost_policy_are_named(self):
        self.follow("cost", prices={"V100": 1})
        status = wait_for("its status",
                          lambda: self.cluster.get("roundpolicy", "typed").get("status", {}).get("conditions"))
        self.assertEqual(status[0]["status"], "False")
        self.assertRegex(status[0]["message"], r"spec\.prices: (P100|K80) has none")

    def test_jobs_start_without_a_leader(self):
        self.follow()
        self.stop_controller()
        self.addCleanup(self.cluster.delete, "lease", queues.CONTROLLER, namespace="synergy-system")
        # A dead leader still holds the lease, for an hour.
        held = {"holderIdentity": "dead", "leaseDurationSeconds": 3600, "renewTime": "2026-01-01T00:00:00.000000Z"}
        self.cluster.patch("lease", queues.CONTROLLER, {"spec": held}, namespace="synergy-system")
        self.start_controller()
        self.create(training("orphan", "steep"))
        wait_for("it to run", lambda: "orphan" in self.products())
        self.assertIn("it may use any", self.answer("orphan")["message"])
        self.assertNotIn("podSetUpdates", self.answer("orphan"))
        # The next leader moves the job to the product that it should have.
        self.cluster.delete("lease", queues.CONTROLLER, namespace="synergy-system")
        self.have(orphan="V100")

    def test_deadlines_are_met_at_the_least_cost_and_lost_ones_are_shown(self):
        """One V100 and two K80s are free. Each job needs an hour on a V100, or twice that on a
        P100, because it reports no progress."""
        both = training("both", "flat", "plain", **on("P100"))
        both["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"][GPU] = "2"
        self.create(both, training("one", "flat", "plain", **on("V100")))
        self.have(both="P100", one="V100")
        # All jobs exist before the first decision.
        self.hold("Hold")
        self.create(due(training("far", "steep"), hours=15), due(training("near", "steep"), minutes=65),
                    due(training("lost", "steep", **on("K80")), minutes=30))
        wait_for("all to be queued", lambda: len(self.read("queue", "typed")[0]["workloads"]) == 3)
        self.follow("cost", prices={"V100": 4, "P100": 1.5, "K80": 0.5, "T4": 1})
        wait_for("the queue to be ordered",
                 lambda: self.cluster.get("roundpolicy", "typed").get("status", {}).get("queues", [{}])[0].get("ready"))
        self.hold("None")
        self.have(near="V100", far="K80", lost="K80")
        self.assertIn("it may miss its deadline", self.synergy("explain", "job", "lost"))
        self.assertNotIn("may miss its deadline", self.synergy("explain", "job", "near"))

    def hold(self, how):
        self.cluster.patch("clusterqueue", "typed", {"spec": {"stopPolicy": how}})
        if how != "None":
            self.addCleanup(self.hold, "None")

    def test_speeds_are_learnt_from_progress(self):
        trainers.advertise_gpus(self.cluster)
        self.addCleanup(trainers.advertise_gpus, self.cluster, 0)
        self.follow()
        # The cluster does not know this workload yet.
        workload = f"new-{time.time_ns()}"
        self.start(real_training("first", "T4", workload))
        self.have(first="T4")
        self.assertIn("speeds: T4 1 (estimate)", self.synergy("explain", "job", "first"))
        rates = set()

        def known():
            rates.update(pod["rate"] for pod in self.progress() if pod.get("rate"))
            return rates
        wait_for("its progress to be known", known)
        # The speed is fitted when a round begins, and later answers use the new speed.
        self.begin_round("typed")
        known()
        self.create(real_training("second", "T4", workload))
        self.have(second="T4")
        read = re.search(r"its turn is on T4; speeds: T4 ([\d.]+)$", self.synergy("explain", "job", "second"), re.M)
        # It is far from the estimate, 1, even if the trainer stalled between the reports.
        self.assertGreater(float(read.group(1)), 0.5 * min(rates))
        self.assertLess(float(read.group(1)), 2 * max(rates))


if __name__ == "__main__":
    failures.main()
