"""Tests the steps of a release that compile nothing: what they write, that two runs in different
folders write the same bytes, and what they refuse.

tests/cluster/operating/release_test.py (in the long tier) makes a complete release, and installs
from its registry.
"""

import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

import yaml

import helm
from publish_test import programs

VERSION = re.search(r"project\(synergy VERSION (\S+)",
                    (helm.ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
TAG = f"v{VERSION}"
ARCHITECTURES = ("amd64", "arm64")
IMAGES = ("extender", "controller", "deviceplugin", "nodeagent", "cli")
# Parts of the tree that the steps read.
PARTS = ("scripts", "charts", "LICENSE", "CMakeLists.txt", "tests/go.mod", "tests/go.sum",
         "tests/helm/go.mod", "tests/helm/go.sum")
CHANGES = f"# Changelog\n\n## Unreleased\n\n* a\n\n## {VERSION}\n\n### New\n\n* b\n\n## 0.0.1\n\n* c\n"
STEPS = ("programs", "archives", "chart", "notes", "provenance")


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def blob(layout, content):
    """Writes a blob; returns its descriptor."""
    name = digest(content)
    folder = layout / "blobs/sha256"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name.removeprefix("sha256:")).write_bytes(content)
    return {"digest": name, "size": len(content)}


def layer(files):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return content.getvalue()


def image(layout):
    """Writes an image of both architectures with one Debian package in it."""
    files = layer({"etc/os-release": 'ID=debian\nVERSION_ID="12"\n',
                   "var/lib/dpkg/status": "Package: libssl3\nStatus: install ok installed\nArchitecture: all\n"
                                          "Version: 3.0.17-1\nMaintainer: nobody\nDescription: x\n"})
    manifests = []
    for architecture in ARCHITECTURES:
        config = {"architecture": architecture, "os": "linux", "config": {},
                  "rootfs": {"type": "layers", "diff_ids": [digest(files)]}}
        manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                    "config": {"mediaType": "application/vnd.oci.image.config.v1+json",
                               **blob(layout, json.dumps(config).encode())},
                    "layers": [{"mediaType": "application/vnd.oci.image.layer.v1.tar", **blob(layout, files)}]}
        manifests.append({"mediaType": manifest["mediaType"], **blob(layout, json.dumps(manifest).encode()),
                          "platform": {"architecture": architecture, "os": "linux"}})
    (layout / "oci-layout").write_text('{"imageLayoutVersion":"1.0.0"}', encoding="utf-8")
    (layout / "index.json").write_text(json.dumps(
        {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": manifests}),
        encoding="utf-8")


class Tree:
    """A copy of the tree in another folder, with other dates and permissions of files."""

    def __init__(self, folder, umask):
        self.root, self.out, self.umask = folder / "tree", folder / "out", umask
        self.root.mkdir(parents=True)
        for part in PARTS:
            source, target = helm.ROOT / part, self.root / part
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, copy_function=shutil.copyfile)
            else:
                shutil.copyfile(source, target)
        (self.root / "CHANGELOG.md").write_text(CHANGES, encoding="utf-8")
        for script in self.root.glob("scripts/**/*.sh"):
            script.chmod(0o755)
        for name in IMAGES:
            image(self.out / "images" / name)
        self.programs = []
        for architecture in ARCHITECTURES:
            self.programs += ["--programs", programs(folder / architecture, architecture)]

    def run(self, step, *arguments, tag=TAG):
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "1790000000"}
        command = [str(self.root / f"scripts/release/{step}.sh"), tag, "--out", str(self.out), *self.programs]
        return subprocess.run([*command, *arguments], env=environment, umask=self.umask, capture_output=True,
                              text=True, check=False)

    def assets(self):
        """Returns the files that a release has: name -> content."""
        return {str(path.relative_to(self.out)): path.read_bytes()
                for path in (self.out / "notes.md", *(self.out / "assets").iterdir())}


class ReleaseTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.trees = [Tree(folder / "one", 0o022), Tree(folder / "another/folder", 0o077)]
        for tree in cls.trees:
            for step in STEPS:
                done = tree.run(step, "--dry-run")
                if done.returncode != 0:
                    raise AssertionError(f"{step}: {done.stderr}")
        cls.tree = cls.trees[0]
        cls.files, cls.other_files = (tree.assets() for tree in cls.trees)

    def test_two_runs_in_different_folders_write_the_same_bytes(self):
        self.assertEqual(set(self.files), set(self.other_files))
        self.assertGreater(len(self.files), 6)
        self.assertEqual([name for name, content in self.files.items() if self.other_files[name] != content], [])

    def test_the_chart_names_registry_digests_and_origin(self):
        with tempfile.TemporaryDirectory() as folder:
            chart = os.path.join(folder, "chart.tgz")
            pathlib.Path(chart).write_bytes(self.files[f"assets/synergy-{VERSION}.tgz"])
            done = helm.run("template", "synergy", chart, "--namespace", helm.NAMESPACE)
            self.assertEqual(done.returncode, 0, done.stderr)
            shown = yaml.safe_load(helm.run("show", "chart", chart).stdout)
        names = {f"127.0.0.1:5000/synergy/{name}:{VERSION}@"
                 + digest((self.tree.out / "images" / name / "index.json").read_bytes()) for name in IMAGES}
        found = {name for name in re.findall(r"image: (\S+)", done.stdout) if "/synergy/" in name}
        self.assertEqual(len(found), 3)
        self.assertLessEqual(found, names)
        self.assertEqual((shown["version"], shown["appVersion"]), (VERSION, VERSION))
        self.assertTrue(shown["icon"].endswith(f"/{TAG}/docs/images/icon.svg"))
        self.assertTrue((helm.ROOT / "docs/images/icon.svg").exists())

    def test_manifests_hold_kinds_and_objects_but_nothing_secret_and_nothing_of_helms(self):
        text = self.files["assets/manifests.yaml"].decode()
        objects = [item for item in yaml.safe_load_all(text) if item]
        kinds = [item["kind"] for item in objects]
        self.assertEqual(kinds[0], "Namespace")
        namespace = yaml.safe_load((helm.ROOT / "manifests/namespace.yaml").read_text(encoding="utf-8"))
        self.assertEqual(objects[0], namespace)
        used = re.search(r"/kube-scheduler:(\S+)", text)[1]
        self.assertIn(f"with kube-scheduler {used.removeprefix('v')}", text.splitlines()[0].replace(" v", " "))
        self.assertEqual(kinds.count("CustomResourceDefinition"), 2)
        self.assertIn("Deployment", kinds)
        for item in objects:
            self.assertTrue(item["kind"] != "Secret" or not {"data", "stringData"} & set(item))
        self.assertNotIn("helm.sh/", text)

    def test_the_krew_manifest_names_the_archives(self):
        plugin = yaml.safe_load(self.files["assets/synergy.krew.yaml"])["spec"]
        self.assertEqual(plugin["version"], TAG)
        for platform, architecture in zip(plugin["platforms"], ARCHITECTURES, strict=True):
            self.assertEqual(platform["selector"]["matchLabels"], {"os": "linux", "arch": architecture})
            name = platform["uri"].rsplit("/", 1)[1]
            content = self.files[f"assets/{name}"]
            self.assertEqual("sha256:" + platform["sha256"], digest(content))
            with tarfile.open(fileobj=io.BytesIO(content)) as archive:
                self.assertEqual(archive.getnames(),
                                 ["kubectl-synergy", "kubectl_complete-synergy", "LICENSE", "synergy"])
                self.assertEqual({entry.mtime for entry in archive}, {1790000000})
                self.assertEqual(archive.extractfile("synergy").read(),
                                 (self.tree.out / "programs" / architecture / "synergy").read_bytes())

    def test_the_checksums_are_those_of_all_files(self):
        lines = dict(reversed(line.split("  ")) for line in self.files["assets/SHA256SUMS"].decode().splitlines())
        self.assertEqual({f"assets/{name}": "sha256:" + found for name, found in lines.items()},
                         {name: digest(content) for name, content in self.files.items()
                          if name.startswith("assets/") and not name.endswith("SHA256SUMS")})

    def test_the_notes_hold_this_versions_changes_alone(self):
        notes = self.files["notes.md"].decode()
        self.assertIn(f"helm install synergy oci://127.0.0.1:5000/charts/synergy --version {VERSION}", notes)
        self.assertTrue(notes.startswith("\n### New\n\n* b\n\n## Install\n"), notes)

    def test_wrong_arguments_are_refused_with_what_to_do(self):
        for arguments, *words in (
                (["--dry-run", "v9.9.9"], f"v9.9.9 is not {TAG}", "CMakeLists.txt"),
                (["--dry-run"], "which tag?", TAG),
                ([TAG], "--registry is missing"),
                ([TAG, "--registry", "example.com/Team"], "lower case: example.com/team"),
                ([TAG, "--registry", "example.com/team"], "--source is missing", "https://"),
                (["--dry-run", TAG, "--arch", "riscv64"], "--arch takes amd64 and arm64, not 'riscv64'"),
                (["--dry-run", TAG, "--bogus"], "no option --bogus")):
            with self.subTest(arguments):
                done = subprocess.run([str(helm.ROOT / "scripts/release.sh"), *arguments], capture_output=True,
                                      text=True, check=False)
                self.assertEqual(done.returncode, 1)
                for word in words:
                    self.assertIn(word, done.stderr)

    def test_a_version_without_changes_is_refused(self):
        changes = self.trees[1].root / "CHANGELOG.md"
        self.addCleanup(changes.write_text, CHANGES, encoding="utf-8")
        changes.write_text(CHANGES.replace("### New\n\n* b\n", ""), encoding="utf-8")
        done = self.trees[1].run("notes", "--dry-run")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f'no section "## {VERSION}"', done.stderr)

    @unittest.skipUnless(os.environ.get("SYNERGY_TIER") == "long", "of the long tier: syft is built for it")
    def test_bills_of_materials_name_the_packages_in_the_same_bytes(self):
        for tree in self.trees:
            done = tree.run("sbom", "--dry-run")
            self.assertEqual(done.returncode, 0, done.stderr)
        for name in IMAGES:
            for architecture in ARCHITECTURES:
                file = f"assets/synergy-{name}-{VERSION}-linux-{architecture}.spdx.json"
                texts = {(tree.out / file).read_bytes() for tree in self.trees}
                self.assertEqual(len(texts), 1, file)
                found = json.loads(texts.pop())
                self.assertIn(("libssl3", "3.0.17-1"),
                              {(each["name"], each.get("versionInfo")) for each in found["packages"]})
                self.assertEqual(found["creationInfo"]["created"], "2026-09-21T14:13:20Z")


if __name__ == "__main__":
    unittest.main()
