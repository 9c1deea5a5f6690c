#pragma once

// The simulator of Tiresias' authors (NSDI'19; github.com/SymbioticLab/Tiresias), job by job. What
// it does:
//
// * Instants are whole seconds. At each: completions, arrivals, moves between queues, one pass of
//   scheduling. Jobs move in the order of arrival and by one queue at most. Nothing takes time.
// * dlas-gpu: discretised 2D-LAS. Higher queues go first; in a queue jobs that run stand before
//   those that wait, else in the order in which they entered; a job that does not fit is passed
//   over. -gittins: in a queue the highest index goes first (tiresias_gittins.h), then the earlier
//   submission. Both count GPUs, whatever the scheme. -N: promotion; its waiting time goes on being
//   summed when the job runs again.
// * A job leaves its queue after limit / GPUs seconds of running, rounded up.
// * fifo starts jobs in the order of submission; one that does not fit stops the queue. shortest
//   (least remaining time first), shortest-gpu (remaining time x GPUs) and sjf (fewest GPUs) place
//   all jobs anew at each instant; equals stay in the order that they had.
// * A job that would end at the instant of an arrival counts as ended then, though a move between
//   queues before that made it wait, unless another job ends at that instant.
//
// Threading: pure.

#include <span>
#include <vector>

#include "core/result.h"
#include "research/tiresias/tiresias_input.h"
#include "sim/statistics.h"

namespace synergy {

struct TiresiasOptions {
  TiresiasCluster cluster;
  TiresiasSchedule schedule;
  TiresiasScheme scheme = TiresiasScheme::kCount;
  std::vector<double> queue_limits;  // as ServiceQueues
  std::vector<int64_t> sizes;        // of past jobs, GPU-seconds; of dlas-gpu-gittins
};

// In the order of the input. kInvalid for a job that the cluster never holds.
Result<std::vector<JobTimes>> SimulateTiresias(std::span<const TiresiasJob> jobs,
                                               const TiresiasOptions& options);

}  // namespace synergy
