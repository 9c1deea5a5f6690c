#pragma once

// Kueue's objects as the watches report them, and which of its ClusterQueues a RoundPolicy may
// order: one that cannot be ordered by priority alone is refused, with the reason.
//
// Threading: RoundObjects from any thread; the function is pure but for reading them.

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/cluster/keyed_store.h"
#include "queues/kueue.h"
#include "queues/queued_job.h"
#include "queues/round_policy.h"
#include "queues/rounds.h"

namespace synergy::controller {

struct RoundObjects {
  KeyedStore<RoundPolicy> policies;
  KeyedStore<Workload> workloads;
  KeyedStore<ClusterQueue> cluster_queues;
  KeyedStore<LocalQueue> local_queues;
  KeyedStore<QueuePart> flavors;
  KeyedStore<QueuePart> checks;
  KeyedStore<QueuePart> cohorts;
  KeyedStore<QueuedPod> pods;
  // Jobs whose workers the controller may change; TrainJobs, where it reads how far they are. Empty
  // otherwise.
  KeyedStore<QueuedJob> jobs;
  KeyedStore<QueuedJob> train_jobs;
  // Whether the last one is as it is on the API server. Kubeflow Trainer may be away.
  std::atomic<bool> knows_train_jobs = false;
  // Whether it may change those of Jobs. Set before anybody reads it.
  bool elastic = false;

  // Grows with every change of any.
  uint64_t version() const;
};

struct JudgedQueue {
  std::shared_ptr<const ClusterQueue> queue;  // null: there is none of that name
  std::string problem;                        // why the policy does not order it; empty: it does
  std::string hint;                           // what is to be known all the same
};

struct JudgedPolicy {
  std::shared_ptr<const RoundPolicy> policy;
  std::optional<Rounds> rounds;               // none: there is a problem
  std::string problem;                        // of the whole policy
  std::map<std::string, JudgedQueue> queues;  // by name
};

// In the order of their creation: the older of two policies has the queue that both name.
std::vector<JudgedPolicy> JudgePolicies(const RoundObjects& objects);

}  // namespace synergy::controller
