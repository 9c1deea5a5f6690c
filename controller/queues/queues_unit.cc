#include "controller/queues/queues_unit.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "gavel/policies/policies.h"
#include "kube/listing.h"
#include "queues/empty_nodes.h"
#include "wire/kueue/kueue.h"

namespace synergy::controller {
namespace {

// The interval between two decisions.
constexpr Duration kRounds = std::chrono::seconds(1);

ProgressOf AskProgress(const ProgressStore& store, const Clock& clock) {
  return [&store, &clock](const std::string& uid) -> std::optional<PodProgress> {
    auto known = store.Of(uid, clock.Now());
    if (!known) return std::nullopt;
    return std::move(known->pod);
  };
}

ProfileCheckpoints AskCheckpoints(const ProfileStore& profiles) {
  return [&profiles](const std::string& profile_namespace, const std::string& name) {
    const auto profile = profiles.Find(profile_namespace, name);
    return profile != nullptr && profile->object.checkpoints;
  };
}

PodRoom AskRoom(const ClusterState& state) {
  return [&state](const Workload& workload, Gpus quota) {
    return PodsOnEmptyNodes(*state.Snapshot(), workload, quota);
  };
}

}  // namespace

QueuesUnit::QueuesUnit(const config::ControllerConfig& config, const ApiClients& clients,
                       const wire::ObjectReader& reader, WatchedCluster& cluster,
                       const ProgressStore& progress, kube::EventRecorder& events,
                       const Leadership& leadership, QueueJournal* journal, const Clock& clock,
                       Logger& log, metrics::RoundMetrics& metrics)
    : config_(config),
      leadership_(leadership),
      clock_(clock),
      metrics_(metrics),
      api_(kube::MakeRoundApi(*clients.acting)),
      type_speeds_(cluster.state(), cluster.profiles(),
                   [&shares = cluster.fair_shares()](const NodeSelection& selection, Gpus gpus,
                                                     const std::string& product) {
                     return shares.Find(selection, gpus, product);
                   }),
      types_(type_speeds_, MakeGavelPolicy),
      planner_(AskProgress(progress, clock), AskCheckpoints(cluster.profiles()),
               AskRoom(cluster.state()), types_),
      controller_(
          stores_, planner_, *api_, events, [&leadership] { return leadership.MayAct(); },
          config.type_patience, clock, log, metrics),
      kueue_watches_(*clients.any, reader, config.staleness_limit, clock, log),
      trainer_watches_(*clients.any, reader, config.staleness_limit, clock, log),
      loop_({.may_act =
                 [this] {
                   LookAtQueues();
                   return leadership_.MayAct();
                 },
             .sees = [this] { return current_; },
             .term = [this] { return leadership_.Terms(); },
             .start_over = [this] { controller_.StartOver(); },
             // Only the leader reports the workloads.
             .rest = [this] { metrics_.SetWorkloads({}); },
             .step =
                 [this](const std::stop_token& stop) {
                   controller_.Step(stop);
                   decided_ = clock_.Now();
                 },
             .every_look = [this](bool acts,
                                  const std::stop_token& stop) { AnswerChecks(acts, stop); }},
            kRounds, clock) {
  if (journal != nullptr) planner_.SetJournal(*journal);
}

void QueuesUnit::Start() {
  if (!config_.kueue_enabled) return;
  StartWatches();
  loop_.Start();
}

void QueuesUnit::Stop() {
  loop_.Stop();
  kueue_watches_.Stop();
  trainer_watches_.Stop();
}

void QueuesUnit::StartWatches() {
  const auto of_kueue = [](const char* plural) { return std::string(kube::kKueuePath) + plural; };
  kueue_watches_.Start("roundpolicies", std::string(kube::kRoundPoliciesPath), stores_.policies);
  kueue_watches_.Start("workloads", of_kueue("workloads"), stores_.workloads);
  kueue_watches_.Start("clusterqueues", of_kueue("clusterqueues"), stores_.cluster_queues);
  kueue_watches_.Start("localqueues", of_kueue("localqueues"), stores_.local_queues);
  kueue_watches_.Start("resourceflavors", of_kueue("resourceflavors"), stores_.flavors);
  kueue_watches_.Start("admissionchecks", of_kueue("admissionchecks"), stores_.checks);
  kueue_watches_.Start("cohorts", of_kueue("cohorts"), stores_.cohorts);
  kueue_watches_.Start("queuedpods", "/api/v1/pods", stores_.pods, kube::kLivingPods,
                       std::string(wire::kPodSetLabel));
  stores_.elastic = config_.kueue_elastic;
  if (stores_.elastic) {
    kueue_watches_.Start("jobs", std::string(kube::kJobsPath), stores_.jobs, {},
                         std::string(wire::kQueueLabel));
  }
  if (config_.kueue_train_job_progress) {
    trainer_watches_.Start("trainjobs", std::string(kube::kTrainJobsPath), stores_.train_jobs, {},
                           std::string(wire::kQueueLabel));
  }
}

void QueuesUnit::LookAtQueues() {
  current_ = kueue_watches_.Current();
  stores_.watches_train_jobs = trainer_watches_.Current();
}

void QueuesUnit::AnswerChecks(bool decided_here, const std::stop_token& stop) {
  if (!decided_here && !leadership_.IsLeader())
    decided_ = std::max(decided_, leadership_.LedLast());
  if (current_) controller_.AnswerChecks(decided_here, decided_, stop);
}

}  // namespace synergy::controller
