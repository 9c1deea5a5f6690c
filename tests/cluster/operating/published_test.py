"""Tests a release on a cluster: scripts/release.sh makes it in a dry run, and it is installed from
its registry alone."""

import functools
import hashlib
import json
import os
import pathlib
import signal
import subprocess
import tarfile
import unittest
import urllib.request

import yaml

import foreign_kinds
import helm
from cluster import ROOT, Cluster, free_port, wait_for

NAMESPACE = helm.NAMESPACE
INSTANCE = os.environ.get("SYNERGY_TEST_INSTANCE", "8")
NODE = "node-1"
LIMIT = 300  # seconds; only limits how long a failing test waits
wait_for = functools.partial(wait_for, seconds=LIMIT)
VERSION = yaml.safe_load((helm.CHART / "Chart.yaml").read_text(encoding="utf-8"))["appVersion"]


def tool(name, folder=None):
    """Returns the path of crane, cosign or another program of scripts/lib/programs.sh."""
    script = f"source scripts/lib/output.sh && source scripts/lib/programs.sh && {folder or name}_folder"
    found = subprocess.run(["bash", "-c", script], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return f"{found.strip()}/{name}"


class Registry:
    """The registry of the dry run. It is on the machine and in the node's network, under the same
    name, so that containerd finds it."""

    def __init__(self, data, host):
        self.command = [str(ROOT / "scripts/release/registry.sh"), str(data), host]
        self.url = f"http://{host}/v2/"
        self.processes = []

    def answers(self):
        try:
            with urllib.request.urlopen(self.url) as answer:
                return answer.status == 200
        except OSError:
            return False

    def serve(self, *inside):
        """Starts a server of the registry, behind a command such as nsenter."""
        self.processes.append(subprocess.Popen([*inside, *self.command]))

    def end(self):
        for process in self.processes:
            process.send_signal(signal.SIGTERM)
            process.wait()


class PublishedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(os.environ["SYNERGY_TEST_STATE"]) / "published"
        cls.folder.mkdir(parents=True, exist_ok=True)
        cls.out = cls.folder / "release"
        cls.host = f"127.0.0.1:{free_port()}"
        subprocess.run(["rm", "-rf", str(cls.out)], check=True)
        cls.machine = subprocess.run(["dpkg", "--print-architecture"], check=True, stdout=subprocess.PIPE,
                                     text=True).stdout.strip()
        subprocess.run([str(ROOT / "scripts/release.sh"), "--dry-run", f"v{VERSION}", "--out", str(cls.out),
                        "--registry", cls.host, "--arch", cls.machine, "--programs", os.environ["SYNERGY_BIN"]],
                       check=True)
        cls.registry = Registry(cls.out / "registry", cls.host)
        cls.addClassCleanup(cls.registry.end)
        cls.registry.serve()
        wait_for("the registry", cls.registry.answers)
        (cls.folder / "extender-port").write_text("0", encoding="utf-8")
        state = cls.folder / "cluster"
        for arguments in (("down",), ("up", "--instance", INSTANCE, "--services", "--simulated-nodes", "0")):
            subprocess.run([str(ROOT / "scripts/cluster.sh"), "--state", str(state), *arguments], check=True)
        cls.cluster = Cluster(cls.folder)
        cls.addClassCleanup(cls.cluster.script, "down", "--keep-logs")
        cls.push_scheduler(json.loads(cls.cluster.kubectl("version", "--output=json"))["serverVersion"]["gitVersion"])
        cls.registry.serve("nsenter", "--target", str(cls.cluster.pid_of("containerd-1")), "--net")
        cls.cluster.kubectl("label", "node", NODE, "synergy.io/gpu-node=true")

    @classmethod
    def push_scheduler(cls, version):
        """Pushes an image of kube-scheduler: its program on our base image. Kubernetes publishes
        its own, so our releases have none."""
        layer, name = cls.folder / "scheduler.tar", f"{cls.host}/kube-scheduler:{version}"
        with tarfile.open(layer, "w") as content:
            content.add(tool("kube-scheduler", "kube"), "usr/local/bin/kube-scheduler")
        subprocess.run([tool("crane"), "append", "--platform", f"linux/{cls.machine}", "--base",
                        f"{cls.host}/synergy/controller:{VERSION}", "--new_layer", str(layer), "--new_tag", name],
                       check=True)
        subprocess.run([tool("crane"), "mutate", name, "--entrypoint", "kube-scheduler", "--tag", name], check=True)
        cls.scheduler = name

    def helm(self, *arguments):
        done = helm.run(*arguments, "--namespace", NAMESPACE, environment=self.cluster.environment)
        self.assertEqual(done.returncode, 0,
                         f"{done.stderr}\n{self.cluster.kubectl('get', 'pods', '-A', '-o', 'wide')}")
        return done.stdout

    def test_1_installs_from_its_registry_by_digest_and_passes_its_own_test(self):
        values = self.folder / "values.yaml"
        values.write_text(yaml.safe_dump({
            "scheduler": {"image": {"registry": self.host}},
            "devicePlugin": {"enabled": True, "inventory": "driverVersion: '550.54'\ngpus:\n"
                             "- {uuid: GPU-0, product: NVIDIA A100-SXM4-80GB, memory: 80Gi}\n"},
            "nodeAgent": {"config": {"kubeletCgroupRoot": f"/synergy-test-{INSTANCE}/{NODE}"}},
            "nodeHeadroom": {"cpu": "0"}, "tests": {"gpuPod": {"enabled": True}}}), encoding="utf-8")
        self.helm("install", "synergy", f"oci://{self.host}/charts/synergy", "--version", VERSION, "--plain-http",
                  "--create-namespace", "--wait", "--timeout", f"{LIMIT}s", "--values", str(values))
        pods = self.cluster.get("pods", namespace=NAMESPACE)["items"]
        images = {}
        for status in (each for pod in pods for of in ("containerStatuses", "initContainerStatuses")
                       for each in pod["status"].get(of, [])):
            images[status["name"]] = status["imageID"]
            self.assertTrue(status["imageID"].startswith(f"{self.host}/"), status["imageID"])
        for container, image in (("controller", "controller"), ("extender", "extender"), ("agent", "nodeagent"),
                                 ("device-plugin", "deviceplugin")):
            digest = hashlib.sha256((self.out / "images" / image / "index.json").read_bytes()).hexdigest()
            self.assertEqual(images[container], f"{self.host}/synergy/{image}@sha256:{digest}")
        wait_for("the node's labels",
                 lambda: "nvidia.com/gpu.product" in self.cluster.get("node", NODE)["metadata"]["labels"])
        self.helm("test", "synergy", "--timeout", f"{LIMIT}s")

    def test_2_the_manifests_are_what_an_api_server_takes(self):
        kinds = foreign_kinds.definitions(foreign_kinds.OF_THE_CHART)
        self.cluster.create(*kinds)
        for kind in kinds:
            name = kind["metadata"]["name"]
            wait_for(f"{name} to be served", lambda name=name: any(
                c["type"] == "Established" and c["status"] == "True"
                for c in self.cluster.get("crd", name).get("status", {}).get("conditions") or []))
        manifests = self.out / "assets/manifests.yaml"
        message = self.cluster.kubectl("apply", "--dry-run=server", "--validate=strict", "--server-side",
                                       "--force-conflicts", "--filename", str(manifests))
        objects = [item for item in yaml.safe_load_all(manifests.read_text(encoding="utf-8")) if item]
        self.assertEqual(len(message.splitlines()), len(objects))

    def test_3_checksums_and_signatures_hold_for_what_was_made_and_for_nothing_else(self):
        subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=self.out / "assets", check=True)

        def verify(*arguments):
            return subprocess.run([tool("cosign"), *arguments], cwd=self.out / "assets", capture_output=True, text=True,
                                  check=False)

        trust = ["--key", str(self.out / "cosign.pub"), "--insecure-ignore-tlog=true"]
        blob = ["verify-blob", *trust, "--bundle", "SHA256SUMS.sigstore.json"]
        self.assertEqual(verify(*blob, "SHA256SUMS").returncode, 0)
        self.assertNotEqual(verify(*blob, "manifests.yaml").returncode, 0)
        digest = hashlib.sha256((self.out / "images/controller/index.json").read_bytes()).hexdigest()
        image = ["--allow-http-registry", f"{self.host}/synergy/controller@sha256:{digest}"]
        self.assertEqual(verify("verify", *trust, *image).returncode, 0)
        self.assertEqual(verify("verify-attestation", "--type", "slsaprovenance1", *trust, *image).returncode, 0)
        self.assertIn("no signatures found", verify("verify", *trust, "--allow-http-registry", self.scheduler).stderr)


if __name__ == "__main__":
    unittest.main()
