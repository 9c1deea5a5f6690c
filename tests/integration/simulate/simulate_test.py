"""Tests `synergy simulate` from its users' view: figures, files, errors and exit codes."""

import csv
import io
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
DATA = ROOT / "tests/data/synergy/reference"


def simulate(*arguments):
    command = [str(pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy"), "simulate", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def figures(*arguments):
    done = simulate("--profiles", DATA / "profiles.json", "--output", "json", *arguments)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


class SimulateTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_json_has_the_promised_figures(self):
        run = figures("--trace", DATA / "dynamic_100job.csv", "--servers", "4")
        for name in ("mean_jct_hours", "p50_jct_hours", "p95_jct_hours", "p99_jct_hours", "p999_jct_hours",
                     "makespan_hours",
                     "rounds", "jobs", "gpu_utilisation", "cpu_utilisation", "memory_utilisation", "wall_seconds"):
            self.assertIn(name, run)
        self.assertEqual(run["jobs"], 100)

    def test_the_same_seed_gives_the_same_run_and_a_saved_workload_too(self):
        made = ["--generate", "rate=9/h,gpus=philly,jobs=200,seed=3", "--servers", "4"]
        saved = self.folder / "made.csv"
        first = figures(*made, "--save", saved)
        self.assertEqual(first["mean_jct_hours"], figures(*made)["mean_jct_hours"])
        self.assertAlmostEqual(first["mean_jct_hours"], figures("--trace", saved, "--servers", "4")["mean_jct_hours"],
                               9)

    def test_a_job_that_never_gets_its_gpus_is_named_and_the_others_are_measured(self):
        resources = {"cpu": "24", "memory": "500G", "nvidia.com/gpu": "8", "pods": "110"}
        node = {"kind": "Node", "metadata": {"name": "n1"}, "status": {"capacity": resources, "allocatable": resources}}
        other = {"kind": "Pod", "metadata": {"name": "other", "namespace": "default", "uid": "u"},
                 "status": {"phase": "Running"},
                 "spec": {"nodeName": "n1", "schedulerName": "default-scheduler", "containers": [
                     {"name": "c", "resources": {"requests": {"cpu": "9", "nvidia.com/gpu": "3"}}}]}}
        cluster, trace = self.folder / "cluster.json", self.folder / "trace.csv"
        cluster.write_text(json.dumps({"kind": "List", "items": [node, other]}), encoding="utf-8")
        trace.write_text("job_id,model,arrival_s,total_iterations,gpus\n0,alexnet,0,100,1\n7,alexnet,0,100,8\n",
                         encoding="utf-8")
        arguments = ["--cluster", cluster, "--trace", trace, "--profiles", DATA / "profiles.json", "--output", "json"]
        for_ever = simulate(*arguments)
        self.assertEqual(for_ever.returncode, 0, for_ever.stderr)
        self.assertIn("1 of 2 jobs are left out: job 7 never got its GPUs", for_ever.stderr)
        run = json.loads(for_ever.stdout)
        self.assertEqual((run["jobs"], run["left_out"]), (1, 1))
        ends = simulate(*arguments, "--remaining", "2h")
        self.assertEqual((ends.returncode, ends.stderr), (0, ""))
        self.assertGreater(json.loads(ends.stdout)["makespan_hours"], 2)

    def test_jobs_timeline_and_plot_are_written(self):
        jobs, timeline, plot = (self.folder / name for name in ("jobs.csv", "timeline.csv", "plot.svg"))
        figures("--trace", DATA / "dynamic_100job.csv", "--servers", "4", "--load", "0.5,1",
                "--mechanism", "synergy,synergy-strict", "--jobs-csv", jobs, "--timeline", timeline, "--plot", plot)
        rows = list(csv.DictReader(io.StringIO(jobs.read_text(encoding="utf-8"))))
        self.assertEqual(len(rows), 4 * 100)
        for row in rows:
            self.assertTrue(float(row["finish_s"]) > float(row["start_s"]) >= float(row["submit_s"]))
            self.assertTrue(row["nodes"].startswith("node-000"))
            self.assertNotEqual(row["cpu_at_bind"], "")
        points = list(csv.DictReader(io.StringIO(timeline.read_text(encoding="utf-8"))))
        self.assertTrue(all(0 <= float(point["gpus"]) <= 1 and 0 <= float(point["cpu"]) <= 1 for point in points))
        self.assertIn("fifo synergy", plot.read_text(encoding="utf-8"))

    def test_jobs_that_no_figure_counts_are_warned_of(self):
        philly = ["--trace", ROOT / "tests/data/philly/cluster_job_log.json", "--profiles", DATA / "profiles.json"]
        self.assertIn("3 jobs, left out: 2 never ran, 1 without an end", simulate(*philly).stderr)
        small = simulate(*philly, "--servers", "1", "--gpus", "4", "--cpus", "12", "--output", "json")
        self.assertEqual(json.loads(small.stdout)["left_out"], 1)

    def test_jobs_queue_by_the_policy(self):
        run = ["--generate", "rate=9/h,jobs=60,seed=5", "--servers", "1"]
        fifo, las = figures(*run, "--policy", "fifo,las")
        self.assertLess(las["mean_jct_hours"], fifo["mean_jct_hours"])
        self.assertEqual(fifo["restarts"], 0)
        self.assertGreater(las["restarts"], 0)
        queued = figures(*run, "--kueue")
        self.assertAlmostEqual(queued["mean_jct_hours"] / fifo["mean_jct_hours"], 1, delta=0.02)
        self.assertEqual(figures(*run)["mean_jct_hours"], fifo["mean_jct_hours"])

    def test_faults_cost_time_and_the_same_seed_gives_the_same_run(self):
        # No job waits here: in a queue, restarts would also let other jobs pass.
        run = ["--generate", "rate=2/h,jobs=100,seed=5", "--servers", "16"]
        faults = [*run,
                  "--with", "faults=resize-deferred:0.2,resize-refused:0.1,call-fails:0.2,call-late:2s,node-lost:1"]
        first = figures(*faults)
        self.assertEqual(first["jobs"], 100)
        self.assertGreater(first["restarts"], 0)
        self.assertEqual(first["mean_jct_hours"], figures(*faults)["mean_jct_hours"])
        self.assertNotEqual(first["mean_jct_hours"], figures(*faults, "--seed", "2")["mean_jct_hours"])
        self.assertGreater(first["mean_jct_hours"], figures(*run)["mean_jct_hours"])

    def test_elastic_jobs_grow_where_others_wait(self):
        run = ["--generate", "rate=4/h,jobs=60,seed=5", "--servers", "2", "--pod-gpus", "1",
               "--policy", "fifo,fifo:Elastic", "--with", "elastic=least:1,most:8,serial:0.02"]
        fixed, elastic = figures(*run)
        self.assertLess(elastic["mean_jct_hours"], fixed["mean_jct_hours"])
        self.assertGreater(elastic["restarts"], fixed["restarts"])
        # The run's other policy has the jobs exactly as in the trace.
        self.assertEqual(fixed["mean_jct_hours"], figures(*run[:6], "--policy", "fifo")["mean_jct_hours"])

    def test_failures_have_their_figures_where_jobs_fail_and_nowhere_else(self):
        run = ["--generate", "rate=9/h,jobs=200,seed=5", "--servers", "4"]
        without = figures(*run)
        failing = figures(*run, "--with", "failures=acme")
        stopping = figures(*run, "--with", "failures=acme,stop-futile")
        self.assertEqual([name for name in failing if name in without], list(without))
        for name in ("trials", "failed_jobs", "mean_passed_jct_hours", "lost_gpu_hours_user"):
            self.assertIn(name, failing)
            self.assertNotIn(name, without)
        self.assertEqual((failing["stopped_jobs"], failing["jobs"]), (0, 200))
        self.assertGreater(stopping["stopped_jobs"], 0)
        self.assertLess(stopping["trials"], failing["trials"])
        for each in (failing, stopping):
            parts = each["useful_gpu_hours"] + each["lost_gpu_hours"] + each["prerun_gpu_hours"]
            self.assertAlmostEqual(parts / each["busy_gpu_hours"], 1, 6)

    def test_baselines_run_by_the_same_events(self):
        run = ["--generate", "rate=9/h,jobs=100,seed=5", "--servers", "2",
               "--mechanism", "synergy,proportional,burstable-spread"]
        ours, proportional, spread = figures(*run)
        self.assertLess(ours["mean_jct_hours"], spread["mean_jct_hours"])
        self.assertLess(spread["mean_jct_hours"], proportional["mean_jct_hours"])
        self.assertEqual(proportional["resizes"], 0)

    def test_philly_traces_are_read(self):
        run = figures("--trace", *(ROOT / "tests/data/philly").glob("*.json"))
        self.assertGreater(run["jobs"], 0)

    def test_recorded_traces_are_recognised_and_described(self):
        corpus = ROOT / "tests/fuzz/corpus/read_trace"
        for files, described in (("plain.csv", "read as jobs with durations: 2 jobs, left out: 1 with a duration"),
                            ("slurm.txt", "read as Slurm sacct: 4 jobs, left out: 3 steps, 1 pending"),
                            ("helios.csv", "read as Helios' jobs: 1 job"),
                            ("acme.csv", "read as Acme's jobs: 1 job"),
                            ("pai_jobs.csv,pai_tasks.csv", "read as jobs and tasks of Alibaba PAI 2020: 2 jobs")):
            with self.subTest(files=files):
                trace = ",".join(str(corpus / file) for file in files.split(","))
                done = simulate("--trace", trace, "--profiles", DATA / "profiles.json", "--output", "json")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(described, done.stderr)
                self.assertGreater(json.loads(done.stdout)["mean_jct_hours"], 0)

    def test_profiles_are_built_in_and_servers_have_any_shape(self):
        made = ["--generate", "rate=9/h,jobs=50,seed=3", "--servers", "2", "--mechanism", "proportional"]

        def built_in_figures(*arguments):
            return json.loads(simulate(*made, "--output", "json", *arguments).stdout)

        built_in = built_in_figures()
        self.assertEqual(built_in["mean_jct_hours"], figures(*made)["mean_jct_hours"])
        large = simulate(*made, "--output", "json", "--cpus", "250", "--memory", "2Ti",
                         "--recorded", "cpus=24,memory=500GB")
        self.assertEqual(large.returncode, 0, large.stderr)
        self.assertIn("more than 24 CPUs per GPU", large.stderr)
        self.assertLess(json.loads(large.stdout)["mean_jct_hours"], built_in["mean_jct_hours"])
        self.assertLess(built_in_figures("--gpu-speed", "2")["mean_jct_hours"], built_in["mean_jct_hours"])
        small = simulate(*made, "--cpus", "4")
        self.assertEqual(small.returncode, 2)
        self.assertIn("measure the models with 0.5 CPUs per GPU", small.stderr)

    def test_a_plan_has_the_answers_as_table_and_json(self):
        made = ["--plan", "--generate", "rate=9/h,jobs=60,seed=3", "--servers", "3", "--price", "2"]
        plan = json.loads(simulate(*made, "--output", "json").stdout)
        self.assertGreaterEqual(plan["gain"], 1)
        self.assertEqual(plan["gpus_fewer"] % 8, 0)
        self.assertEqual([point["cpus_per_gpu"] for point in plan["ratios"]], [1.5, 2.25, 3, 4.5, 6])
        self.assertIn("for the same p95 wait", simulate(*made).stdout)
        refused = simulate(*made, "--mechanism", "synergy,proportional")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--plan", refused.stderr)

    def test_a_trace_without_a_job_to_simulate_fails_with_the_reason(self):
        trace = self.folder / "none.csv"
        for text, described in (("1,0,60,0\n", "1 without GPUs"), ("1,0,60,999\n", "1 with more GPUs than the 128"),
                           ("", "there are no rows")):
            trace.write_text("job_id,submit_time,duration_s,gpus\n" + text, encoding="utf-8")
            done = simulate("--trace", trace, "--profiles", DATA / "profiles.json")
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertIn(described, done.stderr)

    def test_a_run_that_measures_no_job_fails_with_the_reason(self):
        trace = self.folder / "jobs.csv"
        trace.write_text("job_id,submit_time,duration_s,gpus\n1,0,60,1\n2,0,60,1\n", encoding="utf-8")
        for options, status, reason in ((["--memory", "1M"], 2, "GB per GPU are fewer than the 20.83"),
                                        (["--window", "5:9"], 1, "--window 5:9: no job of")):
            for plan in ([], ["--plan"]):
                with self.subTest(options=options, plan=plan):
                    done = simulate("--trace", trace, *options, *plan)
                    self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
                    self.assertIn(reason, done.stderr)

    def test_a_plan_refuses_options_that_it_would_ignore(self):
        made = ["--generate", "rate=9/h,jobs=10,seed=3", "--servers", "3"]
        for option in ("--html", "--jobs-csv", "--timeline", "--changes", "--plot", "--save"):
            done = simulate("--plan", *made, option, self.folder / "file")
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn(option, done.stderr)
        for option, value in (("--price", "2"), ("--baseline", "proportional")):
            done = simulate(*made, option, value)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn(option, done.stderr)

    def test_training_profiles_are_profiles_of_a_file_and_of_a_cluster(self):
        profiles = [{"apiVersion": "synergy.io/v1alpha1", "kind": "TrainingProfile",
                     "metadata": {"name": name, "namespace": "default"},
                     "spec": {"points": [{"cpu": cpu, "memory": "8G", "throughput": speed}
                                         for cpu, speed in points]}}
                    for name, points in (("steep", ((1, 1), (3, 1.5), (9, 4.5))), ("flat", ((1, 2),)))]
        resources = {"cpu": "24", "memory": "500G", "nvidia.com/gpu": "8", "pods": "110"}
        node = {"kind": "Node", "metadata": {"name": "n1"}, "status": {"capacity": resources, "allocatable": resources}}
        file, cluster, trace, jobs = (self.folder / name for name in ("tp.json", "cl.json", "t.csv", "jobs.csv"))
        file.write_text(json.dumps({"kind": "List", "items": profiles}), encoding="utf-8")
        cluster.write_text(json.dumps({"kind": "List", "items": [node, *profiles]}), encoding="utf-8")
        trace.write_text("job_id,submit_time,duration_s,gpus,model\n0,0,3600,1,steep\n1,0,3600,1,flat\n",
                         encoding="utf-8")
        for source in (["--profiles", file, "--servers", "1"], ["--cluster", cluster]):
            with self.subTest(source=source):
                done = simulate("--trace", trace, *source, "--jobs-csv", jobs)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn("drawn", done.stderr)
                rows = list(csv.DictReader(io.StringIO(jobs.read_text(encoding="utf-8"))))
                self.assertEqual([row["model"] for row in rows], ["steep", "flat"])
                # With 9 CPUs the first is three times as fast as with its fair share of 3.
                self.assertAlmostEqual(float(rows[0]["finish_s"]), 1200, delta=60)
                self.assertAlmostEqual(float(rows[1]["finish_s"]), 3600, delta=60)

    def test_waits_of_a_plan_include_those_between_turns(self):
        trace = self.folder / "jobs.csv"
        trace.write_text("job_id,submit_time,duration_s,gpus\n1,0,14400,8\n2,3600,3600,8\n", encoding="utf-8")
        plan = json.loads(simulate("--plan", "--trace", trace, "--servers", "1", "--policy", "las", "-o",
                                   "json").stdout)
        self.assertGreater(plan["with"]["p95_wait_hours"], 0.9)
        self.assertAlmostEqual(plan["with"]["gpu_hours"], 40, delta=0.5)

    def test_errors_name_the_place_and_the_cure(self):
        trace = self.folder / "bad.csv"
        trace.write_text("job_id,model,arrival_s,total_iterations,gpus\n0,alexnet,0,100,1\n1,alexnet,x,100,1\n",
                         encoding="utf-8")
        done = simulate("--trace", trace, "--profiles", DATA / "profiles.json")
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{trace}:3:", done.stderr)
        lines = self.folder / "jobs.jsonl"
        lines.write_text('{"job_id": 1, "gpus": 1}\n{"job_id": 2, "gpus": 1}\n', encoding="utf-8")
        done = simulate("--trace", lines, "--profiles", DATA / "profiles.json")
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{lines}: lines of JSON are not read: write a CSV with job_id, submit_time", done.stderr)
        for arguments, text in ((["--generate", "rate=often"], "rate"),
                                (["--generate", "jobs=10", "--mechanism", "luck"],
                                 "no mechanism 'luck': one of synergy, synergy-strict, proportional"),
                                (["--generate", "jobs=10", "--latency", "bind=soon"], "--latency"),
                                (["--generate", "jobs=10", "--policy", "luck"],
                                 "unknown policy 'luck': use one of fifo"),
                                (["--generate", "jobs=10", "--with", "luck=1"],
                                 "with a name of: gpu-types, gpu-speeds, faults, cpu-pods, failures, elastic"),
                                (["--generate", "jobs=10", "--with", "faults=luck:1"], "resize-deferred"),
                                (["--generate", "jobs=10", "--memory", "much"], "--memory"),
                                (["--generate", "jobs=10", "--memory", "500"], "write 500GB or 500Gi"),
                                (["--generate", "gpus=8,jobs=10", "--servers", "1", "--gpus", "4", "--cpus", "12"],
                                 "8 GPUs"),
                                ([], "--trace or --generate")):
            with self.subTest(arguments=arguments):
                done = simulate("--profiles", DATA / "profiles.json", *arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(text, done.stderr)

    def test_a_file_that_is_not_there_is_named(self):
        done = simulate("--trace", "nowhere.csv", "--profiles", DATA / "profiles.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nowhere.csv", done.stderr)

    def test_options_moved_to_the_lab_name_it(self):
        made = ["simulate", "--profiles", DATA / "profiles.json", "--generate", "jobs=10"]
        for arguments, name in (([*made, "--compat", "reference", "--mechanism", "tune"], "synergy-lab reference"),
                                (["simulate", "--compat", "tiresias", "--cluster", "n2g4", "--schedule", "fifo"],
                                 "synergy-lab tiresias"),
                                (["simulate", "--compat", "gavel", "--types", "v100=4", "--policy", "fifo_perf"],
                                 "synergy-lab gavel"),
                                ([*made, "--compat=gavel", "--solves", "x"], "synergy-lab gavel"),
                                (["gavel", "solve", "--policy", "fifo_perf", "--input", "-"], "synergy-lab gavel"),
                                (["gavel"], "synergy-lab gavel"),
                                ([*made, "--mechanism", "tune"], "synergy-lab rounds"),
                                ([*made, "--mechanism", "synergy,synergy-rounds"], "synergy-lab rounds"),
                                (["simulate", "--trace", "nowhere", "--mechanism", "tune", "--policy", "srtf"],
                                 "synergy-lab rounds"),
                                ([*made, "--types", "v100=8,k80=8", "--policy", "gavel-las"], "synergy-lab rounds"),
                                ([*made, "--elastic", "--types", "v100=8", "--policy", "optimus"],
                                 "synergy-lab rounds"),
                                ([*made, "--lease"], "synergy-lab rounds"),
                                ([*made, "--queue-limits", "1,2"], "synergy-lab rounds"),
                                ([*made, "--prices", "v100=1", "k80=1"], "synergy-lab rounds"),
                                ([*made, "--placement", "consolidate"], "synergy-lab reference"),
                                ([*made, "--arrivals", "static"], "synergy-lab reference"),
                                ([*made, "--scheme", "yarn"], "synergy-lab tiresias")):
            with self.subTest(arguments=arguments):
                command = [str(pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy"), *map(str, arguments)]
                done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(name, done.stderr)

    def test_help_is_short(self):
        lines = simulate("--help").stdout.splitlines()
        groups = [line
                  for line in lines if line and not line.startswith(" ") and line.endswith(":") and line != "examples:"]
        self.assertLessEqual(len(groups), 6, groups)
        for name in ("--compat", "--types", "--elastic"):
            self.assertNotIn(name, "\n".join(lines))


if __name__ == "__main__":
    unittest.main(verbosity=2)
