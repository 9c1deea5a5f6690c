"""Tests the callbacks of examples/synergy_progress.py. Calls them as the frameworks document it:
Lightning 2.6, Transformers 5.24 and Accelerate 1.15. The frameworks need a gigabyte of PyTorch, so
stand-ins take their names here."""

import math
import os
import pathlib
import stat
import sys
import tempfile
import types
import unittest
from unittest import mock

import synergy_progress


class FakeClock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Callback:
    """A stand-in for both frameworks' base class: hooks that do nothing."""
    on_train_start = on_train_batch_end = on_train_begin = on_step_end = on_train_end = lambda *_, **__: None


class GeneralTracker:
    """Checks what the constructor of Accelerate's class checks."""

    def __init__(self, _blank=False):
        if not _blank:
            for member in ("name", "requires_logging_directory", "tracker"):
                assert hasattr(self, member), member


def modules(**names):
    """Returns modules with these full names and members."""
    made = {}
    for name, members in names.items():
        parts = name.split("__")
        for end in range(1, len(parts) + 1):
            made.setdefault(".".join(parts[:end]), types.ModuleType(".".join(parts[:end])))
        vars(made[".".join(parts)]).update(members)
    return mock.patch.dict(sys.modules, made)


class ProgressTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "progress"
        self.clock = FakeClock()
        self.file = synergy_progress.ProgressFile(str(self.path), clock=self.clock)

    def read(self):
        return self.path.read_text(encoding="ascii").strip()

    def test_the_file_is_replaced_as_a_whole_and_readable_for_all(self):
        before = os.umask(0o077)
        self.addCleanup(os.umask, before)
        self.file.write(1, 10)
        with open(self.path, encoding="ascii") as old:
            self.clock.now += 1
            self.file.write(2, 10)
            self.assertEqual(old.read(), "1/10\n", "a reader never sees half of it")
        self.assertEqual(self.read(), "2/10")
        self.assertEqual(stat.S_IMODE(self.path.stat().st_mode), 0o644)
        self.assertEqual(os.listdir(self.path.parent), ["progress"])

    def test_a_fast_loop_writes_twice_a_second(self):
        for step in range(100):
            self.file.write(step)
            self.clock.now += 0.0625
            self.assertLessEqual(step - int(self.read()), 8)
        self.assertNotEqual(self.read(), "99")
        self.file.write(99, at_once=True)
        self.assertEqual(self.read(), "99")

    def test_an_unknown_total_is_left_out(self):
        for total in (None, 0, -1, math.inf, math.nan):
            self.file.write(5, total, at_once=True)
            self.assertEqual(self.read(), "5")

    def test_a_training_goes_on_without_the_file(self):
        with mock.patch.dict(os.environ):
            os.environ.pop("SYNERGY_PROGRESS_FILE", None)
            synergy_progress.ProgressFile().write(1)
            os.environ["SYNERGY_PROGRESS_FILE"] = "/nowhere/progress"
            synergy_progress.ProgressFile().write(1)
            os.environ["SYNERGY_PROGRESS_FILE"] = str(self.path)
            synergy_progress.ProgressFile().write(7)
        self.assertEqual(self.read(), "7")

    def check_lightning(self, package):
        trainer = types.SimpleNamespace(global_step=0, estimated_stepping_batches=4, local_rank=0)
        missing = {"lightning": None, "lightning.pytorch": None, "lightning.pytorch.callbacks": None}
        with mock.patch.dict(sys.modules, missing), modules(**{package: {"Callback": Callback}}):
            callback = synergy_progress.lightning_callback(self.file)
        self.assertIsInstance(callback, Callback)
        callback.on_train_start(trainer, None)
        self.assertEqual(self.read(), "0/4")
        for batch in range(8):  # two batches for each step of the optimizer
            trainer.global_step = (batch + 1) // 2
            self.clock.now += 1
            callback.on_train_batch_end(trainer, None, None, None, batch)
            self.assertEqual(self.read(), f"{trainer.global_step}/4")
        trainer.estimated_stepping_batches = math.inf
        callback.on_train_end(trainer, None)
        self.assertEqual(self.read(), "4")
        trainer.local_rank, trainer.global_step = 1, 9
        callback.on_train_end(trainer, None)
        self.assertEqual(self.read(), "4", "one process of the pod writes")

    def test_lightning(self):
        self.check_lightning("lightning__pytorch__callbacks")

    def test_lightning_by_its_older_name(self):
        self.check_lightning("pytorch_lightning__callbacks")

    def test_transformers(self):
        with modules(transformers={"TrainerCallback": Callback}):
            callback = synergy_progress.transformers_callback(self.file)
        state = types.SimpleNamespace(global_step=500, max_steps=510, is_local_process_zero=True)
        # the training has resumed from a checkpoint
        callback.on_train_begin("args", state, "control", model=None)
        self.assertEqual(self.read(), "500/510")
        for state.global_step in range(501, 511):
            self.clock.now += 0.125
            self.assertIsNone(callback.on_step_end("args", state, "control", model=None))
        self.assertNotEqual(self.read(), "510/510")
        callback.on_train_end("args", state, "control")
        self.assertEqual(self.read(), "510/510")
        state.is_local_process_zero, state.global_step = False, 1
        callback.on_train_end("args", state, "control")
        self.assertEqual(self.read(), "510/510")

    def test_accelerate(self):
        process = types.SimpleNamespace(is_local_main_process=True)
        with modules(accelerate={"PartialState": lambda: process},
                     accelerate__tracking={"GeneralTracker": GeneralTracker}):
            tracker = synergy_progress.accelerate_tracker(total=100, file=self.file)
        self.assertIsInstance(tracker, GeneralTracker)
        tracker.store_init_configuration({"lr": 0.1})
        tracker.log({"loss": 2.0})
        self.assertFalse(self.path.exists(), "without a step there is no progress")
        tracker.log({"loss": 2.0}, step=40)
        self.assertEqual(self.read(), "40/100")
        self.clock.now += 1
        process.is_local_main_process = False
        tracker.log({"loss": 2.0}, step=50)
        self.assertEqual(self.read(), "40/100")


if __name__ == "__main__":
    unittest.main()
