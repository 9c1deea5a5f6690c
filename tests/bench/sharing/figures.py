#!/usr/bin/env python3
"""Produces the figures of shared GPUs (docs/internals/sharing.md): 600 jobs of Gavel's models with
one GPU each, on 24 V100, in order and shared, at a load above what the GPUs can do. Writes the
traces, runs the simulator and prints a line for each seed, and the means for each load. "of known"
is the work done as a fraction of the work in a run that knows the speeds of all pairs.

usage: figures.py [--synergy build/release/bin/synergy] [--seeds 1,2,3] [--loads 1.3,1.7]
"""

import argparse
import json
import math
import pathlib
import random
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
DATA = ROOT / "tests/data/gavel"
GPUS = 24
JOBS = 600
MEDIAN = 20 * 60  # seconds
SIGMA = 1.2
MODES = {
    "in order": "height:1",
    "slices": "height:2",
    "slices, packs": "height:2,pack",
    "packs known": "height:2,pack,known-pairs",
}
FIGURES = ("mean_first_100_iterations_hours", "mean_jct_hours", "work_per_gpu_second", "of_known", "packs_tried",
           "packs_kept", "packs_undone", "packs_misjudged")


def iteration_times():
    with open(DATA / "flat_profiles.json", encoding="utf-8") as file:
        models = json.load(file)["2"]
    return {model: facts["1"]["iter_time_s"] for model, facts in models.items()}


def write_trace(path, load, seed):
    """Writes jobs with exponential gaps, lognormal durations and models that are equally likely."""
    drawn = random.Random(seed)
    times = iteration_times()
    mean = MEDIAN * math.exp(SIGMA * SIGMA / 2)
    arrival = 0.0
    with open(path, "w", encoding="utf-8") as file:
        file.write("job_id,model,arrival_s,total_iterations,gpus,duration_s_at_fair\n")
        for job in range(JOBS):
            arrival += -math.log(1 - drawn.random()) * mean / GPUS / load
            lasts = MEDIAN * math.exp(SIGMA * drawn.gauss(0, 1))
            model = drawn.choice(sorted(times))
            iterations = max(round(lasts / times[model]), 1)
            file.write(f"{job},{model},{arrival:.3f},{iterations},1,{lasts:.3f}\n")


def simulate(synergy, trace, servers, gpus, sharing):
    command = [synergy, "simulate", "--trace", trace, "--profiles", DATA / "flat_profiles.json",
               "--gpus", str(gpus), "--cpus", str(2 * gpus), "--memory", f"{16 * gpus}GB",
               "--with", f"gpu-types=v100:{servers}",
               "--with", f"sharing={sharing},pairs:{DATA / 'pair_speeds.csv'}",
               "--output", "json", "--quiet"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def show(load, seed, name, run):
    print(f"{load:>4} {seed:>4} {name:<14} {run['mean_first_100_iterations_hours']:>11.4f}"
          f" {run['mean_jct_hours']:>7.3f} {run['work_per_gpu_second']:>6.3f} {run['of_known']:>8.3f}"
          f" {run['packs_tried']:>6.4g} {run['packs_kept']:>6.4g} {run['packs_undone']:>6.4g}"
          f" {run['packs_misjudged']:>9.3g}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--synergy", default=ROOT / "build/release/bin/synergy")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--loads", default="1.3,1.7")
    parser.add_argument("--gpus", type=int, default=1, help="of a server")
    options = parser.parse_args()
    print(f"{'load':>4} {'seed':>4} {'':<14} {'first 100 h':>11} {'mean h':>7} {'work':>6} {'of known':>8}"
          f" {'tried':>6} {'kept':>6} {'undone':>6} {'misjudged':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for load in options.loads.split(","):
            of_load = []
            for seed in options.seeds.split(","):
                trace = pathlib.Path(folder) / "load.csv"
                write_trace(trace, float(load), int(seed))
                runs = {name: simulate(options.synergy, trace, GPUS // options.gpus, options.gpus, sharing)
                        for name, sharing in MODES.items()}
                for name, run in runs.items():
                    run["of_known"] = run["work_per_gpu_second"] / runs["packs known"]["work_per_gpu_second"]
                    show(load, seed, name, run)
                of_load.append(runs)
            for name in MODES:
                show(load, "mean", name, {figure: statistics.mean(runs[name][figure] for runs in of_load)
                                          for figure in FIGURES})


if __name__ == "__main__":
    main()
