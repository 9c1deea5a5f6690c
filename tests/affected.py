"""Prints the names of the tests that can see a change to these paths, one a line; scripts/test.sh
--for runs them.

  affected.py --build FOLDER PATH...

FOLDER is configured, with the reply of CMake's file API (query codemodel-v2) in it. C++ is found by
CMake's graph of targets, Python by its imports, cluster tests by the table below. For a path that
is unknown here, prints all tests: a test too many costs minutes, but a test too few can miss a
fault.
"""

import argparse
import ast
import fnmatch
import functools
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
CLUSTER = "_cluster_test"
# Folders from which tests/cluster/run.sh lets a program import.
SHARED_MODULES = (*(ROOT / "tests/cluster").glob("*/"), ROOT / "tests/chart")

# Cluster test -> the programs of ours that it runs, if they are not the usual ones.
USUAL = {"synergy", "synergy-lab", "synergy-extender", "synergy-controller", "trainer"}
PROGRAMS = USUAL | {"synergy-node-agent", "synergy-device-plugin", "fake-nvml", "stand-in-plugin"}
CLUSTER_PROGRAMS = {
    "device_plugin": {"synergy-extender", "synergy-device-plugin", "synergy-node-agent", "fake-nvml",
                      "stand-in-plugin"},
    "faults": {"synergy-extender"},
    "node_agent": {"synergy-node-agent", "trainer"},
    "progress": {"synergy-node-agent", "trainer"},
    **dict.fromkeys(("install", "published", "v2_node"), PROGRAMS),
    **dict.fromkeys(("gavel", "kueue", "optimus", "training_operators", "real_jobs", "end_to_end", "profiling"),
                    USUAL | {"synergy-node-agent"}),
}

# Folders that are linked into the programs of every cluster test, but matter only to tests with
# these names.
CLUSTER_USES = (
    ("src/gavel/*", ("gavel*", "install*")),
    ("src/optimus/*", ("optimus*", "training_operators*", "install*")),
    ("src/sim/*", ("gavel*", "kueue*", "optimus*", "training_operators*")),
    ("research/*", ("gavel*", "kueue*", "optimus*", "training_operators*")),
)

# Path -> patterns for the names of tests that can see a change to it. The first matching line
# counts.
SEEN_BY = (
    ("tests/cluster/queueing/kuberay/*", ("job_operators*", "real_jobs*")),
    ("tests/cluster/queueing/jobs/*", ("real_jobs*",)),
    ("tests/cluster/queueing/kueue/*", ("kueue*", "optimus*", "training_operators*", "job_operators*", "real_jobs*",
                                        "gavel*", "rounds_chaos*", "install*")),
    ("tests/cluster/support/containerd/*", ("*" + CLUSTER,)),
    ("tests/cluster/nodes/v2-node/*", ("v2_node*",)),
    ("tests/cluster/support/trainer/*.py", ("trainer*",)),
    ("tests/cluster/benches/soak.py", ("soak*",)),
    ("tests/cluster/benches/*", ()),
    ("tests/bench/*", ()),
    ("research/tests/integration/lab/*", ("lab_process*",)),
    ("tests/autoscaler/*", ("sizes*",)),
    ("tests/helm/*", ("chart*", "install*", "observe*", "publish*", "release*")),
    ("examples/*.py", ("progress_callback*", "real_jobs*")),
    ("examples/jobs/*", ("install*",)),
    ("examples/profiles/*", ("webhook*", "soak*")),
    ("examples/values/*", ("chart*",)),
    ("examples/*.yaml", ("chart*", "gitops*")),
    ("charts/*", ("chart*", "observe*", "publish*", "release*", "*" + CLUSTER)),
    ("manifests/*", ("chart*", "*" + CLUSTER)),
    ("Dockerfile", ("publish*", "install*", "configure_without_tests")),
    ("scripts/images.sh", ("publish*", "install*")),
    ("scripts/release*", ("release*", "lint_*")),
    ("scripts/lib/release*", ("release*",)),
    (".github/*", ("lint_*",)),
    ("CHANGELOG.md", ("release*", "lint_docs*")),
    ("scripts/static.sh", ("*_static_test", "release*")),
    ("scripts/lib/static.sh", ("*_static_test",)),
    ("scripts/soak.sh", ("soak*",)),
    ("scripts/cluster.sh", ("*" + CLUSTER,)),
    ("scripts/lib/*", ("*" + CLUSTER, "publish*")),
    ("tests/versions/*", ("accounting_oracle*",)),
    ("tests/data/*", ("*_test",)),
    ("tests/fuzz/corpus/*", ("*_replay",)),
    ("tests/lint/*", ("lint_*",)),
    ("docs/metrics.md", ("lint_docs*", "lint_prose*", "observe*")),
    ("docs/failures.md", ("lint_docs*", "lint_prose*", "failure*")),
    ("docs/queues.md", ("lint_docs*", "lint_prose*", "policy_forms*")),
    ("docs/internals/node-agent.md", ("lint_docs*", "observe*")),
    ("docs/internals/device-plugin.md", ("lint_docs*", "observe*")),
    ("*.md", ("lint_docs*", "lint_prose*")),
    ("LICENSE", ()),
    (".gitignore", ()),
)


