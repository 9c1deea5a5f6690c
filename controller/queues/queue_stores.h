#pragma once

// Kueue's objects as the watches report them.
//
// Threading: from any thread.

#include <atomic>

#include "controller/cluster/keyed_store.h"
#include "queues/kueue.h"
#include "queues/queue_objects.h"
#include "queues/queued_job.h"
#include "queues/round_policy.h"

namespace synergy::controller {

struct QueueStores {
  KeyedStore<RoundPolicy> policies;
  KeyedStore<Workload> workloads;
  KeyedStore<ClusterQueue> cluster_queues;
  KeyedStore<LocalQueue> local_queues;
  KeyedStore<QueuePart> flavors;
  KeyedStore<QueuePart> checks;
  KeyedStore<QueuePart> cohorts;
  KeyedStore<QueuedPod> pods;
  // As in QueueObjects.
  KeyedStore<QueuedJob> jobs;
  KeyedStore<QueuedJob> train_jobs;
  std::atomic<bool> knows_train_jobs = false;
  bool elastic = false;  // set before any thread reads it

  QueueObjects Snapshot() const {
    return {.policies = policies.Snapshot(),
            .workloads = workloads.Snapshot(),
            .cluster_queues = cluster_queues.Snapshot(),
            .local_queues = local_queues.Snapshot(),
            .flavors = flavors.Snapshot(),
            .checks = checks.Snapshot(),
            .cohorts = cohorts.Snapshot(),
            .pods = pods.Snapshot(),
            .jobs = jobs.Snapshot(),
            .train_jobs = train_jobs.Snapshot(),
            .knows_train_jobs = knows_train_jobs,
            .elastic = elastic};
  }
};

}  // namespace synergy::controller
