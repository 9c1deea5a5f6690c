"""Runs Helm on charts/synergy for tests: returns the rendered objects, or why values are
refused."""

import functools
import os
import pathlib
import subprocess
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHART = ROOT / "charts/synergy"
NAMESPACE = "synergy-system"
# The registry of images that scripts/images.sh writes to an archive.
REGISTRY = "synergy.test"


@functools.cache
def helm_program():
    folder = subprocess.run(
        ["bash", "-c", "source scripts/lib/output.sh && source scripts/lib/programs.sh && helm_folder"],
        cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    return os.path.join(folder, "helm")


def run(*arguments, values=None, environment=None):
    """Runs Helm; returns the finished process. Passes `values` in a file, so that they keep their
    types, and adds the images' registry."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        if values is not None:
            yaml.safe_dump({**values, "image": {"registry": REGISTRY, **values.get("image", {})}}, file)
            file.flush()
            arguments = (*arguments, "--values", file.name)
        return subprocess.run([helm_program(), *arguments], env=environment, capture_output=True, text=True,
                              check=False)


def template(values=None, release="synergy", namespace=NAMESPACE, more=()):
    done = run("template", release, str(CHART), "--namespace", namespace, *more, values=values or {})
    if done.returncode != 0:
        raise AssertionError(f"helm template with {values}: {done.stderr}")
    return [document for document in yaml.load_all(done.stdout, Loader=yaml.CSafeLoader) if document]


def refusal(values):
    """Returns Helm's error message about values that it refuses; empty if it accepts them."""
    done = run("template", "synergy", str(CHART), "--namespace", NAMESPACE, values=values)
    return done.stderr if done.returncode != 0 else ""
