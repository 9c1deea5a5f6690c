#!/usr/bin/env python3
"""Shows what moves of running jobs bring (docs/internals/sharing.md): a made load with jobs of 1 to 8 GPUs
on 16 servers of 8 GPUs, which leaves fragments, without moves and with them. Prints the mean over
the seeds for each load: completion times, waits of all jobs and of those that need a whole server,
moves, and the GPU hours that they cost.

usage: moves.py [--synergy build/release/bin/synergy] [--seeds 1,2,3] [--rates 14,16] [--restart-cost 1m]
"""

import argparse
import csv
import json
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
SERVERS = 16
GPUS = 8
MODES = {
    "without moves": (),
    "moves after 30 min": ("--with", "moves=after:30m"),
    "moves after 10 min": ("--with", "moves"),
    "whole nodes first": ("--with", "whole-nodes=first"),
    "whole nodes first, moves": ("--with", "whole-nodes=first", "--with", "moves"),
}
FIGURES = ("jct", "wait", "large_jct", "large_wait", "large_p95_wait", "moves", "in_vain", "lost")


def simulate(options, rate, seed, extra):
    with tempfile.TemporaryDirectory() as folder:
        jobs = pathlib.Path(folder) / "jobs.csv"
        command = [options.synergy, "simulate",
                   "--generate", f"rate={rate}/h,gpus=1x40:2x25:4x20:8x15,jobs={options.jobs},seed={seed}",
                   "--profiles", ROOT / "tests/data/synergy/reference/profiles.json",
                   "--servers", SERVERS, "--gpus", GPUS, "--restart-cost", options.restart_cost,
                   *extra, "--jobs-csv", jobs, "--output", "json", "--quiet"]
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        run = json.loads(done.stdout)
        with open(jobs, encoding="utf-8") as file:
            large = [row for row in csv.DictReader(file) if int(row["gpus"]) == GPUS]
    waits = sorted((float(row["start_s"]) - float(row["submit_s"])) / 3600 for row in large)
    return {
        "jct": run["mean_jct_hours"],
        "wait": run["mean_wait_hours"],
        "large_jct": statistics.mean((float(row["finish_s"]) - float(row["submit_s"])) / 3600 for row in large),
        "large_wait": statistics.mean(waits),
        "large_p95_wait": waits[int(0.95 * len(waits))],
        "moves": run.get("moves", 0),
        "in_vain": run.get("moves_in_vain", 0),
        "lost": run.get("moves_lost_gpu_hours", 0),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--synergy", default=ROOT / "build/release/bin/synergy")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--rates", default="14,16", help="jobs an hour")
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--restart-cost", default="1m")
    options = parser.parse_args()
    print(f"{'rate':>5} {'':<25} {'mean h':>7} {'wait h':>7} {'8 GPUs h':>8} {'wait h':>7} {'p95 wait':>8}"
          f" {'moves':>6} {'in vain':>7} {'lost GPU h':>10}")
    for rate in options.rates.split(","):
        for name, extra in MODES.items():
            runs = [simulate(options, rate, seed, extra) for seed in options.seeds.split(",")]
            mean = {figure: statistics.mean(run[figure] for run in runs) for figure in FIGURES}
            print(f"{rate:>5} {name:<25} {mean['jct']:>7.3f} {mean['wait']:>7.3f} {mean['large_jct']:>8.3f}"
                  f" {mean['large_wait']:>7.3f} {mean['large_p95_wait']:>8.3f} {mean['moves']:>6.4g}"
                  f" {mean['in_vain']:>7.3g} {mean['lost']:>10.3g}", flush=True)


if __name__ == "__main__":
    main()
