#pragma once

// A queue of one GPU under `las`, in which team/a has its turn and team/b waits.

#include <chrono>
#include <string>

#include "cli/cluster/queue_facts.h"

namespace synergy::cli::testing {

// A time in the middle of a round.
inline const WallTime kQueueNow = WallTime() + std::chrono::hours(1000) + std::chrono::seconds(100);

inline Workload MakeWorkload(const std::string& job) {
  Workload workload;
  workload.uid = "uid of " + job;
  workload.workload_namespace = "team";
  workload.name = "job-" + job + "-12ab";
  workload.owner = {"batch/v1", "Job", job, "uid of job " + job};
  workload.local_queue = "q";
  workload.pods = 1;
  workload.gpus = Gpus(1);
  workload.may_lose_turn = true;
  workload.created = kQueueNow - std::chrono::seconds(600);
  return workload;
}

inline QueuedPod MakePodOf(const Workload& workload) {
  QueuedPod pod;
  pod.pod_namespace = workload.workload_namespace;
  pod.name = workload.owner.name + "-0";
  pod.workload = workload.name;
  pod.has_gpus = pod.has_node = pod.running = true;
  pod.since = kQueueNow - std::chrono::seconds(200);
  return pod;
}

// Returns a running job with 300 GPU-seconds of service until half a minute ago.
inline Workload MakeRunning(const std::string& job) {
  Workload workload = MakeWorkload(job);
  workload.has_quota = true;
  workload.quota_since = kQueueNow - std::chrono::seconds(210);
  workload.priority = 1;
  workload.note = RoundNote{.own = 0,
                            .written = 1,
                            .served = 300,
                            .fair_share_delay = 90,
                            .fragmentation_delay = 10,
                            .lost_turns = 2,
                            .at = kQueueNow - std::chrono::seconds(30)};
  return workload;
}

inline QueueFacts MakeQueue() {
  QueueFacts facts;
  ClusterQueue queue;
  queue.name = "train";
  queue.quota = Gpus(1);
  queue.preemption = "LowerPriority";
  facts.cluster_queues = {queue};
  facts.local_queues = {{.queue_namespace = "team", .name = "q", .cluster_queue = "train"}};
  RoundPolicy policy;
  policy.name = "turns";
  policy.cluster_queues = {"train"};
  policy.settings.policy = "las";
  policy.status.queues = {{.name = "train", .ready = true, .message = {}, .up_next = {}}};
  facts.policies = {policy};
  facts.workloads = {MakeWorkload("b"), MakeRunning("a")};
  facts.pods = {MakePodOf(facts.workloads[1])};
  return facts;
}

}  // namespace synergy::cli::testing
