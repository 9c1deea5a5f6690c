"""Installs the chart on a cluster of its own: from images in pods to a running GPU pod, then
upgrade, rollback and uninstall.

All tests use one installation, in the order of their names.
"""

import base64
import collections
import contextlib
import json
import os
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import tarfile
import threading
import time
import unittest
import urllib.error
import urllib.request

import yaml

import dashboards
import elastic
import failures
import foreign_kinds
import helm
import prometheus
import queues
import registry
import tiers
import trainers
from api import PODS
from chart_test import COMBINATIONS
from cluster import GPU, ROOT, Cluster, free_port, wait_for
from invariants import quantity
from trainers import milli, milli_cpu

NAMESPACE = helm.NAMESPACE
INSTANCE = os.environ.get("SYNERGY_TEST_INSTANCE", "8")
NODE = "node-1"
GPUS = 2
ROUND = 5  # seconds
# Only limits how long a failing test waits, however busy the machine is.
PATIENCE = "900s"
VALUES = {
    "kueue": {"enabled": True, "elastic": True},
    "devicePlugin": {"enabled": True, "inventory": "driverVersion: '550.54'\ngpus:\n" + "".join(
        f"- {{uuid: GPU-{number}, product: NVIDIA A100-SXM4-80GB, memory: 80Gi}}\n" for number in range(GPUS))},
    "nodeAgent": {"config": {"kubeletCgroupRoot": f"/synergy-test-{INSTANCE}/{NODE}"}},
    "controller": {"config": {"tuner": {"round": "5s"}, "stalenessLimit": "15s", "gangPreemption": {"enabled": True}}},
    "extender": {"config": {"stalenessLimit": "15s"}},
    "tests": {"gpuPod": {"enabled": True}},
    "metrics": {"authorization": True},
    "progress": {"readers": [{"kind": "ServiceAccount", "name": "reader", "namespace": "default"}]},
    # A review that is late leaves a pod as it is written.
    "webhook": {"timeoutSeconds": 30},
    # With headroom, a machine of two cores would have all the CPU that one more pod needs, and no
    # pod would have to be cut.
    "nodeHeadroom": {"cpu": "0"},
}
# Program -> the workload and the container that run it.
CONTAINERS = {
    "synergy-extender": ("deployment/synergy-scheduler", "extender"),
    "synergy-controller": ("deployment/synergy-controller", "controller"),
    "synergy-node-agent": ("daemonset/synergy-node-agent", "agent"),
    "synergy-device-plugin": ("daemonset/synergy-device-plugin", "device-plugin"),
}
# Counters that appear with their first fault, which no test here provokes.
NOT_YET = {"synergy_extender_errors_total", "synergy_controller_bad_input_total", "synergy_tuner_failed_changes_total",
           "synergy_gpu_xid_errors_total"}
# Metrics that need a driver or an exporter. Here the GPUs are in a file.
OF_A_DRIVER = {"synergy_gpu_last_xid", "synergy_gpu_memory_used_bytes", "synergy_gpu_power_watts",
               "synergy_gpu_temperature_celsius", "synergy_gpu_utilization_ratio", "synergy_gpu_xid_errors_total",
               "synergy_idle_gpus", "synergy_pod_gpu_memory_used_bytes", "synergy_pod_gpu_utilization_ratio"}
# Metrics that only queues of Kueue have.
OF_A_QUEUE = {"synergy_rounds_delay_seconds_total", "synergy_rounds_lost_turns_total", "synergy_rounds_workloads"}
# Metrics that only failed pods have.
OF_A_FAILURE = {"synergy_failed_gpu_seconds_total", "synergy_failures_total"}
# Alerts that nothing here provokes. Only promtool checks them.
NOT_PROVOKED = {"SynergyGpuXid": "a file of GPUs has no Xids", "SynergyGpuUnreachable": "nor dead ones",
                "SynergyDevicesLost": "no resize costs a container its devices here",
                "SynergyNodeSuspect": "no fault of a node can be made here",
                "SynergyTunerWithTwoLeaders": "the Lease rules it out",
                "SynergyMeasurementsNotKept": "nothing trains for long enough to be measured",
                "SynergyBindInDoubt": "the API server would have to fall silent for minutes in the middle of a bind"}
# Alerts whose faults take a long time.
OF_THE_LONG_TIER = {"SynergyResizesFail", "SynergyMemoryStuck", "SynergyMemoryKill", "SynergyExtenderSlow"}
# Rights of a role that no call here used, and their purpose.
NOT_SEEN = {
    "synergy-extender": {
        ("", "pods", "get"): "what became of a bind whose answer was lost",
        ("", "events", "patch"): "an event that is repeated",
    },
    "synergy-controller": {
        ("", "pods", "get"): "what became of a change whose answer was lost",
        ("", "events", "patch"): "an event that is repeated",
        ("batch", "jobs", "get"): "the gang of a Job whose pods train together",
        ("kubeflow.org", "pytorchjobs", "get"): "the gang of a PyTorchJob",
        ("kubeflow.org", "mpijobs", "get"): "the gang of an MPIJob",
        ("ray.io", "rayclusters", "get"): "the gang of a RayCluster's workers",
        ("leaderworkerset.x-k8s.io", "leaderworkersets", "get"): "the gang of a group of a LeaderWorkerSet",
        ("scheduling.x-k8s.io", "podgroups", "get"): "the gang of a PodGroup",
        ("scheduling.k8s.io", "podgroups", "get"): "the gang of a PodGroup of Kubernetes' own",
        ("jobset.x-k8s.io", "jobsets", "get"): "whether a JobSet creates the pods of a gang one after the other",
        ("", "pods/eviction", "create"): "gangs of higher priority",
        ("", "configmaps", "create"): "the record of the first pod of a namespace that fails",
        ("", "configmaps", "get"): "such a record that another controller has written meanwhile",
        ("", "configmaps", "patch"): "the record of another pod that fails",
        ("", "configmaps", "delete"): "the records of a namespace that is gone",
        ("synergy.io", "trainingprofiles", "create"): "what was measured of a workload",
        ("synergy.io", "trainingprofiles", "delete"): "what was measured of a workload that has not run for a month",
    },
    "synergy-node-agent": {
        ("", "events", "create"): "page cache was released",
        ("", "pods/status", "patch"): "a pod that has memory above its floor",
        ("", "events", "patch"): "an event that is repeated",
    },
    "synergy-device-plugin": {
        ("", "events", "create"): "an unhealthy GPU",
        ("", "events", "patch"): "an event that is repeated",
    },
}


class Installation(Cluster):
    """A cluster whose real node has the images, with Helm for it."""

    audited = 0  # lines of the audit log before the installation whose calls are checked

    def __init__(self):
        # The state is apart from that of the shared cluster.
        os.environ["SYNERGY_TEST_STATE"] += "/install"
        self.folder = pathlib.Path(os.environ["SYNERGY_TEST_STATE"])
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "extender-port").write_text("0", encoding="utf-8")
        self.state = self.folder / "cluster"
        self.script("down")
        images = self.folder / "images.tar"
        build = [str(ROOT / "scripts/images.sh"), "--programs", os.environ["SYNERGY_BIN"], "--output", str(images)]
        try:
            with subprocess.Popen(build) as building:
                self.script("up", "--instance", INSTANCE, "--services", "--audit", NAMESPACE, "--kueue")
            if building.returncode != 0:
                raise AssertionError("scripts/images.sh failed")
            super().__init__()
            self.version = json.loads(self.kubectl("version", "--output=json"))["serverVersion"]["gitVersion"]
            print(f"on Kubernetes {self.version}", file=sys.stderr)
            self.script("load-image", str(images))
            self.kubectl("label", "node", NODE, "synergy.io/gpu-node=true")
        except BaseException:
            self.script("down")
            raise

    def helm(self, *arguments, values=None):
        done = helm.run(*arguments, "--namespace", NAMESPACE, values=values, environment=self.environment)
        if done.returncode != 0:
            raise AssertionError(
                f"helm {' '.join(arguments)}: {done.stderr}\n{self.kubectl('get', 'pods', '-A', '-o', 'wide')}")
        return done.stdout

    def system_pods(self):
        return self.get("pods", namespace=NAMESPACE)["items"]

    def audit_lines(self):
        return (self.state / "logs/audit.log").read_text(encoding="utf-8").splitlines()

    def audit(self):
        for line in self.audit_lines()[self.audited:]:
            yield json.loads(line)


