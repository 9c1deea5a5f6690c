"""Measures how the speed of two real trainings on one GPU depends on the number of CPUs: samples
per second of ResNet-18 with JPEG images, and of GPT-2 with tokens.

    python3 tests/gpu/sensitivity.py

It needs the driver, PyTorch, torchvision, Transformers and Pillow. Results:
docs/evidence/profiling.md.
"""

import os
import subprocess
import sys

COMMON = """
import io, os, sys, time
cpus = int(sys.argv[1])
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cpus])
import numpy, torch
torch.set_num_threads(1)

def measure(step, batch):
    for _ in range(8): step()
    torch.cuda.synchronize()
    start, steps = time.time(), 0
    while time.time() < start + 5:
        step()
        steps += 1
    torch.cuda.synchronize()
    print(f"{batch * steps / (time.time() - start):.0f}", flush=True)
    os._exit(0)  # without waiting for the loader's workers
"""
IMAGES = COMMON + """
import torchvision
from PIL import Image
random, images = numpy.random.default_rng(0), []
for _ in range(64):
    file = io.BytesIO()
    blocks = numpy.kron(random.integers(0, 255, (50, 60, 3), dtype=numpy.uint8),
                        numpy.ones((9, 9, 1), dtype=numpy.uint8))
    Image.fromarray(blocks).save(file, "JPEG", quality=90)
    images.append(file.getvalue())
transform = torchvision.transforms.Compose([torchvision.transforms.RandomResizedCrop(224),
                                            torchvision.transforms.RandomHorizontalFlip(),
                                            torchvision.transforms.PILToTensor()])
class Data(torch.utils.data.Dataset):
    def __len__(self): return 10**7
    def __getitem__(self, i): return transform(Image.open(io.BytesIO(images[i % 64])).convert("RGB"))
batches = iter(torch.utils.data.DataLoader(Data(), batch_size=64, num_workers=cpus, pin_memory=True))
model = torchvision.models.resnet18().cuda().to(memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
def step():
    batch = next(batches).cuda(non_blocking=True).to(memory_format=torch.channels_last).float().div_(255)
    with torch.autocast("cuda", dtype=torch.bfloat16): loss = model(batch).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
measure(step, 64)
"""
TOKENS = COMMON + """
from transformers import GPT2Config, GPT2LMHeadModel
class Data(torch.utils.data.Dataset):
    def __len__(self): return 10**7
    def __getitem__(self, i): return torch.randint(0, 50000, (512,))
batches = iter(torch.utils.data.DataLoader(Data(), batch_size=16, num_workers=1, pin_memory=True))
model = GPT2LMHeadModel(GPT2Config(n_positions=512)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
def step():
    batch = next(batches).cuda(non_blocking=True)
    with torch.autocast("cuda", dtype=torch.bfloat16): loss = model(batch, labels=batch).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
measure(step, 16)
"""


def main():
    for name, program in (("ResNet-18", IMAGES), ("GPT-2", TOKENS)):
        for cpus in (1, 2, 4, 8, 16):
            if cpus > len(os.sched_getaffinity(0)):
                break
            rate = subprocess.run([sys.executable, "-c", program, str(cpus)], check=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True).stdout.strip()
            print(f"{name}, {cpus} CPUs: {rate} samples/s", flush=True)


if __name__ == "__main__":
    main()
