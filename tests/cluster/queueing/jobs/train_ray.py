"""A synchronous training of several Ray actors with a GPU each: each iteration takes as long as the
slowest actor."""

import sys
import time

import ray


@ray.remote(num_gpus=1)
class Worker:
    def __init__(self, rank, iterations):
        import synergy_progress
        self.rank, self.iterations, self.progress = rank, iterations, synergy_progress.ProgressFile()

    def step(self, iteration, seconds):
        time.sleep(seconds)
        self.progress.write(iteration, self.iterations, at_once=iteration == self.iterations)
        return self.rank + 1


ray.init()
size, iterations, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
workers = [Worker.remote(rank, iterations) for rank in range(size)]
for iteration in range(1, iterations + 1):
    gradients = sum(ray.get([worker.step.remote(iteration, seconds) for worker in workers]))
print(f"{size} processes, gradients {gradients}", flush=True)
