#!/usr/bin/env python3
"""Measures a trainer's throughput at several CPU and memory limits and writes it down as a
TrainingProfile.

usage: measure.py [OPTIONS] -- TRAINER'S FLAGS

  measure.py --name sensitive --cpus 100m,200m,400m -- --cpu-per-iteration 10 --gpu-step 25
  measure.py --name cached --cpus 200m --memories 32Mi,64Mi,128Mi --warm-up 4 --
             --data-set-size 96Mi --storage-bandwidth 40M

Makes one run after the other in control groups of this machine, as root. Its CPUs should have
nothing else to do. With a data set, the warm-up has to last until the cache is full: at least the
data set's size divided by the storage's bandwidth.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import limits

UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}


def milli_cpu(text):
    return int(text[:-1]) if text.endswith("m") else round(float(text) * 1000)


def size(text):
    number, unit = re.fullmatch(r"(\d+)([A-Za-z]*)", text).groups()
    return int(number) * UNITS[unit]


def measure(trainer, flags, cpu, memory, seconds, warm_up):
    """Returns iterations per second."""
    # Each trainer has its own data set file: no other process may have loaded it or be charged for
    # its pages.
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder, limits.Limits(cpu, memory) as group:
        command = [trainer, "--data-file", f"{folder}/set", "--seconds", str(seconds), "--warm-up", str(warm_up),
                   *flags]
        with group.start(command, stdout=subprocess.PIPE, text=True) as process:
            output = process.communicate()[0]
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(command)} ended with {process.returncode} at {cpu} milli-CPU, {memory} bytes")
    return float(output.rsplit("throughput=", 1)[1])


def manifest(name, gpu_product, points):
    """Returns a manifest with these points, each (cpu, memory, throughput), with amounts as
    text."""
    lines = ["apiVersion: synergy.io/v1alpha1", "kind: TrainingProfile", "metadata:", f"  name: {name}", "spec:"]
    if gpu_product:
        lines.append(f"  gpuProduct: {gpu_product}")
    lines += ["  gpus: 1", "  points:"]
    lines += [f"  - {{cpu: {cpu}, memory: {memory}, throughput: {throughput:.2f}}}"
              for cpu, memory, throughput in points]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = pathlib.Path(__file__).resolve().parents[4]
    parser.add_argument("--trainer", default=str(root / "build/release/tests/trainer"))
    parser.add_argument("--name", required=True, help="name of the profile")
    parser.add_argument("--gpu-product", help="GPU product, as in the node label nvidia.com/gpu.product")
    parser.add_argument("--cpus", default="100m,200m,400m,800m", help="CPU limits (%(default)s)")
    parser.add_argument("--memories", default="64Mi", help="memory limits (%(default)s)")
    parser.add_argument("--seconds", type=float, default=4, help="length of each measurement (%(default)s)")
    parser.add_argument("--warm-up", type=float, default=1, help="seconds before each measurement (%(default)s)")
    parser.add_argument("flags", nargs="*", help="flags of the trainer, after --")
    arguments = parser.parse_args()
    points = []
    for memory in arguments.memories.split(","):
        for cpu in arguments.cpus.split(","):
            throughput = measure(arguments.trainer, arguments.flags, milli_cpu(cpu), size(memory), arguments.seconds,
                                 arguments.warm_up)
            points.append((cpu, memory, throughput))
            print(f"{cpu} {memory}: {throughput:.2f} iterations per second", file=sys.stderr)
    sys.stdout.write(manifest(arguments.name, arguments.gpu_product, points))


if __name__ == "__main__":
    main()
