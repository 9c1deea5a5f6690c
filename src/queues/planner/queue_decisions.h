#pragma once

// Decides about the queues of a policy that share GPUs: those of one cohort and flavor, or a queue
// on its own.
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
  Gpus free;                // the GPUs that no workload has, of all these queues
  bool is_leaving = false;  // a workload of these queues is being stopped
};

// `shared`: the quota of the cohort itself. Returns one for each queue; that of an
// elastic policy lacks the decision itself.
std::vector<QueueDecision> DecideTogether(const Rounds& rounds,
                                          std::span<const SharingQueue> queues, Gpus shared,
                                          bool begins, WallTime now);

// Returns the GPUs that a waiting workload of the queue with its turn can get: those that are free
// and, unless Kueue is making room already, those of running workloads that give way to it.
Gpus RoomForTurns(const SharingQueue& queue, const QueueDecision& decided);

}  // namespace synergy
