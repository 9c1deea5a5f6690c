#pragma once

// The members of the queue planner's steps and their names in a recording, like journal_members.h
// for the cluster. Private to this folder.
//
// Threading: pure.

#include <array>
#include <string_view>

#include "queues/planner/queue_journal.h"
#include "wire/journal/decision_members.h"
#include "wire/kueue/kueue_members.h"

namespace synergy::wire {

template <>
inline constexpr std::array<std::string_view, 3> kWords<GpuTypes>{"None", "Ignore", "Aware"};
template <>
inline constexpr std::array<std::string_view, 6> kWords<WriteOutcome>{
    "NotTried", "Written", "Unseen", "Outdated", "Refused", "Failed"};
template <>
inline constexpr std::array<std::string_view, 8> kWords<WorkloadWrite::Kind>{
    "RestoreWaiting", "Protect", "RestoreRunning", "Withdraw", "Lower", "Raise", "Sort", "Note"};

// The inputs.

void Members(auto& each, Like<ServiceQueues> auto& queues) {
  auto& [limits, promote] = queues;
  each("limits", limits);
  each("promote", promote);
}

void Members(auto& each, Like<RoundSettings> auto& settings) {
  auto& [policy, gpu_types, elastic, queues, sizes, round, least_run, restart_cost, backfill] =
      settings;
  each("policy", policy);
  each("gpuTypes", gpu_types);
  each("elastic", elastic);
  each("queues", queues);
  each("sizes", sizes);
  each("round", round);
  each("leastRun", least_run);
  each("restartCost", restart_cost);
  each("backfill", backfill);
}

// Omits the status, which is not read.
void Members(auto& each, Like<RoundPolicy> auto& policy) {
  each("uid", policy.uid);
  each("name", policy.name);
  each("generation", policy.generation);
  each("created", policy.created);
  each("clusterQueues", policy.cluster_queues);
  each("settings", policy.settings);
  each("formerName", policy.former_name);
  each("leastPriority", policy.least_priority);
  each("mostPriority", policy.most_priority);
  each("prices", policy.prices);
}

void Members(auto& each, Like<WorkloadOwner> auto& owner) {
  auto& [api_version, kind, name, uid] = owner;
  each("apiVersion", api_version);
  each("kind", kind);
  each("name", name);
  each("uid", uid);
}

void Members(auto& each, Like<CheckState> auto& check) {
  auto& [name, state, product, message, since] = check;
  each("name", name);
  each("state", state);
  each("product", product);
  each("message", message);
  each("since", since);
}

void Members(auto& each, Like<Workload> auto& workload) {
  auto& [uid, workload_namespace, name, resource_version, owner, local_queue, pods, gpus, priority,
         active, has_quota, evicted, finished, may_lose_turn, profiles_to_ask, created, quota_since,
         requeue_at, note, checks, gpu_sets, profile, alike, pod_gpus, products, selections,
         deadline, longest, inadmissible, replaces, slice] = workload;
  each("uid", uid);
  each("namespace", workload_namespace);
  each("name", name);
  each("resourceVersion", resource_version);
  each("owner", owner);
  each("localQueue", local_queue);
  each("pods", pods);
  each("gpus", gpus);
  each("priority", priority);
  each("active", active);
  each("hasQuota", has_quota);
  each("evicted", evicted);
  each("finished", finished);
  each("mayLoseTurn", may_lose_turn);
  each("profilesToAsk", profiles_to_ask);
  each("created", created);
  each("quotaSince", quota_since);
  each("requeueAt", requeue_at);
  each("note", note);
  each("checks", checks);
  each("gpuSets", gpu_sets);
  each("profile", profile);
  each("alike", alike);
  each("podGpus", pod_gpus);
  each("products", products);
  each("selections", selections);
  each("deadline", deadline);
  each("longest", longest);
  each("inadmissible", inadmissible);
  each("replaces", replaces);
  each("slice", slice);
}

void Members(auto& each, Like<ClusterQueue> auto& queue) {
  auto& [name, cohort, quota, borrowing, lending, flavors, checks, preemption, by_usage] = queue;
  each("name", name);
  each("cohort", cohort);
  each("quota", quota);
  each("borrowing", borrowing);
  each("lending", lending);
  each("flavors", flavors);
  each("checks", checks);
  each("preemption", preemption);
  each("byUsage", by_usage);
}

void Members(auto& each, Like<LocalQueue> auto& queue) {
  auto& [queue_namespace, name, cluster_queue, stopped] = queue;
  each("namespace", queue_namespace);
  each("name", name);
  each("clusterQueue", cluster_queue);
  each("stopped", stopped);
}

void Members(auto& each, Like<ResourceFlavor> auto& flavor) {
  auto& [name, topology, product] = flavor;
  each("name", name);
  each("topology", topology);
  each("product", product);
}

void Members(auto& each, Like<AdmissionCheck> auto& check) {
  auto& [name, uid, controller, active] = check;
  each("name", name);
  each("uid", uid);
  each("controller", controller);
  each("active", active);
}

void Members(auto& each, Like<Cohort> auto& cohort) {
  auto& [name, parent, quotas] = cohort;
  each("name", name);
  each("parent", parent);
  each("quotas", quotas);
}

void Members(auto& each, Like<QueuedPod> auto& pod) {
  auto& [uid, pod_namespace, name, workload, has_gpus, gpus, has_node, node, running, since] = pod;
  each("uid", uid);
  each("namespace", pod_namespace);
  each("name", name);
  each("workload", workload);
  each("hasGpus", has_gpus);
  each("gpus", gpus);
  each("hasNode", has_node);
  each("node", node);
  each("running", running);
  each("since", since);
}

void Members(auto& each, Like<TrainerStatus> auto& status) {
  auto& [remaining, percent, at] = status;
  each("remaining", remaining);
  each("percent", percent);
  each("at", at);
}

void Members(auto& each, Like<QueuedJob> auto& job) {
  auto& [uid, job_namespace, name, resource_version, workers, succeeded, trainer_status, least,
         most, target_loss, problem] = job;
  each("uid", uid);
  each("namespace", job_namespace);
  each("name", name);
  each("resourceVersion", resource_version);
  each("workers", workers);
  each("succeeded", succeeded);
  each("told", trainer_status);
  each("least", least);
  each("most", most);
  each("targetLoss", target_loss);
  each("problem", problem);
}

void Members(auto& each, Like<ProgressReport> auto& report) {
  auto& [uid, iteration, total, epoch, loss, rate, iterations, remaining] = report;
  each("uid", uid);
  each("iteration", iteration);
  each("total", total);
  each("epoch", epoch);
  each("loss", loss);
  each("rate", rate);
  each("iterations", iterations);
  each("remaining", remaining);
}

void Members(auto& each, Like<TypeDecision::Turn> auto& turn) {
  auto& [uid, place] = turn;
  each("uid", uid);
  each("place", place);
}

void Members(auto& each, Like<TypeDecision> auto& decision) {
  auto& [policy, problem, turns] = decision;
  each("policy", policy);
  each("problem", problem);
  each("turns", turns);
}

void Members(auto& each, Like<RoomForPods> auto& room) {
  auto& [workload, pods] = room;
  each("workload", workload);
  each("pods", pods);
}

void Members(auto& each, auto& changes)
  requires requires {
    changes.put;
    changes.removed;
  }
{
  each("put", changes.put);
  each("removed", changes.removed);
}

void Members(auto& each, Like<QueueChanges> auto& changes) {
  each("policies", changes.policies);
  each("workloads", changes.workloads);
  each("clusterQueues", changes.cluster_queues);
  each("localQueues", changes.local_queues);
  each("flavors", changes.flavors);
  each("checks", changes.checks);
  each("cohorts", changes.cohorts);
  each("pods", changes.pods);
  each("jobs", changes.jobs);
  each("trainJobs", changes.train_jobs);
  each("knowsTrainJobs", changes.watches_train_jobs);
  each("elastic", changes.elastic);
  each("progress", changes.progress);
  each("checkpoints", changes.checkpoints);
  each("types", changes.types);
  each("room", changes.room);
}

void Members(auto& each, Like<QueueOutcome> auto& outcome) {
  auto& [waiting_jobs, writes, running_jobs] = outcome;
  each("waitingJobs", waiting_jobs);
  each("writes", writes);
  each("runningJobs", running_jobs);
}

// The plan, which is written but never read back. It refers to objects by name, because the inputs
// contain them.

void Members(auto& each, const JobNotice& notice) {
  each("workload", notice.workload->Key());
  each("reason", notice.reason);
  each("message", notice.message);
}

void Members(auto& each, const RoundDelays& delays) {
  each("fairShare", delays.fair_share);
  each("fragmentation", delays.fragmentation);
}

void Members(auto& each, const WorkersWrite& write) {
  each("job", write.job->Key());
  each("queue", write.queue);
  each("from", write.change.from);
  each("to", write.change.to);
  each("why", write.change.why);
  each("notice", write.notice);
}

void Members(auto& each, const WorkloadWrite& write) {
  each("kind", write.kind);
  each("workload", write.workload->Key());
  each("resourceVersion", write.workload->resource_version);
  each("priority", write.priority);
  each("note", write.note);
  each("why", write.why);
  each("queue", write.queue);
  each("lostTurn", write.lost_turn);
}

void Members(auto& each, const PolicyStatusWrite& write) {
  each("policy", write.policy->name);
  each("observedGeneration", write.status.observed_generation);
  each("ready", write.status.ready);
  each("reason", write.status.reason);
  each("message", write.status.message);
  each("warning", write.status.warning);
  each("queues", write.status.queues);
}

void Members(auto& each, const QueuePlan& plan) {
  each("notices", plan.notices);
  each("waitingJobs", plan.waiting_jobs);
  each("writes", plan.writes);
  each("runningJobs", plan.running_jobs);
  each("statuses", plan.statuses);
  each("delays", plan.delays);
}

// The steps.

void Members(auto&, Like<queue_step::StartedOver> auto&) {}
void Members(auto& each, Like<queue_step::Learned> auto& step) { Members(each, step.outcome); }
void Members(auto& each, const queue_step::Planned& step) {
  each("at", step.at);
  each("changes", step.changes);
  each("plan", step.plan);
}
void Members(auto& each, queue_step::Planned& step) {
  each("at", step.at);
  each("changes", step.changes);
}

}  // namespace synergy::wire
