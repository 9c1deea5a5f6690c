"""Jobs of Ray and of Open MPI that train on a real node, under their operators: each as a whole
gang, with progress."""

import os
import pathlib
import subprocess
import unittest

import failing
import failures
import names
import trainers
from cluster import GPU, ROOT, Extender, own_cluster, wait_for
from races import SIZE

INSTANCE = int(os.environ.get("SYNERGY_TEST_INSTANCE", "12"))
SUBNET = f"10.{244 - INSTANCE}.1"  # the addresses of the node's pods
JOBS = ROOT / "tests/cluster/queueing/jobs"
# the files in the pods' folder /jobs
PROGRAMS = (JOBS / "train_mpi.py", JOBS / "train_ray.py", ROOT / "examples/synergy_progress.py")
GPUS = 2
ITERATIONS = 100000  # so many that no test waits for the end
LONG = 300  # seconds; only limits how long a failing test waits


def template(name, gpus, memory, command=None):
    container = {"name": name, "image": "synergy.test/jobs:1", "imagePullPolicy": "Never",
                 "resources": {"requests": {"memory": memory}, "limits": {GPU: "1"} if gpus else {}},
                 "volumeMounts": [{"name": "jobs", "mountPath": "/jobs"}]}
    if command:
        container["command"] = command
    return {"metadata": {"annotations": {"synergy.io/progress-file": "true"}} if gpus else {},
            "spec": {"schedulerName": "synergy-scheduler", "nodeSelector": {"synergy.test/node": "real"},
                     "terminationGracePeriodSeconds": 0, "dnsPolicy": "None",
                     "dnsConfig": {"nameservers": [f"{SUBNET}.1"]}, "containers": [container],
                     "volumes": [{"name": "jobs", "configMap": {"name": "jobs"}}]}}


def mpi_job(name):
    command = ["mpirun", "--allow-run-as-root", "-x", "SYNERGY_PROGRESS_FILE=/run/synergy-progress/progress",
               "python3", "/jobs/train_mpi.py", str(ITERATIONS), "0.1"]
    return {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": name},
            "spec": {"slotsPerWorker": 1, "mpiReplicaSpecs": {
                "Launcher": {"replicas": 1, "restartPolicy": "OnFailure",
                             "template": template("launcher", 0, "64Mi", command)},
                "Worker": {"replicas": GPUS, "template": template("worker", 1, "128Mi")}}}}


def ray_job(name):
    memory = {"object-store-memory": "100000000", "num-cpus": "1"}
    submitter = template("ray-job-submitter", 0, "128Mi")
    submitter["spec"]["restartPolicy"] = "Never"
    return {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": name},
            "spec": {"entrypoint": f"python3 /jobs/train_ray.py {GPUS} {ITERATIONS} 0.1",
                     "submitterPodTemplate": submitter,
                     "rayClusterSpec": {
                         "rayVersion": "2.46.0",
                         "headGroupSpec": {"rayStartParams": memory, "template": template("head", 0, "512Mi")},
                         "workerGroupSpecs": [{
                             "groupName": "gpu", "replicas": GPUS, "minReplicas": GPUS, "maxReplicas": GPUS,
                             "rayStartParams": memory, "template": template("worker", 1, "512Mi")}]}}}


class RealJobsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(os.environ["SYNERGY_TEST_STATE"]) / "real-jobs"
        cls.cluster = cls.enterClassContext(own_cluster(
            folder, INSTANCE, "--controller", os.environ["SYNERGY_BIN"], "--agents", "--shipped-settings",
            "--job-operators"))
        made = subprocess.run([str(JOBS / "image.sh")], check=True, stdout=subprocess.PIPE, text=True)
        cls.cluster.script("load-image", made.stdout.strip())
        trainers.advertise_gpus(cls.cluster, GPUS)
        programs = {file.name: file.read_text(encoding="utf-8") for file in PROGRAMS}
        cls.cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "jobs"}, "data": programs})
        served = names.Names(cls.cluster, f"{SUBNET}.1")
        cls.addClassCleanup(served.end)
        extender = Extender(cls.cluster, shipped=True)
        cls.addClassCleanup(extender.log.close)
        cls.addClassCleanup(extender.end)
        extender.start()

    def trains(self, item, selector):
        """Checks that the job's workers are a gang whose progress is known."""
        kind, name = item["kind"].lower(), item["metadata"]["name"]
        self.addCleanup(self.cluster.delete, kind, name, wait=True)
        self.cluster.create(item)

        def workers():
            return self.cluster.get("pods", labelSelector=selector)["items"]

        def progress():
            """Returns name -> progress of the workers. The controller remembers deleted pods for
            two minutes."""
            names = {each["metadata"]["name"] for each in workers()}
            known = self.cluster.progress()
            return {each["name"]: each for each in known if each["name"] in names and each.get("rate")}
        found = wait_for("progress of all workers", lambda: len(read := progress()) == GPUS and read, LONG)
        self.assertEqual([each["metadata"]["labels"][SIZE] for each in workers()], [str(GPUS)] * GPUS)
        for each in found.values():
            self.assertEqual(each["total"], ITERATIONS, each)
        return found

    def fails_by_its_program(self, item):
        """Checks that the failure of a job is found in the log of its pod without GPUs."""
        kind, name = item["kind"].lower(), item["metadata"]["name"]
        self.addCleanup(self.cluster.delete, kind, name, wait=True)
        self.cluster.create(item)
        record = wait_for("its failure", lambda: failing.records_of(self.cluster).get(name), LONG)[0]
        self.assertEqual((record["category"], record["cause"], record["owner"]["kind"]),
                         ("import", "user", item["kind"]), record)
        self.assertIn("No module named 'apex'", record["evidence"])

    def test_the_launcher_of_an_mpijob_shows_why_it_failed(self):
        broken = mpi_job("broken")
        launcher = broken["spec"]["mpiReplicaSpecs"]["Launcher"]
        launcher["restartPolicy"] = "Never"
        launcher["template"]["spec"]["containers"][0]["command"] = [
            "mpirun", "--allow-run-as-root", "python3", "-c", "import apex"]
        broken["spec"]["runPolicy"] = {"backoffLimit": 0}
        self.fails_by_its_program(broken)

    def test_the_submitter_of_a_rayjob_shows_why_it_failed(self):
        broken = ray_job("broken-ray")
        broken["spec"] |= {"entrypoint": "python3 -c 'import apex'", "backoffLimit": 0,
                           "submitterConfig": {"backoffLimit": 0}}
        self.fails_by_its_program(broken)

    def test_workers_of_open_mpi_are_a_gang_with_progress(self):
        self.trains(mpi_job("bert"), "training.kubeflow.org/job-role=worker")

    def test_workers_of_a_rayjob_are_a_gang_with_progress(self):
        self.trains(ray_job("tune"), "ray.io/node-type=worker")


if __name__ == "__main__":
    failures.main()
