#pragma once

// Determines which ClusterQueues a RoundPolicy may order. A queue is refused, with a reason, if
// priorities alone do not determine the order of its workloads.
//
// Threading: pure.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "queues/kueue.h"
#include "queues/queue_objects.h"
#include "queues/round_policy.h"
#include "queues/rounds.h"

namespace synergy {

struct JudgedQueue {
  std::shared_ptr<const ClusterQueue> queue;  // null if there is no queue with that name
  std::string problem;                        // why the policy must not order it; empty if it may
  std::string hint;                           // advice for an ordered queue
};

struct JudgedPolicy {
  std::shared_ptr<const RoundPolicy> policy;
  std::optional<Rounds> rounds;               // nullopt if the policy has a problem
  std::string problem;                        // concerns the whole policy, not one queue
  std::map<std::string, JudgedQueue> queues;  // by name
};

// Returns the policies in the order of their creation. If two policies name one queue, the older
// policy orders it.
std::vector<JudgedPolicy> JudgePolicies(const QueueObjects& objects);

}  // namespace synergy
