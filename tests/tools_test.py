"""Tests cost.py, results.py and affected.py: what a test costs, how often it has passed, and which
tests a change can affect. Also tests how scripts/lib tracks the processes of test clusters."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import affected
import results

HERE = pathlib.Path(__file__).resolve().parent
COST = [sys.executable, str(HERE / "cost.py")]
BUSY = "for ((i = 0; i < 50000; i++)); do :; done"

JUNIT = """<testsuite>
<testcase name="dear" time="20.4" status="run"><system-out>told
cost: 20.3 s, 3.25 s of CPU
</system-out></testcase>
<testcase name="cheap" time="0.5" status="run"><system-out/></testcase>
<testcase name="broken" time="7" status="fail"><system-out>first
last
</system-out></testcase>
<testcase name="unstarted" time="0" status="notrun"><system-out/></testcase>
<testcase name="off" time="0" status="disabled"><system-out/></testcase>
</testsuite>"""


class CostTest(unittest.TestCase):
    def cost(self, script, *options):
        done = subprocess.run([*COST, *options, "bash", "-c", script], capture_output=True, text=True, check=False)
        found = results.COST.findall(done.stdout)
        self.assertEqual(len(found), 1, done)
        return done.returncode, float(found[0][1])

    def test_the_status_is_the_tests(self):
        self.assertEqual(self.cost("exit 3")[0], 3)
        self.assertEqual(self.cost("kill -KILL $$")[0], 128 + 9)

    def test_daemons_that_have_ended_count(self):
        nothing = self.cost(":")[1]
        self.assertGreater(self.cost(f"(setsid bash -c '{BUSY}; touch \"$0.done\"' $0 &) ; until [[ -e $0.done ]]; do "
                                     "sleep 0.05; done; rm $0.done"
                                     .replace("$0", tempfile.mkdtemp()))[1], nothing + 0.05)

    def test_a_shared_clusters_processes_count(self):
        with tempfile.TemporaryDirectory() as folder:
            pids = pathlib.Path(folder) / "cluster/pids"
            pids.mkdir(parents=True)
            (pids / "stopped").write_text("stopped\n", encoding="utf-8")
            go = pathlib.Path(folder) / "go"
            daemon = f"until [[ -e {go} ]]; do sleep 0.05; done; {BUSY}; touch {go}.done; sleep 60"
            with subprocess.Popen(["bash", "-c", daemon]) as process:
                (pids / "daemon").write_text(f"{process.pid} 1 boot\n", encoding="utf-8")
                waits = f"touch {go}; until [[ -e {go}.done ]]; do sleep 0.05; done"
                cpu = self.cost(waits, "--shared", folder)[1]
                process.kill()
            self.assertGreater(cpu, self.cost(":")[1] + 0.05)


class ComponentTest(unittest.TestCase):
    def test_a_component_that_is_started_meanwhile_is_not_dead(self):
        script = """
            set -euo pipefail
            STATE=$1 dead=0
            mkdir "$STATE/pids"
            source "$2/scripts/lib/process.sh"
            [[ $(component_state it) == absent ]]
            write_record it stopped
            for _ in {1..100}; do write_record it stopped; remember it "$$"; done &
            for _ in {1..200}; do [[ $(component_state it) != dead ]] || dead=1; done
            wait
            [[ $(component_state it) == running && $(component_pid it) == "$$" ]] && ((dead == 0))
        """
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["bash", "-c", script, "bash", folder, HERE.parent], check=True)


class ResultsTest(unittest.TestCase):
    def setUp(self):
        self.file = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "results.xml"
        self.file.write_text(JUNIT, encoding="utf-8")

    def test_the_table_has_the_dearest_first(self):
        self.assertEqual(results.table(results.outcomes(self.file)).splitlines()[2:],
                         ["| dear | 20 | 3 |", "| broken | 7 |  |", "| 2 others | 0 | 0 |", "| all 4 | 28 | 3 |"])

    def test_the_end_of_each_failed_test_is_shown(self):
        self.assertEqual(results.ends(results.outcomes(self.file)).splitlines(),
                         ["== broken failed after 7 s", "first", "last", "== unstarted failed after 0 s"])

    def test_a_failure_begins_anew(self):
        passes = {"dear": 4, "broken": 4, "other": 9}
        self.assertEqual(results.counted(passes, results.outcomes(self.file)),
                         {"dear": 5, "cheap": 1, "broken": 0, "unstarted": 0, "other": 9})

    def test_left_lists_the_tests_that_have_not_passed(self):
        state = self.file.with_name("passes.json")
        for _ in range(2):
            subprocess.run([sys.executable, HERE / "results.py", "count", state, self.file], check=True,
                           capture_output=True)
        left = subprocess.run([sys.executable, HERE / "results.py", "left", state, "2"], check=True,
                              capture_output=True, text=True).stdout
        self.assertEqual(left.split(), ["broken", "unstarted"])


class AffectedTest(unittest.TestCase):
    """src/profile uses src/core; the extender and a unit test use src/profile; another program uses
    neither."""

    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        reply = folder / ".cmake/api/v1/reply"
        reply.mkdir(parents=True)
        targets = {
            "core": ("STATIC_LIBRARY", ["src/core/units.cc"], []),
            "profile": ("STATIC_LIBRARY", ["src/profile/curve.cc"], ["core"]),
            "profile_test": ("EXECUTABLE", ["tests/unit/profile/curve_test.cc"], ["profile"]),
            "synergy-extender": ("EXECUTABLE", ["extender/main.cc"], ["profile"]),
            "synergy-node-agent": ("EXECUTABLE", ["nodeagent/main.cc"], []),
        }
        for name, (kind, sources, needs) in targets.items():
            (reply / f"{name}.json").write_text(json.dumps({
                "id": name, "name": name, "type": kind, "sources": [{"path": path} for path in sources],
                "dependencies": [{"id": other} for other in needs]}), encoding="utf-8")
        (reply / "codemodel-v2-1.json").write_text(json.dumps(
            {"configurations": [{"targets": [{"jsonFile": f"{name}.json"} for name in targets]}]}), encoding="utf-8")
        self.build = affected.Build(folder)
        self.tests = [{"name": "profile_test", "command": ["/build/tests/profile_test"]},
                      {"name": "agent_test", "command": ["/build/bin/synergy-node-agent"]},
                      {"name": "lint_docs", "command": ["python3", "docs.py"]}]
        for subject, name in (("operating", "faults"), ("nodes", "progress"), ("queueing", "optimus")):
            self.tests.append({"name": f"{name}_cluster_test", "command": ["run.sh", f"{subject}/{name}_test.py"]})

    def seen(self, *paths):
        return affected.affected(paths, self.build, self.tests)

    def test_sources_and_headers_are_seen_by_what_is_built_from_them(self):
        for path in ("src/core/units.cc", "src/core/units.h", "src/profile/new.h"):
            self.assertEqual(self.seen(path), {"profile_test", "faults_cluster_test", "optimus_cluster_test"}, path)
        self.assertEqual(self.seen("tests/unit/profile/curve_test.cc"), {"profile_test"})
        self.assertEqual(self.seen("nodeagent/main.cc"),
                         {"agent_test", "progress_cluster_test", "optimus_cluster_test"})

    def test_python_is_seen_by_what_imports_it(self):
        self.assertEqual(self.seen("tests/cluster/nodes/node_agent.py"), {"progress_cluster_test"})
        self.assertEqual(self.seen("tests/cluster/queueing/elastic.py"), {"optimus_cluster_test"})
        self.assertEqual(self.seen("tests/cluster/support/cluster.py"),
                         {f"{name}_cluster_test" for name in ("faults", "progress", "optimus")})

    def test_docs_are_seen_by_the_lint_and_what_is_unknown_by_all(self):
        self.assertEqual(self.seen("docs/tuner.md", "LICENSE"), {"lint_docs"})
        for path in ("cmake/Synergy.cmake", "scripts/test.sh", "tests/CMakeLists.txt"):
            self.assertEqual(len(self.seen(path)), len(self.tests), path)


if __name__ == "__main__":
    unittest.main(verbosity=2)
