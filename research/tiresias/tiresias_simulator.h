#pragma once

// Reproduces, job by job, the simulator of Tiresias' authors (NSDI'19;
// github.com/SymbioticLab/Tiresias). It behaves as follows:
//
// * Times are whole seconds. Each has, in this order, completions, arrivals, moves between queues,
//   and one pass of scheduling. Jobs move in the order of arrival, and by one queue at most.
//   None of this takes time.
// * dlas-gpu is discretised 2D-LAS. Higher queues come first. In a queue, running jobs come before
//   waiting ones; otherwise jobs are in the order in which they entered. A job that does not fit is
//   skipped. With -gittins, the highest index in a queue comes first (tiresias_gittins.h), then the
//   earlier submission. Both only count GPUs under either scheme. -N means promotion; the waiting
//   time that leads to it is not reset when the job runs again.
// * A job leaves its queue after limit / GPUs seconds of running, rounded up.
// * fifo starts jobs in the order of submission, until one does not fit. shortest (least remaining
//   time first), shortest-gpu (remaining time x GPUs) and sjf (fewest GPUs) place all jobs again at
//   each instant; ties keep their order.
// * A job that would have ended at the time of an arrival counts as ended then, even if a move
//   between queues made it wait before. This does not apply if another job ends at the same time.
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
  std::vector<double> queue_limits;  // see ServiceQueues
  std::vector<int64_t> sizes;        // sizes of past jobs in GPU-seconds, for dlas-gpu-gittins
};

// Returns times in the order of the input. Returns kInvalid for a job that the cluster can never
// hold.
Result<std::vector<JobTimes>> SimulateTiresias(std::span<const TiresiasJob> jobs,
                                               const TiresiasOptions& options);

}  // namespace synergy
