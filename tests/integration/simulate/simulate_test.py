"""`synergy simulate` as its users meet it: figures, files, errors and exit codes."""

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


def typed(policy, types):
    return ["--generate", "jobs=10", "--policy", policy, "--types", types, "--mechanism", "synergy-rounds"]


class SimulateTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_the_artifact_check_of_the_paper_gives_the_published_figure(self):
        run = figures("--trace", DATA / "single_6925job.csv", "--mechanism", "tune", "--compat", "reference", "--window", "4000:5000")
        self.assertEqual(run["mean_jct_hours"], 21.876600555555555)
        self.assertEqual(run["rounds"], 8459)

    def test_json_has_the_promised_figures(self):
        run = figures("--trace", DATA / "dynamic_100job.csv", "--servers", "4")
        for name in ("mean_jct_hours", "p50_jct_hours", "p95_jct_hours", "p99_jct_hours", "p999_jct_hours", "makespan_hours",
                     "rounds", "jobs", "gpu_utilisation", "cpu_utilisation", "memory_utilisation", "wall_seconds"):
            self.assertIn(name, run)
        self.assertEqual(run["jobs"], 100)

    def test_ours_beats_the_authors_tune_and_burstable_pods(self):
        trace = ["--trace", DATA / "dynamic_100job.csv", "--servers", "4"]
        reference = figures(*trace, "--compat", "reference", "--mechanism", "tune")
        spread, packed, ours = figures(*trace, "--mechanism", "burstable-spread,burstable-packed,synergy")
        self.assertLess(ours["mean_jct_hours"], 0.95 * reference["mean_jct_hours"])
        self.assertLess(ours["mean_jct_hours"], spread["mean_jct_hours"])
        self.assertLess(ours["mean_jct_hours"], packed["mean_jct_hours"])

    def test_what_it_costs_that_nobody_has_profiled_the_models(self):
        trace = ["--trace", DATA.parent / "static_100job.csv", "--servers", "4"]
        known, live, proportional = (figures(*trace, "--mechanism", *how)["mean_jct_hours"] for how in (
            ["synergy"], ["synergy", "--live-profiles"], ["proportional"]))
        self.assertNotEqual(live, known)
        self.assertLess(live, 1.03 * known)
        self.assertLess(live, 0.9 * proportional)

    def test_the_same_seed_gives_the_same_run_and_a_saved_workload_too(self):
        made = ["--generate", "rate=9/h,gpus=philly,jobs=200,seed=3", "--servers", "4"]
        saved = self.folder / "made.csv"
        first = figures(*made, "--save", saved)
        self.assertEqual(first["mean_jct_hours"], figures(*made)["mean_jct_hours"])
        self.assertAlmostEqual(first["mean_jct_hours"], figures("--trace", saved, "--servers", "4")["mean_jct_hours"], 9)

    def test_arrivals_say_whether_the_authors_simulator_outlasts_a_moment_without_a_job(self):
        saved = self.folder / "made.csv"
        reference = ["--compat", "reference", "--mechanism", "tune"]
        made = figures("--generate", "rate=0.2/h,gpus=philly,jobs=100,seed=3", *reference, "--save", saved)
        self.assertEqual((made["jobs"], made["left_out"]), (100, 0))
        generated = figures("--trace", saved, *reference, "--arrivals", "generated")
        self.assertEqual(generated["mean_jct_hours"], made["mean_jct_hours"])
        replayed = figures("--trace", saved, *reference)
        self.assertLess(replayed["jobs"], 100)
        self.assertEqual(replayed["jobs"] + replayed["left_out"], 100)

    def test_jobs_that_no_figure_counts_are_warned_of(self):
        trace = self.folder / "gap.csv"
        trace.write_text("job_id,model,arrival_s,total_iterations,gpus\n0,alexnet,0,100,1\n1,alexnet,9999999,100,1\n", encoding="utf-8")
        profiles = ["--profiles", DATA / "profiles.json"]
        reference = ["--trace", trace, *profiles, "--compat", "reference", "--mechanism", "tune"]
        self.assertIn("1 of 2 jobs are left out", simulate(*reference).stderr)
        for silent in ([*reference, "--arrivals", "generated"], [*reference, "--window", "0:1"], ["--trace", trace, *profiles]):
            with self.subTest(arguments=silent):
                self.assertEqual(simulate(*silent).stderr, "")
        philly = ["--trace", ROOT / "tests/data/philly/cluster_job_log.json", *profiles]
        self.assertIn("3 of 6 jobs are left out: 3 never ran", simulate(*philly).stderr)
        small = simulate(*philly, "--servers", "1", "--gpus", "4", "--cpus", "12", "--output", "json")
        self.assertEqual(json.loads(small.stdout)["left_out"], 4)

    def test_a_job_that_never_gets_its_gpus_is_named_and_the_others_are_measured(self):
        resources = {"cpu": "24", "memory": "500G", "nvidia.com/gpu": "8", "pods": "110"}
        node = {"kind": "Node", "metadata": {"name": "n1"}, "status": {"capacity": resources, "allocatable": resources}}
        other = {"kind": "Pod", "metadata": {"name": "other", "namespace": "default", "uid": "u"}, "status": {"phase": "Running"},
                 "spec": {"nodeName": "n1", "schedulerName": "default-scheduler", "containers": [
                     {"name": "c", "resources": {"requests": {"cpu": "9", "nvidia.com/gpu": "3"}}}]}}
        cluster, trace = self.folder / "cluster.json", self.folder / "trace.csv"
        cluster.write_text(json.dumps({"kind": "List", "items": [node, other]}), encoding="utf-8")
        trace.write_text("job_id,model,arrival_s,total_iterations,gpus\n0,alexnet,0,100,1\n7,alexnet,0,100,8\n", encoding="utf-8")
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
        figures("--trace", DATA / "dynamic_100job.csv", "--servers", "4", "--load", "0.5,1", "--mechanism", "synergy,tune",
                "--jobs-csv", jobs, "--timeline", timeline, "--plot", plot)
        rows = list(csv.DictReader(io.StringIO(jobs.read_text(encoding="utf-8"))))
        self.assertEqual(len(rows), 4 * 100)
        self.assertTrue(all(float(row["finish_s"]) > float(row["start_s"]) >= float(row["submit_s"]) for row in rows))
        for row in rows:
            self.assertEqual(row["nodes"].startswith("node-000"), row["mechanism"] == "synergy")
            self.assertEqual(row["cpu_at_bind"] != "", row["mechanism"] == "synergy")
        points = list(csv.DictReader(io.StringIO(timeline.read_text(encoding="utf-8"))))
        self.assertTrue(all(0 <= float(point["gpus"]) <= 1 and 0 <= float(point["cpu"]) <= 1 for point in points))
        self.assertIn("fifo synergy", plot.read_text(encoding="utf-8"))

    def test_tiresias_simulator_gives_its_authors_figures(self):
        data, jobs = ROOT / "tests/data/tiresias", self.folder / "jobs.csv"
        done = simulate("--compat", "tiresias", "--cluster", "n2g4", "--schedule", "dlas-gpu-2", "--scheme", "count",
                        "--queue-limits", "325,1000", "--size-history", data / "yarn-gput1000.csv",
                        "--trace", data / "60_job.csv", "--jobs-csv", jobs)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = list(csv.DictReader(io.StringIO(jobs.read_text(encoding="utf-8"))))
        recorded = list(csv.DictReader((data / "60_job.n2g4q325_1000.count.dlas-gpu-2.csv").open(encoding="utf-8")))
        self.assertEqual(len(rows), 60)
        for row, expected in zip(rows, recorded, strict=True):
            for column in ("job_id", "start_s", "finish_s"):
                self.assertEqual(float(row[column]), float(expected[column]))

    def test_tiresias_beats_fifo_on_its_authors_trace_by_what_they_measure(self):
        data = ROOT / "tests/data/tiresias"
        done = simulate("--compat", "tiresias", "--cluster", "n15g4", "--scheme", "yarn", "--trace", data / "t480_job.csv",
                        "--schedule", "fifo,dlas-gpu,dlas-gpu-8,shortest-gpu", "--output", "json")
        mean = [run["mean_jct_hours"] for run in json.loads(done.stdout)]
        for times, expected in zip(mean[1:], (3.40, 3.52, 3.73), strict=True):
            self.assertAlmostEqual(mean[0] / times, expected, places=2)

    def test_gavel_simulator_gives_its_authors_figures(self):
        data, jobs = ROOT / "tests/data/gavel/runs", self.folder / "jobs.csv"
        done = simulate("--compat", "gavel", "--types", "v100=4,p100=4,k80=4", "--policy", "fifo_perf",
                        "--trace", data / "cont_multi_80.trace", "--jobs-csv", jobs)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = list(csv.DictReader(io.StringIO(jobs.read_text(encoding="utf-8"))))
        recorded = list(csv.DictReader((data / "cont_multi_80.jct.csv").open(encoding="utf-8")))
        for row, expected in zip(rows, recorded, strict=True):
            self.assertAlmostEqual(float(row["finish_s"]) - float(row["submit_s"]), float(expected["fifo_perf"]), delta=0.02)

    def test_what_gavels_policies_were_asked_can_be_asked_again(self):
        for policy in ("max_min_fairness_perf", "finish_time_fairness_perf"):
            saved, solves = self.folder / "made.trace", self.folder / "solves.json"
            cluster = ["--compat", "gavel", "--types", "v100=2,p100=2,k80=2", "--policy", policy, "--output", "json"]
            made = simulate("--generate", "rate=3/h,jobs=30,gpus=1x8:2x2,seed=5", *cluster, "--save", saved, "--solves", solves)
            self.assertEqual(made.returncode, 0, made.stderr)
            again = simulate("--trace", saved, *cluster)
            self.assertAlmostEqual(json.loads(again.stdout)["mean_jct_hours"], json.loads(made.stdout)["mean_jct_hours"], 9)
            calls = json.loads(solves.read_text(encoding="utf-8"))["calls"]
            command = [str(pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy"), "gavel", "solve", "--policy", policy]
            solved = subprocess.run([*command, "--input", solves, "--output", "json"], capture_output=True, text=True, check=True)
            for asked, answer in zip(calls, json.loads(solved.stdout), strict=True):
                self.assertLess(abs(answer["objective"] / asked["objective"] - 1), 1e-5)

    def test_awareness_of_gpu_types_and_synergys_division_each_shorten_completion_times(self):
        runs = figures("--generate", "rate=4/h,jobs=400", "--types", "v100=24,p100=24,k80=24",
                       "--policy", "gavel-las,gavel-las-agnostic", "--mechanism", "proportional,synergy-rounds")
        plain, divided, agnostic, agnostic_divided = (run["mean_jct_hours"] for run in runs)
        self.assertLess(plain, 0.9 * agnostic)
        self.assertLess(divided, 0.95 * plain)
        self.assertLess(divided, 0.9 * agnostic_divided)

    def test_on_one_gpu_type_fifo_is_as_without_types_but_for_what_becomes_free_within_rounds(self):
        trace = ["--generate", "rate=6/h,jobs=300", "--mechanism", "proportional,synergy-rounds"]
        with_types = figures(*trace, "--types", "v100=64", "--policy", "gavel-fifo")
        without = figures(*trace, "--servers", "8", "--policy", "fifo")
        for typed, plain in zip(with_types, without, strict=True):
            self.assertLess(typed["mean_jct_hours"], plain["mean_jct_hours"])
            # By no more than a round for the wait and one for each start in it.
            self.assertGreater(typed["mean_jct_hours"], plain["mean_jct_hours"] - 2 * 300 / 3600)
        # Where all jobs come and end as rounds begin, nothing becomes free within one.
        trace = self.folder / "whole_rounds.csv"
        rows = [f"{number},lstm,{number // 3 and number // 3 * 300 + 1},1000,1,{300 * (1 + number % 5)}" for number in range(60)]
        trace.write_text("\n".join(["job_id,model,arrival_s,total_iterations,gpus,duration_s_at_fair", *rows, ""]), encoding="utf-8")
        run = ["--trace", trace, "--mechanism", "proportional", "--restart-cost", "0s"]
        typed = figures(*run, "--types", "v100=8", "--policy", "gavel-fifo")
        plain = figures(*run, "--servers", "1", "--policy", "fifo")
        self.assertEqual(typed["mean_jct_hours"], plain["mean_jct_hours"])
        self.assertGreater(plain["mean_wait_hours"], 0.5 * 300 / 3600)

    def test_profiles_of_a_gpu_type_go_before_what_throughputs_say(self):
        profiles = self.folder / "types.yaml"
        entry = "- model: {}\n  gpuProduct: {}\n  points:\n  - {{cpu: 1, memory: 20G, throughput: {}}}\n"
        profiles.write_text("profiles:\n" + entry.format("lstm", "k80", 5) + entry.format("lstm", "v100", 5), encoding="utf-8")
        trace = self.folder / "trace.csv"
        trace.write_text("job_id,model,arrival_s,total_iterations,gpus,iter_time_s_at_fair\n"
                         "0,lstm,0,36000,8,1\n1,lstm,0,36000,8,1\n", encoding="utf-8")
        run = ["--trace", trace, "--types", "v100=8,k80=8", "--policy", "gavel-fifo", "--mechanism", "synergy-rounds"]
        self.assertLess(figures(*run, "--type-profiles", profiles)["makespan_hours"], 10.1)
        self.assertGreater(figures(*run)["makespan_hours"], 15)

    def test_elastic_jobs_use_what_jobs_of_one_size_leave(self):
        runs = figures("--elastic", "--types", "v100=64", "--round", "10m", "--generate", "rate=2/h,jobs=200,gpus=philly,seed=1",
                       "--policy", "optimus,optimus-exact,srtf,equal")
        optimus, exact, srtf, equal = (run["mean_jct_hours"] for run in runs)
        self.assertLess(optimus, 0.75 * srtf)
        self.assertLess(equal, 0.75 * srtf)
        # What is fitted while they run is nearly as good as knowing.
        self.assertLess(abs(optimus / exact - 1), 0.05)

    def test_first_iterations_come_sooner_where_new_jobs_go_first(self):
        runs = figures("--trace", DATA / "dynamic_100job.csv", "--servers", "4", "--policy", "fifo,2d-las,2d-gittins",
                       "--mechanism", "synergy-rounds")
        first = [run["mean_first_100_iterations_hours"] for run in runs]
        self.assertGreater(first[0], 5 * first[1])
        self.assertGreater(first[0], 5 * first[2])

    def test_philly_traces_are_read(self):
        run = figures("--trace", *(ROOT / "tests/data/philly").glob("*.json"))
        self.assertGreater(run["jobs"], 0)

    def test_errors_name_the_place_and_the_cure(self):
        trace = self.folder / "bad.csv"
        trace.write_text("job_id,model,arrival_s,total_iterations,gpus\n0,alexnet,0,100,1\n1,alexnet,x,100,1\n", encoding="utf-8")
        done = simulate("--trace", trace, "--profiles", DATA / "profiles.json")
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{trace}:3:", done.stderr)
        for arguments, text in ((["--generate", "rate=often"], "rate"),
                                (["--generate", "jobs=10", "--mechanism", "luck"], "one of synergy, synergy-strict, proportional"),
                                (["--generate", "jobs=10", "--policy", "luck", "--mechanism", "tune"], "one of fifo"),
                                (["--generate", "jobs=10", "--policy", "srtf"], "--mechanism synergy-rounds"),
                                (["--generate", "jobs=10", "--latency", "bind=soon"], "--latency"),
                                (["--generate", "jobs=10", "--queue-limits", "7200,3250"], "--queue-limits"),
                                (["--generate", "jobs=10", "--lease", "soon"], "--lease"),
                                (["--compat", "tiresias", "--cluster", "big", "--trace", trace], "--cluster"),
                                (["--compat", "tiresias", "--cluster", "n1g1", "--trace", trace], "num_gpu"),
                                (["--compat", "gavel", "--generate", "jobs=10"], "--types: with --compat gavel GPU types"),
                                (["--compat", "gavel", "--generate", "jobs=10", "--types", "v100=x"], "--types: \"v100=x\""),
                                (["--compat", "gavel", "--generate", "jobs=10", "--types", "a100=4"], "known: k80, p100, v100"),
                                (["--compat", "gavel", "--generate", "gpus=3", "--types", "v100=4"], "no model is known that runs on 3 GPUs"),
                                (["--compat", "gavel", "--trace", trace, "--types", "v100=4"], f"{trace}:1: 1 fields where 10"),
                                (["--compat", "gavel", "--generate", "jobs=1", "--types", "v100=4", "--policy", "luck"],
                                 "unknown policy 'luck'"),
                                (["--elastic", "--generate", "jobs=10"], "--types: with --elastic one GPU type"),
                                (["--elastic", "--generate", "jobs=10", "--types", "v100=4,k80=4"], "--types: with --elastic one GPU type"),
                                (["--elastic", "--generate", "jobs=10", "--types", "v100=4"], "--policy: no policy 'fifo'"),
                                (["--elastic", "--generate", "jobs=10", "--types", "v100=4", "--restart-cost", "5m"], "--restart-cost"),
                                (["--generate", "jobs=10", "--types", "v100=8"], "--policy: with --types: no policy 'fifo' of GPU types"),
                                (["--generate", "jobs=10", "--policy", "gavel-las"], "--types: gavel-las is about GPU types"),
                                (["--generate", "jobs=10", "--policy", "gavel-las", "--types", "v100=8"], "--mechanism synergy-rounds"),
                                (typed("gavel-las", "v100=12"), "--types: v100=12 are no whole servers with 8 GPUs"),
                                (typed("gavel-las", "a100=8"), "--types: no throughputs are known of the GPU type a100"),
                                ([*typed("gavel-las", "v100=8"), "--compat", "reference"], "--types: not with --compat reference"),
                                ([*typed("gavel-las", "v100=8"), "--cluster", "x"], "--types: not with --from-cluster or --cluster"),
                                ([*typed("gavel-las", "v100=8"), "--lease", "1h"], "--lease: not with --types"),
                                ([*typed("gavel-cost", "v100=8,k80=8"), "--prices", "v100=1"], "--prices: gavel-cost needs one for each"),
                                (["--compat", "gavel", "--generate", "jobs=1", "--types", "v100=4", "--type-profiles", "x"],
                                 "--type-profiles: not with --compat"),
                                (["--generate", "jobs=10", "--throughputs", "x"], "--throughputs: only with --types"),
                                (["--generate", "jobs=10", "--type-profiles", "x"], "--type-profiles: only with --types"),
                                (["--generate", "gpus=64,jobs=10", *typed("gavel-las", "v100=32,k80=32")[2:]], "runs on none of v100, k80"),
                                (["--generate", "jobs=10", "--memory", "much"], "--memory"),
                                (["--generate", "jobs=10", "--arrivals", "replay"], "only with --compat reference"),
                                (["--generate", "gpus=8,jobs=10", "--servers", "1", "--gpus", "4", "--cpus", "12"], "8 GPUs"),
                                ([], "--trace or --generate")):
            with self.subTest(arguments=arguments):
                done = simulate("--profiles", DATA / "profiles.json", *arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(text, done.stderr)

    def test_a_file_that_is_not_there_is_named(self):
        done = simulate("--trace", "nowhere.csv", "--profiles", DATA / "profiles.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nowhere.csv", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
