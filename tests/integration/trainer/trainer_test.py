"""Tests that the trainer (tests/cluster/support/trainer) is as fast as its CPU, its GPU and its
cache allow. Compares ratios, never times."""

import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.request

import limits
import measure

TRAINER = os.environ["SYNERGY_TRAINER"]
MIB = 1 << 20


def run(*flags):
    return subprocess.run([TRAINER, *flags], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


class TrainerProgramTest(unittest.TestCase):
    def test_errors_name_the_flag(self):
        for flags, expected in ((["--nonsense"], "--nonsense"), (["--workers", "many"], "workers"),
                                (["--gpu-step", "-1"], "gpu-step"), (["--cache", "tape"], "cache")):
            done = run(*flags)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(expected, done.stdout)

    def test_serves_its_metrics_and_ends_on_sigterm(self):
        with subprocess.Popen([TRAINER, "--port", "0", "--address", "127.0.0.1", "--gpu-step", "1",
                               "--cpu-per-iteration", "0"],
                              stdout=subprocess.PIPE, text=True) as process:
            port = int(re.fullmatch(r"port=(\d+)\n", process.stdout.readline()).group(1))
            self.assertRegex(process.stdout.readline(), r"^time=\d+\.\d{3} iterations=\d+ per_second=[\d.]+ "
                             r"workers=\d+ missed=0.000 touched=\d+\n$")
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
                text = answer.read().decode()
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=10), 0)
        self.assertGreater(float(re.search(r"^synergy_trainer_iterations_total (.*)$", text, re.M).group(1)), 0)
        self.assertGreater(float(re.search(r"^synergy_trainer_iterations_per_second (.*)$", text, re.M).group(1)), 0)

    def begin(self, file, *flags, step=5):
        return subprocess.Popen([TRAINER, "--checkpoint-file", str(file), "--workers", "1", "--cpu-per-iteration", "0",
                                 "--gpu-step", str(step), *flags], stdout=subprocess.PIPE, text=True)

    def await_line(self, process, pattern):
        for line in process.stdout:
            if found := re.search(pattern, line):
                return int(found.group(1))
        raise AssertionError(f"it ended without {pattern}")

    def test_goes_on_where_it_was_at_sigterm_and_ends_when_all_is_done(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "checkpoint"
            with self.begin(file, "--iterations", "500") as process:
                self.assertGreater(self.await_line(process, r"^time=.* iterations=(\d+) "), 0)
                process.send_signal(signal.SIGTERM)
                saved = self.await_line(process, r"^saving checkpoint at iteration (\d+) to /")
                self.assertEqual(process.wait(timeout=10), 143, "its work is not done")
            self.assertIn(saved, range(1, 500))
            # This line is torn: it was not written to its end.
            with open(file, "a", encoding="utf-8") as torn:
                torn.write("time=1.000 saved=7")
            with self.begin(file, "--iterations", "500") as process:
                self.assertEqual(self.await_line(process, r"^loaded checkpoint from /.* at iteration (\d+)$"), saved)
                process.kill()
            with self.begin(file, "--iterations", "500") as process:
                self.assertEqual(self.await_line(process, r"^loaded checkpoint from /.* at iteration (\d+)$"), saved)
                self.assertEqual(self.await_line(process, r"^saving checkpoint at iteration (\d+) to /"), 500)
                self.assertEqual(process.wait(timeout=30), 0)
            # Finished work is not done again.
            with self.begin(file, "--iterations", "500", step=60000) as process:
                self.assertEqual(process.wait(timeout=30), 0)

    def test_killed_it_goes_on_from_the_last_of_its_checkpoints(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "checkpoint"
            with self.begin(file, "--checkpoint-every", "0.2") as process:
                saved = [self.await_line(process, r"^saving checkpoint at iteration (\d+) to /") for _ in range(2)]
                process.kill()
                saved += [int(count) for count in re.findall(r"^saving checkpoint at iteration (\d+) to /",
                                                             process.stdout.read(), re.M)]
            self.assertEqual(saved, sorted(set(saved)))
            with self.begin(file) as process:
                self.assertEqual(self.await_line(process, r"^loaded checkpoint from /.* at iteration (\d+)$"),
                                 saved[-1])
                process.terminate()
                self.assertEqual(process.wait(timeout=10), 0)


@unittest.skipUnless(os.access("/sys/fs/cgroup", os.W_OK) and os.geteuid() == 0, "control groups need root")
class TrainerSpeedTest(unittest.TestCase):
    def speed(self, *flags, cpu=None, memory=None, seconds=1.5, warm_up=0.5):
        return measure.measure(TRAINER, list(flags), cpu, memory, seconds, warm_up)

    def test_a_sensitive_one_gets_faster_with_more_cpu(self):
        flags = ["--cpu-per-iteration", "10", "--gpu-step", "5"]
        self.assertGreater(self.speed(*flags, cpu=400) / self.speed(*flags, cpu=100), 2.5)

    def test_an_insensitive_one_does_not(self):
        flags = ["--cpu-per-iteration", "1", "--gpu-step", "50"]
        ratio = self.speed(*flags, cpu=400) / self.speed(*flags, cpu=100)
        self.assertLess(ratio, 1.3)
        self.assertGreater(ratio, 0.7)

    def test_a_quota_of_more_than_it_uses_stalls_one_that_launches_each_step(self):
        # The trainer uses a sixth of a core, in pieces that are longer than a fifth's share of each
        # 100 ms.
        flags = ["--cpu-per-iteration", "0", "--serial", "40", "--gpu-step", "200", "--synchronous"]
        throttled = {}
        for cpu in (800, 200):
            with limits.Limits(cpu=cpu) as group:
                group.start([TRAINER, *flags, "--seconds", "4", "--warm-up", "0"],
                            stdout=subprocess.DEVNULL).wait(timeout=60)
                throttled[cpu] = group.throttled()
        # The kernel counts throttled periods, so other load does not matter. With the smaller quota
        # each step is throttled.
        self.assertLessEqual(throttled[800], 1)
        self.assertGreaterEqual(throttled[200], 8)

    def test_it_follows_a_quota_that_changes_while_it_runs(self):
        with limits.Limits(cpu=100) as group:
            with group.start([TRAINER, "--cpu-per-iteration", "10", "--gpu-step", "5"], stdout=subprocess.PIPE,
                             text=True) as process:
                per_second = [self.next_speed(process) for _ in range(2)][-1]
                group.set_cpu(400)
                self.next_speed(process)
                self.assertGreater(self.next_speed(process) / per_second, 2.5)
                process.terminate()

    def next_speed(self, process):
        return float(re.search(r"per_second=([\d.]+)", process.stdout.readline()).group(1))

    def test_a_cache_that_holds_the_data_set_makes_it_faster(self):
        flags = ["--cpu-per-iteration", "0.1", "--gpu-step", "1", "--data-set-size", "64Mi",
                 "--read-per-iteration", "1Mi", "--storage-bandwidth", "64Mi"]
        small, large = (self.speed(*flags, memory=memory * MIB, warm_up=2.5) for memory in (24, 128))
        self.assertGreater(large / small, 1.5)

    def test_an_anonymous_cache_is_memory_that_cannot_be_taken_back(self):
        with tempfile.TemporaryDirectory() as folder, limits.Limits(memory=128 * MIB) as group:
            command = [TRAINER, "--data-file", f"{folder}/set", "--data-set-size", "48Mi", "--cache", "anonymous",
                       "--storage-bandwidth", "1Gi", "--cpu-per-iteration", "0", "--gpu-step", "1", "--seconds", "100"]
            with group.start(command, stdout=subprocess.DEVNULL) as process:
                deadline = time.monotonic() + 30
                while self.anonymous(group) < 40 * MIB:
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.05)
                process.terminate()

    def anonymous(self, group):
        stat = (group.memory_folder / "memory.stat").read_text(encoding="utf-8")
        return int(re.search(r"^(?:total_rss|anon) (\d+)$", stat, re.M).group(1))


if __name__ == "__main__":
    unittest.main(verbosity=2)
