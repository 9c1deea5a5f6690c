"""A synchronous training of several MPI processes: each iteration takes as long as the slowest
process."""

import sys
import time

from mpi4py import MPI

import synergy_progress

iterations, seconds = int(sys.argv[1]), float(sys.argv[2])
progress = synergy_progress.ProgressFile()
for iteration in range(1, iterations + 1):
    time.sleep(seconds)
    gradients = MPI.COMM_WORLD.allreduce(MPI.COMM_WORLD.Get_rank() + 1)
    progress.write(iteration, iterations, at_once=iteration == iterations)
print(f"{MPI.COMM_WORLD.Get_size()} processes, gradients {gradients}", flush=True)
