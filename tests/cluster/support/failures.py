"""Prints how long each cluster test takes. When a test fails, saves the cluster's state at that
moment, in a folder of its own in $SYNERGY_FAILURES, and prints a summary of it."""

import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

LINES = 300  # lines of a log
FEW, WIDTH = 12, 200  # lines of each part of a summary, and their characters
SECONDS = 30  # seconds for each query
# Seconds for a program of tests: less than CTest's limit, at which nothing could be saved.
LONGEST = 2200
TROUBLE = re.compile(r"level=(warn|error)|^[EF]\d{4}|msg=\"?(no longer )?leader")  # in lines of logs


def write(folder, name, make):
    """Writes the result of `make`, or the error that it raises: an error here must not hide the
    test's failure."""
    try:
        text = make()
    except Exception as problem:  # pylint: disable=broad-except
        text = f"could not be had: {problem}\n"
    (folder / name).write_text(text, encoding="utf-8")


def end_of(log):
    return "".join(log.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)[-LINES:])


def few(title, lines):
    return "".join(f"{line[:WIDTH]}\n" for line in [f"-- {title}", *lines[-FEW:]])


def of_pod(item):
    """Returns a line on a pod: what it waits for, and the annotations by which Synergy has a part
    in that."""
    status, metadata = item["status"], item["metadata"]
    reasons = [f"{each['reason']}: {each.get('message', '')}" for each in status.get("conditions", [])
               if each["status"] == "False" and each.get("reason")]
    reasons += [f"{kind}: {each['state'][kind].get('reason', '')}" for each in status.get("containerStatuses", [])
                for kind in ("waiting", "terminated") if kind in each.get("state", {})]
    ours = {name: text[:60] for name, text in metadata.get("annotations", {}).items() if name.startswith("synergy.io/")}
    deleted = " deleted" if "deletionTimestamp" in metadata else ""
    return (f"{metadata['namespace']}/{metadata['name']} {status.get('phase')}{deleted} on "
            f"{item['spec'].get('nodeName', 'no node')}; {'; '.join(reasons)} {ours or ''}")


def summary(cluster, events, logs):
    """Returns what is most likely to show the cause of a failure, in a few lines."""
    pods = sorted(cluster.get("pods")["items"], key=lambda item: item["status"].get("phase") != "Running")
    parts = [few("pods", [of_pod(item) for item in pods]), few("events", events.splitlines())]
    parts += [few(log.name, [line for line in end_of(log).splitlines() if TROUBLE.search(line)])
              for log in logs if re.match(r"synergy-|extender|kueue|kube-scheduler", log.name)]
    return "".join(part for part in parts if part.count("\n") > 1)


def keep(cluster, folder):
    """Saves events, objects, the ends of all logs, and what `kubectl synergy` explains about pods
    that do not run. Returns a summary."""
    folder.mkdir(parents=True, exist_ok=True)

    def asked(*command):
        done = subprocess.run(command, env=cluster.environment, text=True, capture_output=True, check=False,
                              timeout=SECONDS)
        return done.stdout + done.stderr
    kubectl = cluster.environment.get("SYNERGY_KUBECTL", "kubectl")
    synergy = str(pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy")

    def explained():
        # If the cluster has no API server, the line below raises; the caller records that as the
        # reason.
        waiting = [pod["metadata"]["name"]
                   for pod in cluster.get("pods")["items"] if pod["status"].get("phase") != "Running"]
        return "".join(f"== {name}\n{asked(synergy, 'explain', 'pod', name)}" for name in waiting[:10])
    write(folder, "events.txt", lambda: asked(kubectl, "get", "events", "-A", "--sort-by=.lastTimestamp"))
    write(folder, "nodes.txt", lambda: asked(kubectl, "describe", "nodes", "-l", "synergy.test/node!=simulated"))
    write(folder, "pods.yaml", lambda: asked(kubectl, "get", "pods", "-A", "-o", "yaml"))
    write(folder, "pods.txt", lambda: asked(kubectl, "get", "pods", "-A", "-o", "wide"))
    write(folder, "status.txt", lambda: cluster.script("status"))
    write(folder, "explained.txt", explained)
    logs = [*cluster.state.glob("logs/*.log"), *cluster.folder.glob("*.log")]
    for log in logs:
        write(folder, log.name, lambda log=log: end_of(log))
    events = (folder / "events.txt").read_text(encoding="utf-8")
    write(folder, "summary.txt", lambda: summary(cluster, events, logs))
    return (folder / "summary.txt").read_text(encoding="utf-8")


class Result(unittest.TextTestResult):
    """Saves the cluster's state before clean-ups change it."""

    started = 0.0  # the running test
    is_late = False  # the program takes longer than LONGEST

    def startTest(self, test):
        super().startTest(test)
        if Result.is_late:
            raise SystemExit(f"the tests of this file take more than {LONGEST} s")
        self.started = time.monotonic()

    def stopTest(self, test):
        self.stream.writeln(f"  {time.monotonic() - self.started:.1f} s")
        super().stopTest(test)

    def keep(self, test, error):
        if Result.is_late:
            self.stop()
        folder = os.environ.get("SYNERGY_FAILURES")
        cluster = getattr(test, "cluster", None) or getattr(getattr(test, "test_case", None), "cluster", None)
        if folder and cluster and error:
            name = re.sub(r"\W+", "-", test.id().removeprefix("__main__.")).strip("-")
            self.stream.writeln(keep(cluster, pathlib.Path(folder) / name))
            self.stream.writeln(f"the cluster's state: {folder}/{name}")

    def addError(self, test, err):
        super().addError(test, err)
        self.keep(test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.keep(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        self.keep(subtest, err)


class Runner(unittest.TextTestRunner):
    resultclass = Result


def give_up(*_):
    Result.is_late = True
    signal.alarm(60)  # if it happens while a failure is saved, which catches all errors
    raise RuntimeError(f"the tests of this file take more than {LONGEST} s; the traceback shows where they are")


def main(**options):
    """Runs the tests as unittest.main does, for tests that have a `cluster`. The test that runs
    after LONGEST fails, and is the last one."""
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(LONGEST)
    unittest.main(testRunner=Runner, verbosity=2, **options)
