"""A control group of this machine with a CPU quota and a memory limit, for a trainer that runs
outside any cluster."""

import os
import pathlib
import re
import subprocess
import time

ROOT = pathlib.Path("/sys/fs/cgroup")
PERIOD = 100_000  # microseconds, as container runtimes set it


def is_v2():
    return (ROOT / "cgroup.controllers").exists()


class Limits:
    """with Limits(cpu=250, memory=64 << 20) as limits: limits.start([...])"""

    def __init__(self, cpu=None, memory=None):
        """`cpu` is in thousandths of a core, `memory` in bytes; None means no limit."""
        name = f"synergy-trainer-{os.getpid()}-{time.monotonic_ns()}"
        if is_v2():
            (ROOT / "cgroup.subtree_control").write_text("+cpu +memory", encoding="utf-8")
            self.cpu_folder = self.memory_folder = ROOT / name
        else:
            self.cpu_folder, self.memory_folder = ROOT / "cpu" / name, ROOT / "memory" / name
        self.folders = sorted({self.cpu_folder, self.memory_folder})
        for folder in self.folders:
            folder.mkdir()
        self.put_before_other_groups()
        self.set_cpu(cpu)
        self.set_memory(memory)

    def put_before_other_groups(self):
        """Gives the group the kernel's largest weight, so that only its own quota limits its speed,
        not other processes of this machine."""
        file, largest = ("cpu.weight", "10000") if is_v2() else ("cpu.shares", "262144")
        (self.cpu_folder / file).write_text(largest, encoding="utf-8")

    def set_cpu(self, cpu):
        quota = None if cpu is None else cpu * PERIOD // 1000
        if is_v2():
            (self.cpu_folder / "cpu.max").write_text(f"{'max' if quota is None else quota} {PERIOD}", encoding="utf-8")
        else:
            (self.cpu_folder / "cpu.cfs_quota_us").write_text(str(-1 if quota is None else quota), encoding="utf-8")

    def set_memory(self, memory):
        file, unlimited = ("memory.max", "max") if is_v2() else ("memory.limit_in_bytes", "-1")
        (self.memory_folder / file).write_text(unlimited if memory is None else str(memory), encoding="utf-8")

    def throttled(self):
        """Returns the number of periods in which the quota was used up."""
        return int(re.search(r"^nr_throttled (\d+)$", (self.cpu_folder / "cpu.stat").read_text(encoding="utf-8"),
                             re.M).group(1))

    def start(self, command, **options):
        """Starts the command as a process that is in the group from its first instruction on."""

        def enter():
            for folder in self.folders:
                (folder / "cgroup.procs").write_text(str(os.getpid()), encoding="utf-8")

        return subprocess.Popen(command, preexec_fn=enter, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # The kernel releases a group some time after the group's last process has ended.
        for folder in self.folders:
            for _ in range(100):
                try:
                    folder.rmdir()
                    break
                except OSError:
                    time.sleep(0.05)