class Build:
    """The targets of a configured build folder."""

    def __init__(self, folder):
        reply = folder / ".cmake/api/v1/reply"
        index = max(reply.glob("codemodel-v2-*.json"))
        self.targets = [json.loads((reply / target["jsonFile"]).read_text(encoding="utf-8"))
                        for target in json.loads(index.read_text(encoding="utf-8"))["configurations"][0]["targets"]]
        self.by_id = {target["id"]: target for target in self.targets}

    def owners(self, path):
        """Returns the ids of targets that are built from that file, or from sources in its folder
        or the nearest folder above that has some: headers belong to their folder."""
        exact = {target["id"] for target in self.targets
                 for source in target.get("sources", []) if source["path"] == path}
        if exact:
            return exact
        for folder in pathlib.PurePath(path).parents:
            beside = {target["id"] for target in self.targets for source in target.get("sources", [])
                      if pathlib.PurePath(source["path"]).parent == folder}
            if beside or str(folder) in (".", "src", "tests", "research"):
                return beside
        return set()

    @functools.lru_cache(maxsize=None)
    def needs(self, identity):
        """Returns the ids of everything from which a target is built, and the target's own."""
        own = self.by_id.get(identity, {})
        return frozenset({identity}).union(*(self.needs(other["id"]) for other in own.get("dependencies", [])))

    def programs(self, changed):
        """Returns the names of the programs and modules that contain any of these targets."""
        return {target["name"] for target in self.targets
                if target["type"] in ("EXECUTABLE", "MODULE_LIBRARY") and self.needs(target["id"]) & changed}


@functools.lru_cache(maxsize=None)
def imports(file):
    """Returns a Python file and everything that it imports, directly or not, from its own folder
    and from the folders of tests/cluster/run.sh."""
    found, left = set(), [file]
    while left:
        path = left.pop()
        if path in found or not path.exists():
            continue
        found.add(path)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [name.name for name in node.names] if isinstance(node, ast.Import) else [
                getattr(node, "module", None)]
            left += [folder / f"{name}.py" for name in names if name for folder in (path.parent, *SHARED_MODULES)]
    return found


def programs_of(test, programs):
    """Returns the names of our programs that a test runs, by its command or by the table."""
    if test["name"].endswith(CLUSTER):
        return CLUSTER_PROGRAMS.get(test["name"].removesuffix(CLUSTER), USUAL)
    words = {pathlib.PurePath(word).name for word in test.get("command", [])}
    if test["name"].startswith("lint_"):
        return set()  # these tests have a separate part
    if any(word.endswith(".py") for word in words):
        return programs & PROGRAMS  # tests of whole programs, which are few and quick
    return words


def uses(name, path):
    patterns = next((patterns for pattern, patterns in CLUSTER_USES if fnmatch.fnmatch(path, pattern)), ("*",))
    return not name.endswith(CLUSTER) or any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def affected(paths, build, tests):
    """Returns the names of the tests that can see a change to any of the paths. `tests`: as ctest
    --show-only=json-v1 lists them."""
    found = set()
    for path in paths:
        patterns = next((patterns for pattern, patterns in SEEN_BY if fnmatch.fnmatch(path, pattern)), None)
        if patterns is not None:
            found |= {test["name"]
                      for test in tests if any(fnmatch.fnmatch(test["name"], pattern) for pattern in patterns)}
            continue
        if path.startswith(("tests/", "research/tests/")) and path.endswith(".py"):
            # The paths that tests/cluster/run.sh takes are relative to its folder.
            users = {test["name"] for test in tests for word in test.get("command", [])
                     if word.endswith(".py") and ROOT / path in imports(ROOT / "tests/cluster" / word)}
        else:
            changed = frozenset(build.owners(path)) if path.endswith((".cc", ".h", ".proto")) else frozenset()
            programs = build.programs(changed)
            users = {test["name"]
                     for test in tests if programs_of(test, programs) & programs and uses(test["name"], path)}
        found |= users or {test["name"] for test in tests}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("paths", nargs="+")
    options = parser.parse_args()
    listed = subprocess.run(["ctest", "--test-dir", options.build, "--show-only=json-v1"], check=True,
                            capture_output=True, text=True)
    paths = [str(pathlib.Path(path).resolve().relative_to(ROOT)) for path in options.paths]
    # Fixtures run with the tests that need them.
    fixtures = ("_up", "_down")
    tests = [test for test in json.loads(listed.stdout)["tests"] if not test["name"].endswith(fixtures)]
    for name in sorted(affected(paths, Build(options.build), tests)):
        print(name)


if __name__ == "__main__":
    sys.exit(main())
