"""Tests images of both architectures with the programs that scripts/cross.sh has built: their form
in a registry, and that their programs run.

Needs root, and some minutes the first time: scripts/test.sh --only cross.
"""

import functools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import yaml

import helm
import registry
from publish_test import MACHINES, PROGRAMS

MACHINE = subprocess.run(["dpkg", "--print-architecture"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
OTHER = "amd64" if MACHINE == "arm64" else "arm64"
QEMU = {"amd64": "/usr/bin/qemu-x86_64-static", "arm64": "/usr/bin/qemu-aarch64-static"}[OTHER]
OWN_PROGRAMS = pathlib.Path(os.environ["SYNERGY_BIN"])
VERSION = yaml.safe_load((helm.CHART / "Chart.yaml").read_text(encoding="utf-8"))["appVersion"]
# Image -> its program.
IMAGES = {"extender": "synergy-extender", "controller": "synergy-controller", "deviceplugin": "synergy-device-plugin",
          "nodeagent": "synergy-node-agent", "cli": "synergy"}
INTERPRETERS = pathlib.Path("/proc/sys/fs/binfmt_misc")


def interpreters():
    return sorted(path.name for path in INTERPRETERS.glob("*"))


def run_own(program, *arguments):
    return subprocess.run([str(OWN_PROGRAMS / program), *arguments], check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def machine_of(path):
    """Returns the architecture of an ELF file; None for other files."""
    with open(path, "rb") as file:
        header = file.read(20)
    return header[18:20] if header[:4] == b"\x7fELF" else None


class CrossImagesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        before = interpreters()
        with registry.Registry() as there:
            subprocess.run([str(helm.ROOT / "scripts/images.sh"), "--programs", str(OWN_PROGRAMS),
                            "--arch", f"{MACHINE},{OTHER}", "--push", there.host, "--plain-http"], check=True)
        cls.interpreters = before, interpreters()
        cls.registry = there
        # Extracts the other architecture's images, each as the root of a file system.
        cls.roots = {name: pathlib.Path(folder.name, name) for name in IMAGES}
        for name, root in cls.roots.items():
            root.mkdir()
            for layer in cls.image(name, OTHER)["layers"]:
                # A layer may name a file through a link to a folder of an earlier layer.
                subprocess.run(["tar", "--extract", "--gzip", "--keep-directory-symlink", "--directory", str(root)],
                               input=there.blobs[layer["digest"]], check=True)
            shutil.copy(QEMU, root / "qemu")

    @classmethod
    def image(cls, name, architecture):
        entry, = (entry for entry in cls.registry.manifest(f"synergy/{name}", VERSION)["manifests"]
                  if entry["platform"]["architecture"] == architecture)
        return cls.registry.manifest(f"synergy/{name}", entry["digest"])

    def run_program(self, name, *arguments):
        done = subprocess.run(["chroot", str(self.roots[name]), "/qemu", f"/usr/local/bin/{IMAGES[name]}", *arguments],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_lists_name_both_architectures(self):
        for name in IMAGES:
            platforms = [entry["platform"] for entry in self.registry.manifest(f"synergy/{name}", VERSION)["manifests"]]
            self.assertEqual([(platform["os"], platform["architecture"]) for platform in platforms],
                             [("linux", MACHINE), ("linux", OTHER)])
            for architecture in (MACHINE, OTHER):
                config = json.loads(self.registry.blobs[self.image(name, architecture)["config"]["digest"]])
                self.assertEqual(config["architecture"], architecture)

    def test_all_that_can_be_run_is_for_the_other_architecture(self):
        for name, root in self.roots.items():
            files = [pathlib.Path(folder, file) for folder, _, files in os.walk(root / "usr") for file in files]
            machines = {path: machine_of(path) for path in files if path.is_file() and not path.is_symlink()}
            found = {path for path, machine in machines.items() if machine}
            self.assertIn(root / "usr/local/bin" / IMAGES[name], found)
            self.assertGreater(len(found), 300)  # Debian's files
            self.assertEqual([path for path in found if machines[path] != MACHINES[OTHER]], [])

    def test_the_programs_run(self):
        self.assertEqual(sorted(IMAGES.values()), sorted(PROGRAMS))
        for name, program in IMAGES.items():
            for argument in ("--help", "version" if name == "cli" else "--version"):
                # The help text names the program's path.
                self.assertEqual(self.run_program(name, argument).replace("/usr/local/bin/", ""),
                                 run_own(program, argument).replace(f"{OWN_PROGRAMS}/", ""))

    def test_a_simulation_is_the_same_to_the_last_digit(self):
        """One architecture replays the recordings of the other: results can differ if a product is
        not rounded before it is added."""
        root = self.roots["cli"]
        shutil.copy(helm.ROOT / "tests/data/synergy/reference/profiles.json", root / "tmp")

        def simulate(run, folder):
            run("simulate", "--generate", "rate=20/h,split=30:50:20,jobs=600,seed=2", "--servers", "8", "--quiet",
                "--mechanism", "synergy-strict,synergy", "--profiles", f"{folder}/profiles.json",
                "--changes", f"{folder}/changes", "--jobs-csv", f"{folder}/jobs")
            return [(root / f"tmp/{what}").read_text(encoding="utf-8").splitlines() for what in ("changes", "jobs")]
        changes, jobs = simulate(functools.partial(self.run_program, "cli"), "/tmp")
        self.assertEqual(len(jobs), 1 + 2 * 600)
        self.assertEqual(simulate(functools.partial(run_own, "synergy"), root / "tmp"), [changes, jobs])

    def test_the_kernel_is_as_before(self):
        before, after = self.interpreters
        self.assertEqual(after, before)


if __name__ == "__main__":
    unittest.main()
