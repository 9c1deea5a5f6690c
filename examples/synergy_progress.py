"""Reports a training's progress to Synergy through a file (docs/train.md, "Make progress visible").

    Trainer(callbacks=[synergy_progress.lightning_callback()])             # PyTorch Lightning
    Trainer(..., callbacks=[synergy_progress.transformers_callback()])     # Hugging Face
    Accelerator(log_with=synergy_progress.accelerate_tracker(total=1000))  # then accelerator.log(values, step=step)
    synergy_progress.ProgressFile().write(step, total)                     # any loop; one process of the pod

Outside a pod with the annotation synergy.io/progress-file, this writes nothing. A failure to write
never ends a training.
"""

import contextlib
import os
import time


class ProgressFile:
    """Replaces the file at most every half second. `path`: by default the one that Synergy's
    webhook has set."""

    def __init__(self, path=None, interval=0.5, clock=time.monotonic):
        self.path = path or os.environ.get("SYNERGY_PROGRESS_FILE")
        self.interval, self.clock, self.next = interval, clock, None

    def write(self, iteration, total=None, at_once=False):
        now = self.clock()
        if not self.path or (self.next is not None and now < self.next and not at_once):
            return
        self.next = now + self.interval
        text = f"{int(iteration)}/{int(total)}\n" if total and 0 < total < 1e15 else f"{int(iteration)}\n"
        draft = f"{self.path}.{os.getpid()}"
        with contextlib.suppress(OSError):
            with open(draft, "w", encoding="ascii") as file:
                os.fchmod(file.fileno(), 0o644)  # the node agent may not read private files
                file.write(text)
            os.replace(draft, self.path)


def lightning_callback(file=None):
    try:
        from lightning.pytorch.callbacks import Callback
    except ImportError:
        from pytorch_lightning.callbacks import Callback

    class SynergyProgress(Callback):
        def report(self, trainer, at_once):
            if trainer.local_rank == 0:
                out.write(trainer.global_step, trainer.estimated_stepping_batches, at_once)

        def on_train_start(self, trainer, pl_module):
            self.report(trainer, True)

        def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
            self.report(trainer, False)

        def on_train_end(self, trainer, pl_module):
            self.report(trainer, True)

    out = file or ProgressFile()
    return SynergyProgress()


def transformers_callback(file=None):
    from transformers import TrainerCallback

    class SynergyProgress(TrainerCallback):
        def report(self, state, at_once):
            if state.is_local_process_zero:
                out.write(state.global_step, state.max_steps, at_once)

        def on_train_begin(self, args, state, control, **kwargs):
            self.report(state, True)

        def on_step_end(self, args, state, control, **kwargs):
            self.report(state, False)

        def on_train_end(self, args, state, control, **kwargs):
            self.report(state, True)

    out = file or ProgressFile()
    return SynergyProgress()


def accelerate_tracker(total=None, file=None):
    from accelerate import PartialState
    from accelerate.tracking import GeneralTracker

    class SynergyProgress(GeneralTracker):
        name, requires_logging_directory, main_process_only = "synergy", False, False

        @property
        def tracker(self):
            return out

        def store_init_configuration(self, values):
            pass

        def log(self, values, step=None, **kwargs):
            if step is not None and PartialState().is_local_main_process:
                out.write(step, total)

    out = file or ProgressFile()
    return SynergyProgress()