def leave_a_container():
    """Leaves behind what a killed scripts/images.sh leaves: a container whose image has no name."""
    store = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "synergy/images"
    environment = {**os.environ, "CONTAINERS_STORAGE_CONF": str(store / "storage.conf"), "BUILDAH_ISOLATION": "chroot"}

    def buildah(*arguments):
        return subprocess.run(["buildah", *arguments], check=True, stdout=subprocess.PIPE, text=True,
                              env=environment).stdout.strip()
    image = buildah("commit", "--quiet", "--rm", buildah("from", "scratch"))
    buildah("from", "--pull-never", image)


def training_pod(name, profile=None, command=("sh", "-c", "echo $NVIDIA_VISIBLE_DEVICES $SYNERGY_CPUS; sleep 600")):
    # The label requests management, even if it names no profile.
    metadata = {"name": name, "labels": {"test": "install", "synergy.io/profile": profile or ""}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {
        "restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [{
            "name": "train", "image": "synergy.test/busybox:1", "command": list(command),
            "resources": {"limits": {GPU: 1}}}]}}


def is_ready(pod):
    return any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"].get("conditions", []))


def restarts(pod):
    """Counts the restarts of Synergy's programs. kube-scheduler ends when it cannot renew its lease in
    time."""
    status = pod["status"]
    return sum(c["restartCount"]
               for c in [*status.get("containerStatuses", []), *status.get("initContainerStatuses", [])]
               if c["name"] != "kube-scheduler")


