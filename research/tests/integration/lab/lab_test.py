"""Tests `synergy-lab` from its users' view: figures, files, errors and exit codes."""

import csv
import hashlib
import io
import itertools
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
DATA = ROOT / "tests/data/synergy/reference"


def lab(*arguments):
    command = [str(pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy-lab"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def figures(family, *arguments):
    done = lab(family, "--profiles", DATA / "profiles.json", "--output", "json", *arguments)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def typed(policy, types):
    return ["--generate", "jobs=10", "--policy", policy, "--types", types, "--mechanism", "synergy-rounds"]


class LabTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_figures_are_the_recorded_ones_to_the_last_digit(self):
        """runs.json has the output of `synergy simulate` from before research had its own program,
        without wall and CPU times."""
        files = {"--jobs-csv": self.folder / "jobs.csv", "--timeline": self.folder / "timeline.csv"}
        for run in json.loads((pathlib.Path(__file__).parent / "runs.json").read_text(encoding="utf-8")):
            with self.subTest(arguments=run["arguments"]):
                done = lab(*run["arguments"], "--quiet", "--output", "csv", *itertools.chain(*files.items()))
                self.assertEqual(done.returncode, 0, done.stderr)
                figures_alone = "\n".join(line.rsplit(",", 2)[0] for line in done.stdout.splitlines())
                digest = hashlib.sha256(figures_alone.encode())
                for file in files.values():
                    digest.update(file.read_bytes())
                self.assertEqual(digest.hexdigest(), run["sha256"])

    def test_the_artifact_check_of_the_paper_gives_the_published_figure(self):
        run = figures("reference", "--trace", DATA / "single_6925job.csv", "--mechanism", "tune",
                      "--window", "4000:5000")
        self.assertEqual(run["mean_jct_hours"], 21.876600555555555)
        self.assertEqual(run["rounds"], 8459)

    def test_ours_beats_the_authors_tune_and_burstable_pods(self):
        trace = ["--trace", DATA / "dynamic_100job.csv", "--servers", "4"]
        reference = figures("reference", *trace, "--mechanism", "tune")
        spread, packed, ours = figures("rounds", *trace, "--mechanism", "burstable-spread,burstable-packed,synergy")
        self.assertLess(ours["mean_jct_hours"], 0.95 * reference["mean_jct_hours"])
        self.assertLess(ours["mean_jct_hours"], spread["mean_jct_hours"])
        self.assertLess(ours["mean_jct_hours"], packed["mean_jct_hours"])

    def test_live_profiles_cost_little(self):
        trace = ["--trace", DATA.parent / "static_100job.csv", "--servers", "4"]
        known, live, proportional = (figures("rounds", *trace, "--mechanism", *how)["mean_jct_hours"] for how in (
            ["synergy"], ["synergy", "--live-profiles"], ["proportional"]))
        self.assertNotEqual(live, known)
        self.assertLess(live, 1.03 * known)
        self.assertLess(live, 0.9 * proportional)

    def test_arrivals_outlast_idle_time_only_if_generated(self):
        saved = self.folder / "made.csv"
        reference = ["--mechanism", "tune"]
        made = figures("reference", "--generate", "rate=0.2/h,gpus=philly,jobs=100,seed=3", *reference, "--save", saved)
        self.assertEqual((made["jobs"], made["left_out"]), (100, 0))
        generated = figures("reference", "--trace", saved, *reference, "--arrivals", "generated")
        self.assertEqual(generated["mean_jct_hours"], made["mean_jct_hours"])
        replayed = figures("reference", "--trace", saved, *reference)
        self.assertLess(replayed["jobs"], 100)
        self.assertEqual(replayed["jobs"] + replayed["left_out"], 100)

    def test_jobs_that_no_figure_counts_are_warned_of(self):
        trace = self.folder / "gap.csv"
        trace.write_text("job_id,model,arrival_s,total_iterations,gpus\n0,alexnet,0,100,1\n1,alexnet,9999999,100,1\n",
                         encoding="utf-8")
        profiles = ["--profiles", DATA / "profiles.json"]
        reference = ["reference", "--trace", trace, *profiles, "--mechanism", "tune"]
        self.assertIn("1 of 2 jobs are left out", lab(*reference).stderr)
        for silent in ([*reference, "--arrivals", "generated"], [*reference, "--window", "0:1"],
                       ["rounds", "--trace", trace, *profiles]):
            with self.subTest(arguments=silent):
                self.assertEqual(lab(*silent).stderr, "")

    def test_jobs_timeline_and_plot_are_written(self):
        jobs, timeline, plot = (self.folder / name for name in ("jobs.csv", "timeline.csv", "plot.svg"))
        figures("rounds", "--trace", DATA / "dynamic_100job.csv", "--servers", "4", "--load", "0.5,1",
                "--mechanism", "synergy,tune", "--jobs-csv", jobs, "--timeline", timeline, "--plot", plot)
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
        done = lab("tiresias", "--cluster", "n2g4", "--schedule", "dlas-gpu-2", "--scheme", "count",
                        "--queue-limits", "325,1000", "--size-history", data / "yarn-gput1000.csv",
                        "--trace", data / "60_job.csv", "--jobs-csv", jobs)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = list(csv.DictReader(io.StringIO(jobs.read_text(encoding="utf-8"))))
        recorded = csv.DictReader(
            io.StringIO((data / "60_job.n2g4q325_1000.count.dlas-gpu-2.csv").read_text(encoding="utf-8")))
        self.assertEqual(len(rows), 60)
        for row, expected in zip(rows, recorded, strict=True):
            for column in ("job_id", "start_s", "finish_s"):
                self.assertEqual(float(row[column]), float(expected[column]))

    def test_tiresias_beats_fifo_on_its_authors_trace_by_what_they_measure(self):
        data = ROOT / "tests/data/tiresias"
        done = lab("tiresias", "--cluster", "n15g4", "--scheme", "yarn", "--trace", data / "t480_job.csv",
                        "--schedule", "fifo,dlas-gpu,dlas-gpu-8,shortest-gpu", "--output", "json")
        mean = [run["mean_jct_hours"] for run in json.loads(done.stdout)]
        for times, expected in zip(mean[1:], (3.40, 3.52, 3.73), strict=True):
            self.assertAlmostEqual(mean[0] / times, expected, places=2)

    def test_gavel_simulator_gives_its_authors_figures(self):
        data, jobs = ROOT / "tests/data/gavel/runs", self.folder / "jobs.csv"
        done = lab("gavel", "--types", "v100=4,p100=4,k80=4", "--policy", "fifo_perf",
                        "--trace", data / "cont_multi_80.trace", "--jobs-csv", jobs)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = list(csv.DictReader(io.StringIO(jobs.read_text(encoding="utf-8"))))
        recorded = csv.DictReader(io.StringIO((data / "cont_multi_80.jct.csv").read_text(encoding="utf-8")))
        for row, expected in zip(rows, recorded, strict=True):
            self.assertAlmostEqual(float(row["finish_s"]) - float(row["submit_s"]), float(expected["fifo_perf"]),
                                   delta=0.02)

    def test_recorded_solves_of_gavels_policies_solve_again(self):
        for policy in ("max_min_fairness_perf", "finish_time_fairness_perf"):
            saved, solves = self.folder / "made.trace", self.folder / "solves.json"
            cluster = ["--types", "v100=2,p100=2,k80=2", "--policy", policy, "--output", "json"]
            made = lab("gavel", "--generate", "rate=3/h,jobs=30,gpus=1x8:2x2,seed=5", *cluster, "--save", saved,
                       "--solves", solves)
            self.assertEqual(made.returncode, 0, made.stderr)
            again = lab("gavel", "--trace", saved, *cluster)
            self.assertAlmostEqual(json.loads(again.stdout)["mean_jct_hours"],
                                   json.loads(made.stdout)["mean_jct_hours"], 9)
            calls = json.loads(solves.read_text(encoding="utf-8"))["calls"]
            command = [str(pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy-lab"), "gavel", "solve",
                       "--policy", policy]
            solved = subprocess.run([*command, "--input", solves, "--output", "json"], capture_output=True, text=True,
                                    check=True)
            for asked, answer in zip(calls, json.loads(solved.stdout), strict=True):
                self.assertLess(abs(answer["objective"] / asked["objective"] - 1), 1e-5)

    def test_awareness_of_gpu_types_and_synergys_division_each_shorten_completion_times(self):
        runs = figures("rounds", "--generate", "rate=4/h,jobs=400", "--types", "v100=24,p100=24,k80=24",
                       "--policy", "gavel-las,gavel-las-agnostic", "--mechanism", "proportional,synergy-rounds")
        plain, divided, agnostic, agnostic_divided = (run["mean_jct_hours"] for run in runs)
        self.assertLess(plain, 0.9 * agnostic)
        self.assertLess(divided, 0.95 * plain)
        self.assertLess(divided, 0.9 * agnostic_divided)

    def test_on_one_gpu_type_fifo_is_as_without_types_but_for_what_becomes_free_within_rounds(self):
        trace = ["--generate", "rate=6/h,jobs=300", "--mechanism", "proportional,synergy-rounds"]
        with_types = figures("rounds", *trace, "--types", "v100=64", "--policy", "gavel-fifo")
        without = figures("rounds", *trace, "--servers", "8", "--policy", "fifo")
        for typed, plain in zip(with_types, without, strict=True):
            self.assertLess(typed["mean_jct_hours"], plain["mean_jct_hours"])
            # The difference is at most a round for the wait, and one for each of its starts.
            self.assertGreater(typed["mean_jct_hours"], plain["mean_jct_hours"] - 2 * 300 / 3600)
        # If all jobs arrive and end when rounds begin, nothing becomes free within a round.
        trace = self.folder / "whole_rounds.csv"
        rows = [f"{number},lstm,{number // 3 and number // 3 * 300 + 1},1000,1,{300 * (1 + number % 5)}"
                for number in range(60)]
        trace.write_text("\n".join(["job_id,model,arrival_s,total_iterations,gpus,duration_s_at_fair", *rows, ""]),
                         encoding="utf-8")
        run = ["--trace", trace, "--mechanism", "proportional", "--restart-cost", "0s"]
        typed = figures("rounds", *run, "--types", "v100=8", "--policy", "gavel-fifo")
        plain = figures("rounds", *run, "--servers", "1", "--policy", "fifo")
        self.assertEqual(typed["mean_jct_hours"], plain["mean_jct_hours"])
        self.assertGreater(plain["mean_wait_hours"], 0.5 * 300 / 3600)

    def test_profiles_of_a_gpu_type_precede_throughputs(self):
        profiles = self.folder / "types.yaml"
        entry = "- model: {}\n  gpuProduct: {}\n  points:\n  - {{cpu: 1, memory: 20G, throughput: {}}}\n"
        profiles.write_text("profiles:\n" + entry.format("lstm", "k80", 5) + entry.format("lstm", "v100", 5),
                            encoding="utf-8")
        trace = self.folder / "trace.csv"
        trace.write_text("job_id,model,arrival_s,total_iterations,gpus,iter_time_s_at_fair\n"
                         "0,lstm,0,36000,8,1\n1,lstm,0,36000,8,1\n", encoding="utf-8")
        run = ["--trace", trace, "--types", "v100=8,k80=8", "--policy", "gavel-fifo", "--mechanism", "synergy-rounds"]
        self.assertLess(figures("rounds", *run, "--type-profiles", profiles)["makespan_hours"], 10.1)
        self.assertGreater(figures("rounds", *run)["makespan_hours"], 15)

    def test_elastic_jobs_use_what_jobs_of_one_size_leave(self):
        runs = figures("rounds", "--elastic", "--types", "v100=64", "--round", "10m",
                       "--generate", "rate=2/h,jobs=200,gpus=philly,seed=1",
                       "--policy", "optimus,optimus-exact,srtf,equal")
        optimus, exact, srtf, equal = (run["mean_jct_hours"] for run in runs)
        self.assertLess(optimus, 0.75 * srtf)
        self.assertLess(equal, 0.75 * srtf)
        # Fits made during the run are nearly as good as exact numbers.
        self.assertLess(abs(optimus / exact - 1), 0.05)

    def test_first_iterations_come_sooner_where_new_jobs_go_first(self):
        runs = figures("rounds", "--trace", DATA / "dynamic_100job.csv", "--servers", "4",
                       "--policy", "fifo,2d-las,2d-gittins", "--mechanism", "synergy-rounds")
        first = [run["mean_first_100_iterations_hours"] for run in runs]
        self.assertGreater(first[0], 5 * first[1])
        self.assertGreater(first[0], 5 * first[2])

    def test_errors_name_the_place_and_the_cure(self):
        trace = self.folder / "bad.csv"
        trace.write_text("job_id,model,arrival_s,total_iterations,gpus\n0,alexnet,0,100,1\n1,alexnet,x,100,1\n",
                         encoding="utf-8")
        done = lab("rounds", "--trace", trace, "--profiles", DATA / "profiles.json")
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{trace}:3:", done.stderr)
        for arguments, text in ((["rounds", "--generate", "rate=often"], "rate"),
                                (["rounds", "--generate", "jobs=10", "--mechanism", "luck"],
                                 "one of synergy, synergy-strict, proportional"),
                                (["rounds", "--generate", "jobs=10", "--policy", "luck", "--mechanism", "tune"],
                                 "one of fifo"),
                                (["rounds", "--generate", "jobs=10", "--policy", "srtf"], "--mechanism synergy-rounds"),
                                (["rounds", "--generate", "jobs=10", "--latency", "bind=soon"], "--latency"),
                                (["rounds", "--generate", "jobs=10", "--queue-limits", "7200,3250"], "--queue-limits"),
                                (["rounds", "--generate", "jobs=10", "--lease", "soon"], "--lease"),
                                (["tiresias", "--cluster", "big", "--trace", trace], "--cluster"),
                                (["tiresias", "--cluster", "n1g1", "--trace", trace], "num_gpu"),
                                (["gavel", "--generate", "jobs=10"], "--types: set GPU types and their numbers"),
                                (["gavel", "--generate", "jobs=10", "--types", "v100=x"], "--types: \"v100=x\""),
                                (["gavel", "--generate", "jobs=10", "--types", "a100=4"],
                                  "known types: k80, p100, v100"),
                                (["gavel", "--generate", "gpus=3", "--types", "v100=4"],
                                 "no known model runs on 3 GPUs"),
                                (["gavel", "--trace", trace, "--types", "v100=4"],
                                 f"{trace}:1: 1 fields instead of 10"),
                                (["gavel", "--generate", "jobs=1", "--types", "v100=4", "--policy", "luck"],
                                 "unknown policy 'luck'"),
                                (["rounds", "--elastic", "--generate", "jobs=10"],
                                 "--types: with --elastic, set one GPU type"),
                                (["rounds", "--elastic", "--generate", "jobs=10", "--types", "v100=4,k80=4"],
                                 "--types: with --elastic, set one GPU type"),
                                (["rounds", "--elastic", "--generate", "jobs=10", "--types", "v100=4"],
                                 "--policy: unknown policy 'fifo'"),
                                (["rounds", "--elastic", "--generate", "jobs=10", "--types", "v100=4",
                                  "--restart-cost", "5m"], "--restart-cost"),
                                (["rounds", "--generate", "jobs=10", "--types", "v100=8"],
                                 "--policy: with --types: unknown policy 'fifo' of GPU types"),
                                (["rounds", "--generate", "jobs=10", "--policy", "gavel-las"],
                                 "--types: gavel-las needs GPU types"),
                                (["rounds", "--generate", "jobs=10", "--policy", "gavel-las", "--types", "v100=8"],
                                 "--mechanism synergy-rounds"),
                                (["rounds", *typed("gavel-las", "v100=12")],
                                 "--types: v100=12 is not a whole number of servers with 8 GPUs"),
                                (["rounds", *typed("gavel-las", "a100=8")], "--types: unknown GPU type a100"),
                                (["reference", *typed("gavel-las", "v100=8")], "--types: not of synergy-lab reference"),
                                (["rounds", *typed("gavel-las", "v100=8"), "--cluster", "x"],
                                 "--types: not with --from-cluster or --cluster"),
                                (["rounds", *typed("gavel-las", "v100=8"), "--lease", "1h"],
                                 "--lease: not with --types"),
                                (["rounds", *typed("gavel-cost", "v100=8,k80=8"), "--prices", "v100=1"],
                                 "--prices: gavel-cost needs a price for each"),
                                (["gavel", "--generate", "jobs=1", "--types", "v100=4", "--type-profiles", "x"],
                                 "--type-profiles: only in our rounds"),
                                (["rounds", "--generate", "jobs=10", "--throughputs", "x"],
                                 "--throughputs: only with --types"),
                                (["rounds", "--generate", "jobs=10", "--type-profiles", "x"],
                                 "--type-profiles: only with --types"),
                                (["rounds", "--generate", "gpus=64,jobs=10", *typed("gavel-las", "v100=32,k80=32")[2:]],
                                 "runs on none of v100, k80"),
                                (["rounds", "--generate", "jobs=10", "--memory", "much"], "--memory"),
                                (["rounds", "--generate", "jobs=10", "--arrivals", "replay"],
                                 "only for synergy-lab reference"),
                                (["rounds", "--generate", "gpus=8,jobs=10", "--servers", "1", "--gpus", "4",
                                  "--cpus", "12"], "8 GPUs"),
                                (["rounds"], "--trace or --generate")):
            with self.subTest(arguments=arguments):
                family, *rest = arguments
                done = lab(family, "--profiles", DATA / "profiles.json", *rest)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
