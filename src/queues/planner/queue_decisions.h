#pragma once

// Decides about those queues of a policy that share GPUs: the queues of one cohort and flavor, or a
// single queue.
//
// Threading: values; pure.

#include <span>
#include <vector>

#include "core/clock.h"
#include "core/units.h"
#include "queues/kueue.h"
#include "queues/planner/queued_workload.h"
#include "queues/rounds.h"

namespace synergy {

struct SharingQueue {
  const ClusterQueue* queue = nullptr;
  const QueuedWorkloads* workloads = nullptr;
};

struct QueueDecision {
  RoundDecision decision;   // of the queue's workloads
  Gpus most;                // its own quota, and what it may borrow now
  Gpus free;                // GPUs that no workload of the sharing queues has
  bool is_leaving = false;  // whether a workload of the sharing queues is being stopped
};

// Returns a decision for each queue. For an elastic policy, QueueDecision::decision is not set.
// `shared`: the quota of the cohort itself.
std::vector<QueueDecision> DecideTogether(const Rounds& rounds,
                                          std::span<const SharingQueue> queues, Gpus shared,
                                          bool begins, WallTime now);

// Returns the GPUs that a waiting workload with its turn can get in this queue: the free GPUs and,
// unless Kueue is already making room, those of running workloads that give way to it.
Gpus RoomForTurns(const SharingQueue& queue, const QueueDecision& decided);

}  // namespace synergy
