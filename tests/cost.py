"""Runs a test and prints its cost as the last line: `cost: 12.3 s, 4.56 s of CPU`. Exits with the
test's status.

  cost.py [--shared FOLDER] COMMAND...

The CPU time is that of the command and of all processes that it has started, including daemons that
have ended by then. For a test on a shared cluster, with its state in FOLDER, it includes the CPU
time of the cluster's processes meanwhile.
"""

import ctypes
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

SET_PARENT_DEATH_SIGNAL, SET_CHILD_SUBREAPER = 1, 36  # options of prctl(2)
LIBC = ctypes.CDLL(None)
TICK = os.sysconf("SC_CLK_TCK")


def fields(process):
    """Returns the fields of /proc/N/stat that follow the program's name: state, parent, ..."""
    return pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8",
                                                           errors="replace").rpartition(")")[2].split()


def used_by(folder):
    """Returns the CPU seconds so far of a cluster's components, of their descendants, and of
    descendants that have ended and were waited for."""
    roots = set()
    for record in folder.glob("cluster/pids/*"):
        words = record.read_text(encoding="utf-8").split()
        if words and words[0].isdigit():
            roots.add(int(words[0]))
    found = {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            found[int(process)] = fields(process)
        except OSError:
            continue  # the process has ended

    def belongs(process):
        while process in found and process not in roots:
            process = int(found[process][1])
        return process in roots
    return sum(int(ticks) for process, own in found.items() if belongs(process) for ticks in own[11:15]) / TICK


def run(command):
    """Runs the command; returns its exit status. Waits for orphans that have ended, which adds
    their CPU time to ours."""
    LIBC.prctl(SET_CHILD_SUBREAPER, 1)
    with subprocess.Popen(command, preexec_fn=lambda: LIBC.prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)) as test:
        signal.signal(signal.SIGTERM, lambda *_: test.terminate())
        while (ended := os.waitpid(-1, 0))[0] != test.pid:
            pass
        test.returncode = os.waitstatus_to_exitcode(ended[1])
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
    return test.returncode if test.returncode >= 0 else 128 - test.returncode


def main(arguments):
    shared = None
    if arguments[:1] == ["--shared"]:
        shared, arguments = pathlib.Path(arguments[1]), arguments[2:]
    started, before = time.monotonic(), used_by(shared) if shared else 0.0
    status = run(arguments)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = children.ru_utime + children.ru_stime + (max(0.0, used_by(shared) - before) if shared else 0.0)
    print(f"cost: {time.monotonic() - started:.1f} s, {cpu:.2f} s of CPU", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
