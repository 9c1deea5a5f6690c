"""Images and chart on their way to a registry: what the scripts refuse, and what Helm gets back.

That images arrive as manifest lists is tests/cluster/install_test.py's, which has them built.
"""

import subprocess
import tempfile
import unittest

import yaml

import helm
import registry


def script(name, *arguments):
    return subprocess.run([str(helm.ROOT / "scripts" / name), *arguments], capture_output=True, text=True, check=False)


class ChartTest(unittest.TestCase):
    def test_one_command_makes_an_oci_package_that_helm_installs_from(self):
        with registry.Registry() as there, tempfile.TemporaryDirectory() as folder:
            done = script("chart.sh", "--push", there.host, "--plain-http")
            self.assertEqual(done.returncode, 0, done.stderr)
            version = yaml.safe_load((helm.CHART / "Chart.yaml").read_text(encoding="utf-8"))["version"]
            manifest = there.manifest("charts/synergy", version)
            self.assertEqual(manifest["config"]["mediaType"], "application/vnd.cncf.helm.config.v1+json")
            pulled = helm.run("pull", f"oci://{there.host}/charts/synergy", "--version", version, "--plain-http", "--untar", "--destination", folder)
            self.assertEqual(pulled.returncode, 0, pulled.stderr)
            for file in ("values.schema.json", "rules/alerts.yaml", "crds/trainingprofiles.yaml"):
                with open(f"{folder}/synergy/{file}", encoding="utf-8") as content:
                    self.assertEqual(content.read(), (helm.CHART / file).read_text(encoding="utf-8"))


class ImagesTest(unittest.TestCase):
    def test_what_cannot_be_built_is_refused_before_anything_is_made(self):
        machine = subprocess.run(["dpkg", "--print-architecture"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        other = "amd64" if machine == "arm64" else "arm64"
        for arguments, reason in ((["--arch", "riscv64"], "--arch takes amd64 and arm64, not 'riscv64'"),
                                  (["--arch", other], "goes with --push"),
                                  (["--arch", f"{machine},{other}", "--push", "r"], f"--source builds those for {other}")):
            with self.subTest(arguments):
                done = script("images.sh", *arguments)
                self.assertEqual(done.returncode, 1)
                self.assertIn(reason, done.stderr)


if __name__ == "__main__":
    unittest.main()
