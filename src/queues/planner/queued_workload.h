#pragma once

// The workloads of an ordered ClusterQueue, in the form that the parts of the planner share.
//
// Threading: values.

#include <memory>
#include <string>
#include <vector>

#include "queues/elastic_rounds.h"
#include "queues/kueue.h"
#include "queues/rounds.h"

namespace synergy {

struct QueuedWorkload {
  std::shared_ptr<const Workload> object;
  RoundWorkload round;
  // Set only in elastic queues.
  std::shared_ptr<const QueuedJob> job;  // null if the owner is neither a Job nor a TrainJob
  ElasticWorkload elastic;
};

using QueuedWorkloads = std::vector<QueuedWorkload>;

inline std::vector<RoundWorkload> RoundsOf(const QueuedWorkloads& queue) {
  std::vector<RoundWorkload> rounds;
  rounds.reserve(queue.size());
  for (const QueuedWorkload& workload : queue) rounds.push_back(workload.round);
  return rounds;
}

// An event to record on the job of a workload.
struct JobNotice {
  std::shared_ptr<const Workload> workload;
  std::string reason;
  std::string message;
};

}  // namespace synergy
