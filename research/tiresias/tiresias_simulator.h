#pragma once

// The simulator of Tiresias' authors (NSDI'19; github.com/SymbioticLab/Tiresias), job by job. Its
// behaviour:
//
// * Instants are whole seconds. At each: completions, arrivals, moves between queues, one pass of
//   scheduling. Jobs move in the order of arrival and by one queue at most. Nothing takes time.
// * dlas-gpu: discretised 2D-LAS. Higher queues come first; in a queue running jobs come before
//   waiting ones, else in the order in which they entered; a job that does not fit is skipped.
//   -gittins: in a queue the highest index comes first (tiresias_gittins.h), then the earlier
//   submission. Both count GPUs, whatever the scheme. -N: promotion; its waiting time is still
//   accumulated when the job runs again.
// * A job leaves its queue after limit / GPUs seconds of running, rounded up.
// * fifo starts jobs in the order of submission; one that does not fit stops the queue. shortest
//   (least remaining time first), shortest-gpu (remaining time x GPUs) and sjf (fewest GPUs) place
//   all jobs again at each instant; ties keep their order.
// * A job that would end at the instant of an arrival counts as ended then, even if a move between
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
  std::vector<int64_t> sizes;        // past jobs, in GPU-seconds; for dlas-gpu-gittins
};

// Returns times in the order of the input. kInvalid for a job that the cluster can never hold.
Result<std::vector<JobTimes>> SimulateTiresias(std::span<const TiresiasJob> jobs,
                                               const TiresiasOptions& options);

}  // namespace synergy