class InstallTest(unittest.TestCase):
    fired = set()  # names of alerts that have fired

    @classmethod
    def setUpClass(cls):
        cls.cluster = Installation()
        cls.addClassCleanup(cls.cluster.script, "down", "--keep-logs")

    def test_0_images_hold_a_program_and_its_libraries(self):
        with tarfile.open(self.cluster.folder / "images.tar") as archive:
            def read(digest):
                return archive.extractfile("./blobs/sha256/" + digest.removeprefix("sha256:"))
            for image in json.load(archive.extractfile("./index.json"))["manifests"]:
                name = image["annotations"]["org.opencontainers.image.ref.name"]
                if "/synergy/" not in name:
                    continue
                with self.subTest(name):
                    files, size = {}, 0
                    for layer in json.load(read(image["digest"]))["layers"]:
                        with tarfile.open(fileobj=read(layer["digest"])) as content:
                            files |= {entry.name.removeprefix("./"): entry for entry in content}
                            size += sum(entry.size for entry in content)
                            status = content.extractfile("var/lib/dpkg/status").read().decode()
                    programs = [path for path, entry in files.items() if entry.isfile() and entry.mode & 0o111
                                and ".so" not in path]
                    self.assertEqual(len(programs), 1, programs)
                    self.assertTrue(programs[0].startswith("usr/local/bin/synergy"), programs)
                    self.assertLess(size, 40_000_000)
                    # Scanners can read the list of packages, and each package has its licence.
                    packages = re.findall("^Package: (.*)$", status, re.MULTILINE)
                    self.assertLessEqual({"libc6", "libssl3", "libstdc++6", "base-files"}, set(packages))
                    self.assertLessEqual({f"usr/share/doc/{package}/copyright" for package in packages}, set(files))

    @tiers.long
    def test_0_images_go_to_a_registry_as_lists_over_architectures(self):
        leave_a_container()
        with registry.Registry() as there:
            subprocess.run([str(ROOT / "scripts/images.sh"), "--programs", os.environ["SYNERGY_BIN"],
                            "--push", there.host, "--plain-http"],
                           check=True)
            version = yaml.safe_load((helm.CHART / "Chart.yaml").read_text(encoding="utf-8"))["appVersion"]
            machine = subprocess.run(["dpkg", "--print-architecture"], check=True, stdout=subprocess.PIPE,
                                     text=True).stdout.strip()
            for name in ("extender", "controller", "deviceplugin", "nodeagent", "cli"):
                index = there.manifest(f"synergy/{name}", version)
                self.assertEqual(index["mediaType"], "application/vnd.docker.distribution.manifest.list.v2+json")
                images = index["manifests"]
                self.assertEqual([(image["platform"]["os"], image["platform"]["architecture"]) for image in images],
                                 [("linux", machine)])
                image = there.manifest(f"synergy/{name}", images[0]["digest"])
                config = json.loads(there.blobs[image["config"]["digest"]])
                self.assertEqual(config["architecture"], machine)
                self.assertEqual(config["config"]["Labels"]["org.opencontainers.image.version"], version)

    def test_1_api_server_takes_every_object(self):
        """Creates the objects of all combinations of values with --dry-run=server, as another
        release, so that none exists yet."""
        self.cluster.kubectl("create", "namespace", "elsewhere")
        # Installs them as a chart with the folder crds/ would: without Helm's labels.
        self.cluster.kubectl("apply", "--filename", str(ROOT / "manifests/crds"))
        # Most objects are the same in several combinations; each is created once.
        different = {json.dumps(item, sort_keys=True): item for values in COMBINATIONS.values()
                     for item in helm.template(values, release="other", namespace="elsewhere")}
        kinds = foreign_kinds.definitions(foreign_kinds.OF_THE_CHART)
        self.cluster.create(*kinds)
        # kubectl's own wait fails while the API server has not processed a kind yet.
        for name in (*(kind["metadata"]["name"] for kind in kinds),
                     "trainingprofiles.synergy.io", "roundpolicies.synergy.io"):
            wait_for(f"{name} to be served", lambda name=name: any(
                c["type"] == "Established" and c["status"] == "True"
                for c in self.cluster.get("crd", name).get("status", {}).get("conditions") or []))
        message = self.cluster.kubectl("apply", "--dry-run=server", "--validate=strict", "--filename", "-",
                                    stdin=json.dumps(
                                        {"apiVersion": "v1", "kind": "List", "items": list(different.values())}))
        self.assertEqual(len(message.splitlines()), len(different))
        kinds = {f"{item['apiVersion']} {item['kind']}" for item in different.values()}
        print(f"the API server takes {len(different)} different objects of {len(kinds)} kinds", file=sys.stderr)
        self.cluster.kubectl("create", "namespace", NAMESPACE)
        self.cluster.kubectl("apply", "--dry-run=server", "--kustomize", str(ROOT / "manifests"))
        self.cluster.kubectl("apply", "--dry-run=server", "--kustomize", str(ROOT / "manifests/device-plugin"))
        self.cluster.kubectl("apply", "--dry-run=server", "--filename", str(ROOT / "examples/jobs"))
        self.cluster.kubectl("delete", "namespace", "elsewhere", "--wait=false")

    def test_1_installing_without_rights_names_the_missing_ones(self):
        """docs/troubleshooting.md gives the cure for these messages."""
        self.cluster.kubectl("create", "namespace", "theirs")
        self.addCleanup(self.cluster.kubectl, "delete", "namespace", "theirs", "--wait=false")
        self.cluster.kubectl("--namespace", "theirs", "create", "rolebinding", "owner", "--clusterrole=admin",
                             "--user=owner")
        for user in ("stranger", "owner"):
            done = helm.run("install", "synergy", str(helm.CHART), "--namespace", "theirs", "--kube-as-user", user,
                            values={}, environment=self.cluster.environment)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, rf'mutatingwebhookconfigurations\S+ is forbidden: User "{user}" cannot')
        self.assertEqual(self.cluster.get("secrets", namespace="theirs")["items"], [], "no half of a release is left")

    def test_1_kinds_that_no_release_owns_are_adopted_where_that_is_asked_for(self):
        """docs/operate.md gives the cure for this message."""
        def trial(*options):
            return helm.run("install", "synergy", str(helm.CHART), "--namespace", NAMESPACE, "--dry-run=server",
                            *options, values={}, environment=self.cluster.environment)

        self.assertRegex(trial().stderr, r'CustomResourceDefinition "\S+" .* cannot be imported into the current')
        self.assertEqual(trial("--take-ownership").returncode, 0)

    def test_1_shadow_mode_logs_where_it_would_place_a_pod(self):
        """Tests shadow mode. No device plugin runs yet, so the test advertises the node's GPUs
        itself."""
        resource = f"/status/capacity/{GPU.replace('/', '~1')}"

        def patch(**change):
            self.cluster.kubectl("patch", "node", NODE, "--subresource=status", "--type=json",
                                 "--patch", json.dumps([{"path": resource, **change}]))
        patch(op="add", value="1")
        self.cluster.helm("install", "synergy", str(helm.CHART), "--create-namespace", "--wait", "--timeout", PATIENCE,
                          values={"extender": {"shadow": True}})
        pods = self.cluster.system_pods()
        self.assertEqual(len(pods), 1)
        wait_for("the GPU", lambda: self.cluster.get("node", NODE)["status"]["allocatable"].get(GPU) == "1")
        bare = training_pod("bare")
        self.cluster.create(bare)
        wait_for("the pod to be bound", lambda: self.cluster.bound().get("bare"))
        self.assertEqual(self.cluster.get("pod", "bare")["spec"]["containers"][0]["resources"],
                         {"limits": {GPU: "1"}, "requests": {GPU: "1"}})
        metrics = f"/api/v1/namespaces/{NAMESPACE}/pods/{pods[0]['metadata']['name']}:8889/proxy/metrics"
        agrees = 'synergy_extender_shadow_choices_total{agrees="yes"} 1'
        wait_for("it to be judged", lambda: agrees in self.cluster.kubectl("get", "--raw", metrics))
        self.cluster.helm("test", "synergy", "--timeout", PATIENCE)
        self.cluster.clear()
        if tiers.IS_LONG:
            # An upgrade tests the rest. The device plugin stays off, because its labels would stay
            # on the node.
            self.cluster.helm("upgrade", "synergy", str(helm.CHART), "--take-ownership", "--wait",
                              "--timeout", PATIENCE, values={**VALUES, "devicePlugin": {"enabled": False}})
            self.assertGreater(len(self.cluster.system_pods()), 3)
        self.cluster.helm("uninstall", "synergy", "--wait", "--timeout", PATIENCE)
        # Helm removes the rights of programs before the programs have ended.
        wait_for("the pods to be gone", lambda: not self.cluster.system_pods())
        # Helm leaves it, and the next installation would not create its own.
        self.cluster.delete("leases", "synergy-controller", namespace=NAMESPACE)
        self.cluster.audited = len(self.cluster.audit_lines())
        patch(op="remove")
        wait_for("the GPU to be gone",
                 lambda: self.cluster.get("node", NODE)["status"]["allocatable"].get(GPU, "0") == "0")

    def test_2_installs_and_is_ready(self):
        started = time.monotonic()
        notes = self.cluster.helm("install", "synergy", str(helm.CHART), "--create-namespace", "--take-ownership",
                                  "--wait", "--timeout", PATIENCE, values=VALUES)
        print(f"helm install --wait took {time.monotonic() - started:.0f} s", file=sys.stderr)
        self.assertIn("kubectl delete crd trainingprofiles.synergy.io", notes)
        # Helm counts a DaemonSet as ready when one pod is missing. On one node, that is every pod.
        pods = wait_for("all pods to be ready",
                        lambda: all(map(is_ready, self.cluster.system_pods())) and self.cluster.system_pods())
        self.assertEqual(len(pods), 6)
        self.assertEqual({container["image"] for pod in pods
                          for container in pod["spec"]["containers"] if container["name"] == "kube-scheduler"},
                         {f"registry.k8s.io/kube-scheduler:{self.cluster.version}"})
        for pod in pods:
            self.assertEqual(restarts(pod), 0, pod["metadata"]["name"])
        type(self).prometheus = prometheus.Prometheus(self.cluster, self.cluster.system_pods)
        self.addClassCleanup(self.prometheus.end)
        type(self).began = time.time()
        wait_for("the GPUs", lambda: self.cluster.get("node", NODE)["status"]["allocatable"].get(GPU) == str(GPUS))
        self.assertRegex(self.cluster.kubectl("get", "--raw", "/metrics"),
                         r'apiserver_flowcontrol_dispatched_requests_total{flow_schema="synergy",'
                         r'priority_level="workload-high"} [1-9]')

    def test_3_passes_its_own_test(self):
        wait_for("the node's labels",
                 lambda: "nvidia.com/gpu.product" in self.cluster.get("node", NODE)["metadata"]["labels"])
        self.cluster.helm("test", "synergy", "--timeout", PATIENCE)
        # Checks health as the images' HEALTHCHECK does, with the settings of the programs' configurations.
        for program, (workload, container) in CONTAINERS.items():
            with self.subTest(program):
                self.cluster.kubectl("exec", f"--namespace={NAMESPACE}", workload, f"--container={container}",
                                     "--", program, "--check-health", "--metrics-authorization")

    def test_3_progress_comes_from_the_node_agents_and_to_its_readers(self):
        wait_for("each replica to have the agent's answer", lambda: len(
            self.prometheus.query('synergy_controller_progress_pulls_total{outcome="ok"} >= 1')) == 2)
        # A pull can be late on a busy machine.
        self.assertFalse(self.prometheus.query(
            'synergy_controller_progress_pulls_total{outcome=~"refused|unreadable"}'))
        agent = next(pod for pod in self.cluster.system_pods()
                     if pod["metadata"]["labels"]["app.kubernetes.io/component"] == "node-agent")
        self.assertEqual(json.loads(self.ask_agent(agent, "synergy-controller-certificate"))["node"], NODE)
        for stranger in (None, "synergy-node-agent-certificate"):
            with self.subTest(stranger), self.assertRaises(ssl.SSLError):
                self.ask_agent(agent, stranger)
        complaints = {account: self.top_pods(account) for account in (None, "reader", "stranger")}
        for account in (None, "reader"):
            self.assertNotIn("no progress", complaints[account])
        self.assertRegex(complaints["stranger"], "no progress: .*chart value progress.readers")

    def top_pods(self, account):
        """Returns the warnings that `kubectl synergy top pods` prints for that service account,
        which may read pods; without one, for the administrator."""
        environment = self.cluster.environment
        if account:
            self.cluster.kubectl("create", "serviceaccount", account)
            self.cluster.kubectl("create", "clusterrolebinding", f"{account}-sees-pods", "--clusterrole=view",
                                 f"--serviceaccount=default:{account}")
            config = yaml.safe_load(pathlib.Path(environment["KUBECONFIG"]).read_text(encoding="utf-8"))
            config["users"][0]["user"] = {"token": self.cluster.kubectl("create", "token", account).strip()}
            file = self.cluster.folder / f"{account}.kubeconfig"
            file.write_text(yaml.safe_dump(config), encoding="utf-8")
            environment = {**environment, "KUBECONFIG": str(file)}
        done = subprocess.run([f"{os.environ['SYNERGY_BIN']}/synergy", "top", "pods", "--all-namespaces"],
                              env=environment, capture_output=True, text=True, check=True)
        return done.stderr

    def test_3_only_the_readers_token_opens_progress(self):
        def status(token):
            pod = next(pod for pod in self.cluster.system_pods()
                       if pod["metadata"]["labels"]["app.kubernetes.io/component"] == "controller")
            request = urllib.request.Request(f"https://{pod['status']['podIP']}:8890/progress",
                                             headers={"Synergy-Token": token} if token else {})
            try:
                with urllib.request.urlopen(request, timeout=10, context=ssl._create_unverified_context()) as answer:
                    return answer.status, answer.read().decode()
            except urllib.error.HTTPError as refusal:
                return refusal.code, refusal.read().decode()

        def token(account, audience):
            return self.cluster.kubectl("create", "token", account, f"--namespace={NAMESPACE}",
                                        f"--audience={audience}").strip()

        ours, cure = "progress.synergy.io", "kubectl create token synergy-controller-progress"
        for name, given, expected, text in (("none", "", 401, cure), ("made up", "made-up", 401, cure),
                                            ("another audience", token("synergy-controller-progress",
                                                                       "https://kubernetes.default.svc"), 401, cure),
                                            ("another account", token("synergy-controller", ours), 403, cure),
                                            ("the reader's", token("synergy-controller-progress", ours), 200, "{")):
            with self.subTest(name):
                code, body = status(given)
                self.assertEqual(code, expected, body)
                self.assertIn(text, body)
                self.assertTrue(not given or given not in body, "the answer contains a token")

    def test_3_metrics_are_for_accounts_that_may_get_them(self):
        def status(address, token):
            request = urllib.request.Request(f"https://{address}/metrics",
                                             headers={"Authorization": f"Bearer {token}"} if token else {})
            try:
                with urllib.request.urlopen(request, timeout=10, context=ssl._create_unverified_context()) as answer:
                    return answer.status
            except urllib.error.HTTPError as refusal:
                return refusal.code

        def token(account):
            return self.cluster.kubectl("create", "token", account, f"--namespace={NAMESPACE}").strip()

        reader, stranger = token("synergy-metrics-reader"), token("synergy-controller-progress")
        for pod in self.cluster.system_pods():
            address = prometheus.address_of(pod)
            with self.subTest(pod["metadata"]["name"]):
                self.assertEqual([status(address, given) for given in (reader, stranger, "")], [200, 403, 401])

    def test_3_the_page_shows_what_a_token_may_read_and_refuses_the_service_proxy(self):
        """Installs only the page, in a namespace that enforces the strictest standard for pods."""
        def ask(url, token=None):
            request = urllib.request.Request(url)
            if token:
                request.add_header("Authorization", f"Bearer {token}")
            try:
                with urllib.request.urlopen(request, timeout=60, context=ssl._create_unverified_context()) as answer:
                    return answer.status, answer.read().decode()
            except urllib.error.HTTPError as refusal:
                return refusal.code, refusal.read().decode()

        self.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {
            "name": "page", "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}})
        self.addCleanup(self.cluster.delete, "namespace", "page", wait=True)
        objects = helm.template({"ui": {"enabled": True}}, namespace="page",
                                more=("--show-only", "templates/ui.yaml"))
        self.cluster.create(*objects)
        (pod,) = wait_for("the page to be ready", lambda: (pods := self.cluster.get("pods", namespace="page")["items"])
                          and all(map(is_ready, pods)) and pods)
        page = f"https://{pod['status']['podIP']}:8443"
        self.assertNotIn("serviceAccountToken", json.dumps(pod["spec"]["volumes"]))

        self.cluster.kubectl("create", "serviceaccount", "page-viewer")
        self.cluster.kubectl("create", "rolebinding", "page-viewer", "--clusterrole=view",
                             "--serviceaccount=default:page-viewer")
        self.cluster.kubectl("create", "role", "page-proxy", "--verb=get", "--resource=services/proxy",
                             "--namespace=page")
        self.cluster.kubectl("create", "rolebinding", "page-proxy", "--role=page-proxy", "--namespace=page",
                             "--serviceaccount=default:page-viewer")
        viewer = self.cluster.kubectl("create", "token", "page-viewer").strip()
        self.assertEqual(ask(f"{page}/state?namespace=default")[0], 401)
        code, own = ask(f"{page}/state?namespace=default", viewer)
        self.assertEqual(code, 200, own)
        self.assertEqual(json.loads(own)["state"]["nodes"], {})
        for path in ("/state", f"/state?namespace={NAMESPACE}"):
            code, refusal = ask(page + path, viewer)
            self.assertEqual(code, 403, refusal)
            self.assertIn("system:serviceaccount:default:page-viewer", refusal)
        server = yaml.safe_load(pathlib.Path(self.cluster.environment["KUBECONFIG"]).read_text(encoding="utf-8"))[
            "clusters"][0]["cluster"]["server"]
        proxied = f"{server}/api/v1/namespaces/page/services/https:synergy-ui:https/proxy"
        code, refusal = ask(f"{proxied}/state?namespace=default", viewer)
        self.assertEqual(code, 401)
        self.assertIn("use `kubectl port-forward` or an ingress", refusal)

    def ask_agent(self, pod, shown):
        """Returns what a node agent's pod answers to a client with the certificate in that
        Secret."""
        def content(secret, key):
            file = self.cluster.folder / f"{secret}-{key}"
            file.write_bytes(base64.b64decode(self.cluster.get("secret", secret, namespace=NAMESPACE)["data"][key]))
            return str(file)

        context = ssl.create_default_context(cafile=content("synergy-node-agent-certificate", "ca.crt"))
        if shown:
            context.load_cert_chain(content(shown, "tls.crt"), content(shown, "tls.key"))
        name = f"synergy-node-agent.{NAMESPACE}.svc"
        with socket.create_connection((pod["status"]["podIP"], 9412), 10) as connection, \
                context.wrap_socket(connection, server_hostname=name) as tls:
            tls.sendall(f"GET /progress HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode())
            answer = b"".join(iter(lambda: tls.recv(65536), b"")).decode()
        head, body = answer.split("\r\n\r\n", 1)
        self.assertRegex(head, r"^HTTP/1.1 200 ")
        return body

    def test_3_the_controller_deletes_no_profile_that_it_has_not_made(self):
        def profile(name, **metadata):
            return {"apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile", "spec": {"workload": name},
                    "metadata": {"name": name, "namespace": "default", **metadata}}
        self.cluster.create(profile("given"),
                            profile("own", labels={"app.kubernetes.io/managed-by": "synergy-controller"}))
        command = ("delete", "trainingprofile", "--namespace=default", "--wait=false",
                   "--as", f"system:serviceaccount:{NAMESPACE}:synergy-controller")
        with self.assertRaisesRegex(AssertionError, "of its own measurements"):
            self.cluster.kubectl(*command, "given")
        self.cluster.kubectl(*command, "own")
        self.cluster.kubectl("delete", "trainingprofile", "given", "--namespace=default")

    def test_4_cpu_changes_hands_with_everything_in_pods(self):
        self.cluster.clear()
        self.cluster.create(training_pod("plain"))
        fair = milli(json.loads(
            wait_for("the webhook", lambda: self.cluster.get("pod", "plain")["metadata"].get("annotations", {}).get(
                "synergy.io/fair-share")))["cpu"])
        self.cluster.clear()
        demand = fair * 3 // 2
        self.cluster.create({
            "apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile",
            "metadata": {"name": "hungry", "namespace": "default"},
            "spec": {"processMemory": "1Mi",
                     "points": [{"cpu": f"{fair // 2}m", "memory": "64Mi", "throughput": 1},
                                {"cpu": f"{fair}m", "memory": "64Mi", "throughput": 2},
                                {"cpu": f"{demand}m", "memory": "64Mi", "throughput": 3}]}})
        self.cluster.create({
            "apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile",
            "metadata": {"name": "modest", "namespace": "default"},
            "spec": {"processMemory": "1Mi",
                     "points": [{"cpu": f"{fair // 4}m", "memory": "64Mi", "throughput": 1},
                                {"cpu": f"{fair}m", "memory": "64Mi", "throughput": 1}]}})
        wait_for("the profile's status",
                 lambda: self.cluster.get("trainingprofile", "hungry").get("status", {}).get("speedUp"))
        for profile in ("hungry", "modest"):
            wait_for("the controllers to know the profile",
                     lambda profile=profile: self.admitted_with_its_profile(profile))
        # The pod logs its progress as an example of PyTorch does.
        loop = "i=0; while sleep 1; do i=$((i+10)); echo \"Epoch [1/5], Step [$i/100000], Loss: 0.1234\"; done"
        self.cluster.create(training_pod("hungry", "hungry",
                                         ("sh", "-c", f"echo $NVIDIA_VISIBLE_DEVICES $SYNERGY_CPUS; {loop}")))
        wait_for("the hungry pod", lambda: is_ready(self.cluster.get("pod", "hungry")))
        self.assertEqual(milli_cpu(self.cluster.get("pod", "hungry")), demand)
        self.assertRegex(self.cluster.kubectl("logs", "hungry"), rf"(?m)^GPU-\d {-(-demand // 1000)}$")
        self.cluster.create(training_pod("second"))
        wait_for("the second pod, with CPU of the first", lambda: is_ready(self.cluster.get("pod", "second")))
        pods = self.cluster.pods()
        self.assertEqual(milli_cpu(pods["hungry"]), fair)
        self.assertEqual(restarts(pods["hungry"]), 0)
        explained = subprocess.run([os.path.join(os.environ["SYNERGY_BIN"], "synergy"), "explain", "pod", "hungry",
                                    "--output", "json"],
                                   env=self.cluster.environment, check=True, stdout=subprocess.PIPE, text=True).stdout
        self.assertEqual(json.loads(explained)["lastChange"]["kind"], "Reclaimed")
        self.cluster.create(training_pod("third"))
        wait_for("the third pod to wait for a GPU",
                 lambda: self.prometheus.query('synergy_waiting_gpu_pods{reason="gpus"} == 1'))
        self.cluster.kubectl("delete", "pod", "second", "third")
        wait_for("the hungry pod to grow again", lambda: milli_cpu(self.cluster.get("pod", "hungry")) == demand)
        self.every_query_has_data()
        self.cluster.clear()

    def test_4_rounds_begin_in_a_queue_of_kueues(self):
        """Runs two jobs that checkpoint, in a queue with quota for one: each gets its turn, loses
        it, and gets it again. The chart's admission check is answered, too, although no policy
        there chooses GPU types."""
        jobs = []
        for name in ("first", "second"):
            item = training_pod(name, command=("sh", "-c", "exec sleep 600"))
            template = {"metadata": {"annotations": {"synergy.io/checkpoint": "true"},
                                     "labels": item["metadata"]["labels"]}, "spec": item["spec"]}
            jobs.append({"apiVersion": "batch/v1", "kind": "Job",
                         "metadata": {"name": name, "labels": {queues.QUEUE: "turns"}}, "spec": {"template": template}})
        self.cluster.create(queues.FLAVOR, *queues.of_turns("turns", 1, **queues.CHECKED),
                            queues.round_policy("turns", "las", ROUND), *jobs)

        def running():
            return {item["metadata"]["labels"]["job-name"]
                    for item in self.cluster.get("pods", labelSelector="job-name")["items"]
                    if item["status"]["phase"] == "Running" and not item["metadata"].get("deletionTimestamp")}

        holder = wait_for("one to run", running)
        for _ in range(2):
            other = {"first", "second"} - holder
            wait_for(f"{other} to have its turn", lambda o=other: running() == o)
            holder = other
        status = self.cluster.get("roundpolicy", "turns")["status"]
        self.assertEqual([(entry["type"], entry["status"]) for entry in status["conditions"]], [("Ready", "True")])
        for kind, name in (("job", "first"), ("job", "second"), ("roundpolicy", "turns")):
            self.cluster.kubectl("delete", kind, name)
        self.cluster.clear()

    def test_4_rounds_give_a_worker_of_an_elastic_job_to_another(self):
        """Uses the rights of the chart's service account, which the admission policy names. The
        flavor is from the previous test."""
        def job(name, workers):
            spec = training_pod(name, command=("sh", "-c", "exec sleep 600"))["spec"]
            return elastic.elastic(name, "elastic", workers,
                                   {"metadata": {"labels": {"test": "install"}}, "spec": spec}, most=GPUS)

        def running():
            return collections.Counter(item["metadata"]["labels"]["job-name"]
                                       for item in self.cluster.get("pods", labelSelector="job-name")["items"]
                                       if item["status"]["phase"] == "Running"
                                       and not item["metadata"].get("deletionTimestamp"))

        self.cluster.create(*queues.of_turns("elastic", GPUS),
                            queues.round_policy("elastic", "fifo", ROUND, workers="Elastic"), job("wide", GPUS))
        wait_for("it to run", lambda: running() == {"wide": GPUS})
        self.cluster.create(job("late", 1))
        wait_for("both to run", lambda: running() == {"wide": GPUS - 1, "late": 1})
        for kind, name in (("job", "wide"), ("job", "late"), ("roundpolicy", "elastic")):
            self.cluster.kubectl("delete", kind, name)
        self.cluster.clear()

    @tiers.long
    def test_4_trainers_have_what_they_can_use(self):
        """Uses the profiles of the previous test. Speeds are printed, not asserted:
        end_to_end_test.py has the machine to itself."""
        trainers.load_image(self.cluster)
        fair, demand, little = (milli(point["cpu"]) for point in (
            *self.cluster.get("trainingprofile", "hungry")["spec"]["points"][1:],
            self.cluster.get("trainingprofile", "modest")["spec"]["points"][0]))
        share = {"cpu": f"{fair}m", "memory": "64Mi"}
        self.measure("proportional shares", demand, {"synergy.io/fungible": "false"},
                     {"requests": share, "limits": share}, {"hungry": fair, "modest": fair})
        self.measure("Synergy", demand, {}, {}, {"hungry": demand, "modest": little})

    def measure(self, way, demand, labels, resources, expected):
        """Runs two trainers: asserts which CPU they get, and prints their speeds in iterations per
        second."""
        arguments = {
            "hungry": ["--workers", "2", "--cpu-per-iteration", "10", "--gpu-step", str(9500 / demand)],
            "modest": ["--workers", "1", "--cpu-per-iteration", "0.25", "--gpu-step", "50"],
        }
        self.cluster.create(*(trainers.pod_with(kind, kind, arguments[kind], {"synergy.io/profile": kind, **labels},
                                                resources)
                              for kind in arguments))
        wait_for(f"the trainers to have {expected}", lambda: all(map(is_ready, self.cluster.pods().values())) and {
            name: milli_cpu(pod, "status") for name, pod in self.cluster.pods().items()} == expected)
        since = time.time()
        wait_for("eight lines of each", lambda: all(
            sum(at >= since for at, _ in trainers.iterations(self.cluster).get(name, [])) >= 8 for name in arguments))
        speeds = trainers.speeds(self.cluster, since, time.time())
        print(f"{way}: {', '.join(f'{name} {speed:.1f} it/s' for name, speed in sorted(speeds.items()))}",
              file=sys.stderr)
        self.assertGreater(min(speeds.values()), 0)
        self.cluster.clear()

    def every_query_has_data(self):
        """Checks all panels of all dashboards and all series of the alerts, after everything else,
        while a pod runs."""
        for dashboard, panel, expression, _ in dashboards.queries():
            if (OF_A_DRIVER | OF_A_QUEUE | OF_A_FAILURE) & set(dashboards.metric_names(expression)):
                continue
            with self.subTest(dashboard, panel=panel):
                self.assertTrue(wait_for(f"data of {expression}", lambda e=expression: self.prometheus.query(e)))
        for alert in dashboards.alerts():
            for name in dashboards.metric_names(alert["expr"]):
                with self.subTest(alert["alert"], metric=name):
                    if name not in NOT_YET | OF_A_DRIVER:
                        wait_for(f"data of {name}", lambda n=name: self.prometheus.query(n))

    def admitted_with_its_profile(self, profile):
        """Returns whether each replica of the controller has admitted the pod with its profile: the
        API server calls the replicas in turn, three times in a row here."""
        for _ in range(3):
            made = self.cluster.called("POST", PODS + "?dryRun=All", training_pod("asks", profile))
            if made["metadata"].get("annotations", {}).get("synergy.io/profile") != profile:
                return False
        return True

    def test_5_upgrade_and_rollback_lose_and_block_no_job(self):
        """Upgrades everything except the device plugin: while it is replaced, the only node has no
        GPUs."""
        certificate = self.certificate()
        made, stop, problems = [], threading.Event(), []

        def make():
            try:
                make_until_stopped()
            except Exception as problem:  # pylint: disable=broad-except
                problems.append(problem)

        def make_until_stopped():
            while not stop.wait(2.0):
                # On a busy machine, few jobs may exist at the same time.
                if sum(not job["status"].get("succeeded") for job in self.cluster.get("jobs")["items"]) > 4 * GPUS:
                    continue
                name = f"job-{len(made)}"
                # The pods are small. If two schedulers give out a full node's last cores at the
                # same time, the kubelet refuses one of the pods.
                pod = training_pod(name, "modest", command=("true",))
                made.append(name)
                self.cluster.create({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
                                     "spec": {"template": {
                                         "metadata": {"labels": pod["metadata"]["labels"]}, "spec": pod["spec"]}}})

        maker = threading.Thread(target=make)
        maker.start()
        try:
            changed = {**VALUES, "scheduler": {"verbosity": 3}, "priorityClass": {"value": 999999999},
                       "extender": {"config": {"expectTimeout": "4s"}},
                       "controller": {"config": {"tolerance": 0.05, "tuner": {"round": "5s"},
                                                 "gangPreemption": {"enabled": True}}},
                       "nodeAgent": {"config": {**VALUES["nodeAgent"]["config"], "checkInterval": "50ms"}}}
            self.cluster.helm("upgrade", "synergy", str(helm.CHART), "--wait", "--timeout", PATIENCE, values=changed)
            self.cluster.helm("rollback", "synergy", "1", "--wait", "--timeout", PATIENCE)
        finally:
            stop.set()
            maker.join()
        self.assertEqual(problems, [])
        wait_for("every Job to have run",
                 lambda: all(job["status"].get("succeeded") for job in self.cluster.get("jobs")["items"]))
        self.assertEqual(sorted(job["metadata"]["name"] for job in self.cluster.get("jobs")["items"]), sorted(made))
        pods = [pod for pod in self.cluster.pods().values() if pod["metadata"]["labels"].get("test") == "install"]
        managed = [pod for pod in pods if pod["metadata"].get("annotations", {}).get("synergy.io/profile") == "modest"]
        print(f"{len(made)} Jobs were made during upgrade and rollback, {len(pods)} pods, "
              f"{len(managed)} of them managed", file=sys.stderr)
        failed = {pod["metadata"]["name"]: pod["status"] for pod in pods if pod["status"]["phase"] == "Failed"}
        self.assertEqual(failed, {}, "their Jobs made others")
        self.assertEqual(len(pods), len(made))
        self.assertEqual(len(managed), len(pods), "a review went unanswered")
        self.assertEqual(self.cluster.get("events", fieldSelector="reason=Preempted,involvedObject.kind=Pod")["items"],
                         [])
        for pod in self.cluster.system_pods():
            self.assertEqual(restarts(pod), 0, pod["metadata"]["name"])
        self.assertEqual(self.certificate(), certificate)
        if prometheus.wanted_pictures():
            prometheus.draw(self.prometheus, prometheus.wanted_pictures(), self.began, time.time())
        self.cluster.kubectl("delete", "jobs", "--all")
        self.cluster.clear()

    def certificate(self):
        secret = self.cluster.get("secret", "synergy-controller-certificate", namespace=NAMESPACE)
        return secret.get("data", {}).get("tls.crt")

    def bundles(self):
        return {hook["clientConfig"].get("caBundle")
                for kind in ("mutatingwebhookconfiguration", "validatingwebhookconfiguration")
                for hook in self.cluster.get(kind, "synergy")["webhooks"]}

    def test_6_a_certificate_that_was_deleted_is_made_again(self):
        """The API server trusts the previous certificate until every replica has the new one, so
        every review is answered."""
        before, trusted = self.certificate(), self.bundles()
        self.cluster.kubectl("patch", "secret", "synergy-controller-certificate", "--namespace", NAMESPACE,
                             "--type=json", "--patch", '[{"op": "remove", "path": "/data"}]')
        started = time.monotonic()

        def is_replaced():
            self.assertTrue(self.admitted_with_its_profile("hungry"), "a review went unanswered")
            return self.certificate() not in (None, before) and len(self.bundles()) == 1 and self.bundles() != trusted
        wait_for("another certificate to be trusted", is_replaced)
        print(f"another certificate is trusted after {time.monotonic() - started:.0f} s", file=sys.stderr)
        self.assertTrue(self.admitted_with_its_profile("hungry"), "a review went unanswered")
        agent = next(pod for pod in self.cluster.system_pods()
                     if pod["metadata"]["labels"]["app.kubernetes.io/component"] == "node-agent")

        def is_asked():
            try:
                return json.loads(self.ask_agent(agent, "synergy-controller-certificate"))["node"] == NODE
            except ssl.SSLError:
                return False
        wait_for("node agents to have theirs of the same authority", is_asked)
        print(f"node agents have theirs after {time.monotonic() - started:.0f} s", file=sys.stderr)

    def test_6_applying_the_release_once_more_changes_nothing(self):
        """The API server applies the release under another manager's name, as it does for Flux."""
        manifest = self.cluster.helm("get", "manifest", "synergy")

        def objects(*command):
            items = json.loads(self.cluster.kubectl(*command, "--output=json", "--filename=-", stdin=manifest))["items"]
            for item in items:
                # Programs write these while the test runs.
                item["metadata"].pop("resourceVersion")
                item.pop("status", None)
            return {(item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"]): item for item in items}

        # With --force-conflicts, as Flux does: the API server has added defaults to fields that are
        # applied as a whole.
        applied = objects("apply", "--server-side", "--dry-run=server", "--field-manager=gitops", "--force-conflicts")
        there = objects("get")
        self.assertIn(("Secret", NAMESPACE, "synergy-controller-certificate"), applied)
        self.assertEqual({key for key, item in applied.items() if item != there[key]}, set())

    def test_6_rights_are_what_is_needed(self):
        """Checks the service accounts' calls in the API server's audit log: nothing was denied, and
        each right that no call used has a reason. This comes before the upgrades that remove
        programs, because those programs lose their rights before they have ended."""
        used, denied = {}, set()
        for call in self.cluster.audit():
            what = call.get("objectRef", {})
            resource = "/".join(filter(None, [what.get("resource", ""), what.get("subresource", "")]))
            key = (what.get("apiGroup", ""), resource, call["verb"])
            # A call that times out in the API server's queue on a busy machine has no decision.
            if call.get("annotations", {}).get("authorization.k8s.io/decision") == "forbid":
                denied.add((call["user"]["username"], call.get("userAgent"), *key))
            program = call.get("userAgent", "").split("/")[0]
            used.setdefault(program, set()).add(key)
        self.assertEqual(denied, set())
        for name, reasons in NOT_SEEN.items():
            allowed = self.allowed(name)
            print(f"{name}:", file=sys.stderr)
            for key in sorted(allowed):
                message = "called" if key in used.get(name, ()) else f"for {reasons.get(key, '?')}"
                print(f"  {key[2]:6} {key[1]}{'.' + key[0] if key[0] else ''}: {message}", file=sys.stderr)
            with self.subTest(name):
                self.assertEqual(used.get(name, set()) - allowed, set(), "called beyond the own role")
                self.assertEqual(allowed - used.get(name, set()) - set(reasons), set(), "allowed and not called")

    def allowed(self, name):
        """Returns the (API group, resource, verb) that a program's ClusterRole and Role allow."""
        items = [self.cluster.get("clusterrole", name)]
        if name == "synergy-controller":
            items.append(self.cluster.get("clusterrole", "synergy-rounds"))
        items += [item for item in self.cluster.get("roles", namespace=NAMESPACE)["items"]
                  if item["metadata"]["name"] == name]
        return {(group, resource, verb) for item in items for rule in item["rules"]
                for group in rule["apiGroups"] for resource in rule["resources"] for verb in rule["verbs"]}

    def test_7_other_values_fire_alerts(self):
        """Upgrades to a certificate that ends soon, GPUs that cannot be allocated, and no node
        agents; then to no driver; then to no device plugin."""
        name = f"synergy-controller.{NAMESPACE}.svc"
        certificate, key = self.cluster.folder / "given.crt", self.cluster.folder / "given.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                        "-noenc", "-days", "5",
                        "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}", "-keyout", str(key),
                        "-out", str(certificate)],
                       check=True, capture_output=True)
        self.cluster.kubectl("create", "secret", "tls", "given", "--namespace", NAMESPACE, f"--cert={certificate}",
                             f"--key={key}")
        given = {"mode": "provided", "secretName": "given", "caBundle": certificate.read_text(encoding="utf-8")}
        first, second = VALUES["devicePlugin"]["inventory"].split("80Gi}\n", 1)
        inventory = (first + "80Gi, unhealthy: marked by the test}\n" +
                     second.replace("80Gi", "80Gi, migDevices: [{uuid: MIG-0, profile: 1g.10gb, memory: 10Gi}]") +
                     # A node without GPUs needs no agent.
                     "- {uuid: GPU-2, product: NVIDIA A100-SXM4-80GB, memory: 80Gi}\n")
        self.upgrade({"webhook": {**VALUES["webhook"], "certificate": given},
                      "devicePlugin": {"enabled": True, "inventory": inventory}, "nodeAgent": {"enabled": False}})
        wait_for("reviews under the given certificate", lambda: self.admitted_with_its_profile("hungry"))
        alerts = "SynergyCertificateExpires", "SynergyGpuUnhealthy", "SynergyGpusLeftOut", "SynergyNodeAgentAbsent"
        self.fires(*alerts)
        self.upgrade({"devicePlugin": {"enabled": True, "config": {"source": "nvml"}}})
        self.fires("SynergyDevicePluginNotReady")
        self.cluster.kubectl("delete", "daemonset", "synergy-device-plugin", "--namespace", NAMESPACE)
        self.fires("SynergyDevicePluginAbsent")
        # Helm creates what an administrator has deleted.
        self.upgrade({})
        self.ends(*alerts, "SynergyDevicePluginNotReady", "SynergyDevicePluginAbsent")
        wait_for("reviews under the chart's certificate", lambda: self.admitted_with_its_profile("hungry"))
        self.cluster.kubectl("delete", "secret", "given", "--namespace", NAMESPACE)

    def upgrade(self, values):
        """Upgrades the release with these values in addition to the installed ones."""
        self.cluster.helm("upgrade", "synergy", str(helm.CHART), "--wait", "--timeout", PATIENCE,
                          values={**VALUES, **values})

    def fires(self, *alerts):
        for alert in alerts:
            wait_for(f"{alert} to fire", lambda a=alert: a in self.prometheus.firing())
            self.fired.add(alert)

    def ends(self, *alerts):
        for alert in alerts:
            wait_for(f"{alert} to end", lambda a=alert: a not in self.prometheus.firing())

    def test_8_faults_fire_their_alerts(self):
        self.ends("SynergyControllerDown", "SynergyExtenderDown")
        with self.subTest("none of our programs"):
            self.take_away_all_replicas()
        with self.subTest("CPU that others take"):
            self.take_all_cpu()
        with self.subTest("garbage"):
            self.send_garbage()
        with self.subTest("a node whose devices may be lost"):
            self.distrust_devices()
        with self.subTest("more than is read of an object"):
            self.write_too_much()
        with self.subTest("no API server"):
            alerts = ("SynergyTunerWithoutLeader", "SynergyExtenderNotReady", "SynergyControllerNotReady",
                      "SynergyCacheStale")
            self.cluster.script("stop", "kube-apiserver")
            self.fires(*alerts)
            self.cluster.script("start", "kube-apiserver")
            self.ends(*alerts)
        self.assertEqual({alert["alert"] for alert in dashboards.alerts()} - set(NOT_PROVOKED) - OF_THE_LONG_TIER,
                         self.fired - OF_THE_LONG_TIER)

    def distrust_devices(self):
        self.cluster.create(training_pod("kept"))
        wait_for("the pod to run", lambda: is_ready(self.cluster.get("pod", "kept")))
        self.cluster.kubectl("label", "--overwrite", "node", NODE, "synergy.io/devices-safe=false")
        self.fires("SynergyPodsNotResized")
        self.cluster.kubectl("label", "--overwrite", "node", NODE, "synergy.io/devices-safe=true")
        self.ends("SynergyPodsNotResized")
        self.cluster.delete("pod", "kept", wait=True)

    def write_too_much(self):
        made = training_pod("too-much")
        names = [f"n{number:05}" for number in range(70_000)]
        made["spec"].update(schedulerName="nobody",
                            affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                                "nodeSelectorTerms": [
                                    {"matchExpressions": [{"key": "a", "operator": "In", "values": names}]}]}}})
        self.cluster.create(made)
        self.fires("SynergyObjectsUnread")
        self.cluster.delete("pod", "too-much", wait=True)
        self.ends("SynergyObjectsUnread")

    @tiers.long
    def test_8_more_faults_fire_their_alerts(self):
        with self.subTest("a limit range in the way of growth"):
            self.refuse_growth()
        with self.subTest("memory that is in use"):
            self.shrink_memory_in_use()
        with self.subTest("a container killed after its memory was changed"):
            self.lose_a_container()
        with self.subTest("an admission webhook that lets every bind wait"):
            self.bind_slowly()
        self.assertEqual(OF_THE_LONG_TIER - self.fired, set())

    def take_away_all_replicas(self):
        deployments = "synergy-controller", "synergy-scheduler"
        self.cluster.kubectl("scale", "deployment", *deployments, "--namespace", NAMESPACE, "--replicas", "0")
        self.fires("SynergyControllerDown", "SynergyExtenderDown")

        def asked():
            self.cluster.called("POST", PODS + "?dryRun=All", training_pod("unseen"))
            return "SynergyWebhookFailsOpen" in self.prometheus.firing()

        wait_for("SynergyWebhookFailsOpen to fire", asked)
        self.fired.add("SynergyWebhookFailsOpen")
        self.cluster.kubectl("scale", "deployment", *deployments, "--namespace", NAMESPACE, "--replicas", "2")
        self.ends("SynergyControllerDown", "SynergyExtenderDown")
        wait_for("all pods to be ready",
                 lambda: len(pods := self.cluster.system_pods()) == 6 and all(map(is_ready, pods)))
        wait_for("reviews", lambda: self.admitted_with_its_profile("hungry"))

    def take_all_cpu(self):
        wait_for("the GPUs", lambda: self.cluster.get("node", NODE)["status"]["allocatable"].get(GPU) == str(GPUS))
        self.cluster.create(training_pod("sated"))
        wait_for("the pod with its fair share", lambda: is_ready(self.cluster.get("pod", "sated")))
        allocatable = milli(self.cluster.get("node", NODE)["status"]["allocatable"]["cpu"])
        taken = sum(milli(container["resources"].get("requests", {}).get("cpu", "0"))
                    for pod in self.cluster.get("pods", namespace=None)["items"]
                    for container in [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]])
        hog = training_pod("hog")
        hog["spec"]["containers"][0]["resources"] = {"requests": {"cpu": f"{allocatable - taken - 1}m"}}
        self.cluster.create(hog)
        wait_for("the hog", lambda: is_ready(self.cluster.get("pod", "hog")))
        self.cluster.create(training_pod("starved"))
        self.fires("SynergyGpusStranded", "SynergyPodsWaitForCpuOrMemory")
        self.cluster.clear()
        self.ends("SynergyGpusStranded", "SynergyPodsWaitForCpuOrMemory")

    def refuse_growth(self):
        for name in ("first", "second"):
            self.cluster.create(training_pod(name, "hungry"))
            wait_for(name, lambda name=name: is_ready(self.cluster.get("pod", name)))
        used = milli_cpu(self.cluster.get("pod", "first"))
        # The LimitRange is newer than the pod and would not have admitted it, so the API server
        # refuses every change of the pod.
        self.cluster.create({"apiVersion": "v1", "kind": "LimitRange",
                             "metadata": {"name": "tight", "namespace": "default"},
                             "spec": {"limits": [{"type": "Pod", "min": {"cpu": "1k"}}]}})
        self.cluster.kubectl("delete", "pod", "second")
        self.fires("SynergyResizesFail")
        self.assertEqual(milli_cpu(self.cluster.get("pod", "first")), used)
        self.cluster.kubectl("delete", "limitrange", "tight")
        wait_for("the first pod to grow", lambda: milli_cpu(self.cluster.get("pod", "first")) > used)
        self.cluster.clear()

    def shrink_memory_in_use(self):
        """Shrinks the memory of a pod that has 48 MiB in a buffer which nothing reads."""
        hold = "mkfifo /queue; sleep 600 < /queue & dd if=/dev/zero of=/queue bs=48M"
        pod = training_pod("full", "hungry", command=("sh", "-c", hold))
        # The limit exceeds the request only because the pod's author writes it.
        pod["spec"]["containers"][0]["resources"]["limits"]["memory"] = "100Mi"
        self.cluster.create(pod)
        wait_for("the pod", lambda: is_ready(self.cluster.get("pod", "full")))

        def holds():
            read = self.cluster.kubectl("exec", "full", "--", "sh", "-c", "grep VmRSS /proc/$(pidof dd)/status",
                                        check=False)
            return int((read.split() or [0, 0])[1]) >= 48 << 10
        wait_for("the buffer to be full", holds)
        less = {"requests": {"memory": "40Mi"}, "limits": {"memory": "40Mi"}}
        self.cluster.kubectl("patch", "pod", "full", "--subresource=resize", "--patch",
                             json.dumps({"spec": {"containers": [{"name": "train", "resources": less}]}}))
        self.fires("SynergyMemoryStuck")
        self.cluster.clear()

    def lose_a_container(self):
        """Writes what a kubelet reports after an OOM kill of a pod that got more memory than its
        floor when it was bound."""
        self.cluster.create(training_pod("plain"))
        fair = json.loads(wait_for("the webhook",
                                   lambda: self.cluster.get("pod", "plain")["metadata"].get("annotations", {}).get(
                                       "synergy.io/fair-share")))
        self.cluster.clear()
        more = int(quantity(fair["memory"]) * 5 / 4)
        self.cluster.create({
            "apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile",
            "metadata": {"name": "roomy", "namespace": "default"},
            # Synergy reassigns only memory that is known to be page cache.
            "spec": {"processMemory": "64Mi", "points": [{"cpu": "50m", "memory": fair["memory"], "throughput": 1},
                                                         {"cpu": "50m", "memory": str(more), "throughput": 2}]}})
        wait_for("the controllers to know the profile", lambda: self.admitted_with_its_profile("roomy"))
        self.cluster.create(training_pod("roomy", "roomy"))
        wait_for("the roomy pod", lambda: is_ready(self.cluster.get("pod", "roomy")))

        def has_more():
            annotations = self.cluster.get("pod", "roomy")["metadata"]["annotations"]
            return json.loads(annotations["synergy.io/change"])["to"]["memory"] != json.loads(
                annotations["synergy.io/floor"])["memory"]
        # It gets more when it is bound, or a moment later if the previous pod was still counted.
        wait_for("the roomy pod to have more than its floor", has_more)
        # The node agent may write this: its rights and the policy allow it.
        wait_for("what it has in use",
                 lambda: self.cluster.get("pod", "roomy")["metadata"]["annotations"].get("synergy.io/memory-in-use"))

        def killed():
            status = self.cluster.get("pod", "roomy")["status"]["containerStatuses"]
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            status[0]["lastState"] = {"terminated": {"exitCode": 137, "reason": "OOMKilled", "startedAt": now,
                                                     "finishedAt": now}}
            self.cluster.kubectl("patch", "pod", "roomy", "--subresource=status", "--type=merge", "--patch",
                                 json.dumps({"status": {"containerStatuses": status}}))
            return self.cluster.get("pod", "roomy")["metadata"]["annotations"].get("synergy.io/memory-let-be")
        self.assertRegex(wait_for("its memory to be let be", killed), "^oom_killed ")
        self.fires("SynergyMemoryKill")
        self.cluster.clear()

    def bind_slowly(self):
        # The API server can connect to this port, and waits for an answer until its timeout.
        with socket.create_server(("127.0.0.1", 0)) as silent:
            self.cluster.create({
                "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
                "metadata": {"name": "silent"},
                "webhooks": [{
                    "name": "silent.test.synergy.io", "timeoutSeconds": 2, "failurePolicy": "Ignore",
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    "clientConfig": {"url": f"https://127.0.0.1:{silent.getsockname()[1]}/"},
                    "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                               "resources": ["pods/binding"]}]}]})
            self.cluster.create(training_pod("patient"))
            self.fires("SynergyExtenderSlow")
            self.assertTrue(self.cluster.bound()["patient"])
            self.cluster.kubectl("delete", "validatingwebhookconfiguration", "silent")
        self.cluster.clear()

    def send_garbage(self):
        """Sends garbage to the webhook, and to the extender, which accepts connections only from
        the kube-scheduler beside it."""
        controllers = [pod["status"]["podIP"] for pod in self.cluster.system_pods()
                       if pod["metadata"]["labels"]["app.kubernetes.io/component"] == "controller" and is_ready(pod)]
        unchecked = ssl.create_default_context()
        unchecked.check_hostname, unchecked.verify_mode = False, ssl.CERT_NONE
        port = free_port()
        command = [self.cluster.environment.get("SYNERGY_KUBECTL", "kubectl"), "port-forward",
                   f"--namespace={NAMESPACE}", "deployment/synergy-scheduler", f"{port}:8888"]
        with subprocess.Popen(command, env=self.cluster.environment, stdout=subprocess.PIPE, text=True) as forward:
            try:
                self.assertIn("Forwarding", forward.stdout.readline())
                self.send_until({"SynergyWebhookRefusesInput", "SynergyExtenderErrors"}, [
                    *(f"https://{address}:9443/mutate-pod" for address in controllers),
                    f"http://127.0.0.1:{port}/filter"], unchecked)
            finally:
                forward.terminate()

    def send_until(self, alerts, urls, context):
        def more():
            for url in urls * 4:
                request = urllib.request.Request(url, data=b"garbage", headers={"Content-Type": "application/json"})
                # The programs refuse garbage.
                with contextlib.suppress(urllib.error.HTTPError):
                    # Only TLS takes a context.
                    urllib.request.urlopen(request, context=context if url.startswith("https") else None,
                                           timeout=60).close()
            return alerts <= self.prometheus.firing()

        wait_for(f"{alerts} to fire", more)
        self.fired.update(alerts)

    def test_9_uninstall_leaves_only_the_kinds_and_profiles(self):
        # As docs/operate.md says, Kueue keeps an admission check while a queue uses it, and Helm
        # waits in vain.
        self.cluster.kubectl("patch", "clusterqueue", "turns", "--type", "json",
                             "--patch", '[{"op": "remove", "path": "/spec/admissionChecksStrategy"}]')
        self.cluster.helm("uninstall", "synergy", "--wait", "--timeout", PATIENCE)
        wait_for("the pods to be gone", lambda: not self.cluster.system_pods())
        kinds = self.cluster.kubectl("api-resources", "--verbs=list", "-o", "name").split()
        kinds = ",".join(kind for kind in kinds if not kind.startswith("events"))

        def left():
            return self.cluster.kubectl("get", kinds, "--all-namespaces",
                                        "--selector=app.kubernetes.io/part-of=synergy", "-o", "name").split()

        # Kubernetes' controllers delete what belongs to an object a moment after the object.
        wait_for("all but the kinds to be gone",
                 lambda: sorted(left()) == [f"customresourcedefinition.apiextensions.k8s.io/{name}.synergy.io"
                                            for name in ("roundpolicies", "trainingprofiles")])
        inside = self.cluster.get(kinds, namespace=NAMESPACE)["items"]
        names = {f"{item['kind']} {item['metadata']['name']}"
                 for item in inside if item["metadata"].get("namespace") == NAMESPACE}
        self.assertEqual(names - {"ConfigMap kube-root-ca.crt", "ServiceAccount default"},
                         {"Lease synergy-controller", "Lease synergy-scheduler"})
        self.assertTrue(self.cluster.get("trainingprofile", "hungry"))
        # Pods can be created as before the installation.
        self.cluster.create({**training_pod("after"),
                             "spec": {"containers": [{"name": "x", "image": "synergy.test/busybox:1"}]}})
        wait_for("a pod without Synergy", lambda: is_ready(self.cluster.get("pod", "after")))


if __name__ == "__main__":
    failures.main(failfast=True)
