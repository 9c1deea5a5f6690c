"""Measures how two programs share an NVIDIA GPU: by the driver's time-slicing, frozen in turns, and
by MPS.

    python3 tests/gpu/sharing.py

It needs the driver, PyTorch, control groups v2 and root. It changes no setting of the GPU. Results:
docs/evidence/device-plugin.md.
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

# A program that multiplies matrices of a given size, and writes how many times it did.
TRAINING = """
import os, sys, torch
a = torch.randn(int(sys.argv[1]), int(sys.argv[1]), device="cuda", dtype=torch.bfloat16)
file, count = os.open(sys.argv[2], os.O_CREAT | os.O_WRONLY, 0o644), 0
while True:
    for _ in range(4): a @ a
    torch.cuda.synchronize()
    count += 4
    os.pwrite(file, b"%-20d" % count, 0)
"""


class Training:
    def __init__(self, size=4096, **environment):
        self.file = pathlib.Path(tempfile.mkdtemp(), "count")
        self.process = subprocess.Popen([sys.executable, "-c", TRAINING, str(size), self.file],
                                        env={**os.environ, **environment})
        while self.process.poll() is None and self.count() < 1000:
            time.sleep(0.1)

    def count(self):
        return int(self.file.read_text()) if self.file.exists() else 0

    def freeze(self, frozen):
        self.process.send_signal(signal.SIGSTOP if frozen else signal.SIGCONT)

    def end(self):
        self.process.kill()
        self.process.wait()


def rates(trainings, seconds, act=time.sleep):
    before, start = [training.count() for training in trainings], time.time()
    act(seconds)
    passed = time.time() - start
    return ", ".join(f"{(training.count() - count) / passed:.0f}" for training, count in zip(trainings, before))


def turns(one, other):
    """Runs each program alone for 2 seconds, three times."""
    def take(_seconds):
        for frozen, running in ((other, one), (one, other)) * 3:
            frozen.freeze(True)
            running.freeze(False)
            time.sleep(2)
    return take


def main():
    one = Training()
    print("alone:", rates([one], 5))
    other = Training()
    print("two, by the driver:", rates([one, other], 6))
    print("two, in turns of 2 s:", rates([one, other], 12, turns(one, other)))
    other.freeze(True)
    print("one frozen:", rates([one, other], 4))
    one.end()
    other.end()
    small = Training(512)
    print("small alone:", rates([small], 3))
    large = Training(8192)
    print("small and large, by the driver:", rates([small, large], 4))
    small.end()
    print("large alone:", rates([large], 3))
    large.end()
    folder = tempfile.mkdtemp()
    mps = {"CUDA_MPS_PIPE_DIRECTORY": folder, "CUDA_MPS_LOG_DIRECTORY": folder}
    subprocess.run(["nvidia-cuda-mps-control", "-d"], env={**os.environ, **mps}, check=True)
    try:
        pair = [Training(**mps), Training(**mps)]
        print("two, by MPS:", rates(pair, 4))
        pair.pop().end()
        pair.append(Training(**mps, CUDA_MPS_ACTIVE_THREAD_PERCENTAGE="25"))
        print("two, by MPS, the second with 25 % of the threads:", rates(pair, 4))
        for training in pair:
            training.end()
    finally:
        subprocess.run(["nvidia-cuda-mps-control"], input=b"quit\n", env={**os.environ, **mps}, check=True)


if __name__ == "__main__":
    main()
