"""Tests how images and the chart are pushed to a registry: the errors of the scripts, and the chart
that Helm pulls.

tests/cluster/operating/install_test.py (in the long tier) and cross_images_test.py test that images
arrive as manifest lists.
"""

import pathlib
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
            pulled = helm.run("pull", f"oci://{there.host}/charts/synergy", "--version", version, "--plain-http",
                              "--untar", "--destination", folder)
            self.assertEqual(pulled.returncode, 0, pulled.stderr)
            for file in ("values.schema.json", "rules/alerts.yaml", "templates/crds/trainingprofiles.yaml"):
                with open(f"{folder}/synergy/{file}", encoding="utf-8") as content:
                    self.assertEqual(content.read(), (helm.CHART / file).read_text(encoding="utf-8"))


# ELF's numbers for architectures, in two bytes. The last one has no image.
MACHINES = {"amd64": b"\x3e\x00", "arm64": b"\xb7\x00", "riscv64": b"\xf3\x00"}
PROGRAMS = ("synergy", "synergy-extender", "synergy-controller", "synergy-device-plugin", "synergy-node-agent")


def programs(folder, architecture, **others):
    """Fills a new folder with as much of each program as shows its architecture. `others` are for
    another architecture."""
    folder.mkdir()
    for name in PROGRAMS:
        machine = MACHINES[others.get(name.replace("-", "_"), architecture)]
        (folder / name).write_bytes(b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00" + machine)
        (folder / name).chmod(0o755)
    return str(folder)


class ImagesTest(unittest.TestCase):
    def test_unbuildable_images_are_refused_before_any_build(self):
        machine = subprocess.run(["dpkg", "--print-architecture"], check=True, stdout=subprocess.PIPE,
                                 text=True).stdout.strip()
        other = "amd64" if machine == "arm64" else "arm64"
        cure = f"scripts/cross.sh those for {other} in build/{other}/bin"
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            own, foreign, strange = (programs(folder / name, name) for name in (machine, other, "riscv64"))
            mixed = programs(folder / "mixed", other, synergy_extender=machine)
            part = programs(folder / "part", other)
            (folder / "part/synergy-node-agent").unlink()
            both = ["--arch", f"{machine},{other}", "--push", "r"]
            for arguments, *reasons in (
                    (["--arch", "riscv64"], "--arch takes amd64 and arm64, not 'riscv64'"),
                    (["--arch", other], "goes with --push"),
                    (["--programs", str(folder)], f"{folder} holds no synergy for", cure),
                    (["--programs", strange, *both], f"{strange} holds no synergy for", cure),
                    (["--programs", foreign], f"the programs of {foreign} are for {other}, not for {machine}", cure),
                    (["--programs", own, "--arch", other, "--push", "r"],
                     f"the programs of {own} are for {machine}, not for {other}", cure),
                    (["--programs", own, "--programs", own, *both], f"are both for {machine}"),
                    (["--programs", own, "--programs", part, *both], f"{part} does not hold synergy-node-agent", cure),
                    (["--programs", own, "--programs", mixed, *both],
                     f"{mixed}/synergy-extender is for {machine}, not for {other}", cure)):
                with self.subTest(arguments):
                    done = script("images.sh", *arguments)
                    self.assertEqual(done.returncode, 1)
                    for reason in reasons:
                        self.assertIn(reason, done.stderr)


if __name__ == "__main__":
    unittest.main()
