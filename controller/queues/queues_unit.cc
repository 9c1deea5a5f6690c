#include "controller/queues/queues_unit.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "kube/listing.h"
#include "wire/kueue/kueue.h"

namespace synergy::controller {
namespace {

// How often it is looked whose turn it is.
constexpr Duration kRounds = std::chrono::seconds(1);

RoundsDriver::ProgressOf AskProgress(const ProgressBook& book, const Clock& clock) {
  return [&book, &clock](const std::string& uid) -> std::optional<PodProgress> {
    auto known = book.Of(uid, clock.Now());
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

}  // namespace

QueuesUnit::QueuesUnit(const config::ControllerConfig& config, const ApiClients& clients,
                       const wire::ObjectReader& reader, WatchedCluster& cluster,
                       const ProgressBook& progress, kube::EventRecorder& events,
                       const Leadership& leadership, const Clock& clock, Logger& log,
                       metrics::RoundMetrics& metrics)
    : config_(config),
      leadership_(leadership),
      clock_(clock),
      metrics_(metrics),
      api_(kube::MakeRoundApi(*clients.acting)),
      type_facts_(cluster.state(), cluster.profiles(),
                  [&shares = cluster.fair_shares()](Gpus gpus, const std::string& product) {
                    return shares.Find({}, gpus, product);
                  }),
      driver_(objects_, *api_, events, AskProgress(progress, clock),
              AskCheckpoints(cluster.profiles()), type_facts_, clock, log, metrics),
      type_checks_(objects_, *api_, events, config.type_patience, clock, log, metrics),
      kueue_watches_(*clients.any, reader, config.staleness_limit, clock, log),
      trainer_watches_(*clients.any, reader, config.staleness_limit, clock, log),
      loop_({.may_act = [this] { return LookAtQueues(); },
             .start_over = [this] { driver_.StartOver(); },
             // The next leader reports them.
             .rest = [this] { metrics_.SetWorkloads({}); },
             .step =
                 [this](const std::stop_token& stop) {
                   driver_.Step(stop);
                   decided_ = clock_.Now();
                 },
             .every_look = [this](bool acts,
                                  const std::stop_token& stop) { AnswerChecks(acts, stop); }},
            kRounds, clock) {}

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
  kueue_watches_.Start("roundpolicies", std::string(kube::kRoundPoliciesPath), objects_.policies);
  kueue_watches_.Start("workloads", of_kueue("workloads"), objects_.workloads);
  kueue_watches_.Start("clusterqueues", of_kueue("clusterqueues"), objects_.cluster_queues);
  kueue_watches_.Start("localqueues", of_kueue("localqueues"), objects_.local_queues);
  kueue_watches_.Start("resourceflavors", of_kueue("resourceflavors"), objects_.flavors);
  kueue_watches_.Start("admissionchecks", of_kueue("admissionchecks"), objects_.checks);
  kueue_watches_.Start("cohorts", of_kueue("cohorts"), objects_.cohorts);
  kueue_watches_.Start("queuedpods", "/api/v1/pods", objects_.pods, kube::kLivingPods,
                       std::string(wire::kPodSetLabel));
  objects_.elastic = config_.kueue_elastic;
  if (objects_.elastic) {
    kueue_watches_.Start("jobs", std::string(kube::kJobsPath), objects_.jobs, {},
                         std::string(wire::kQueueLabel));
  }
  if (config_.kueue_train_job_progress) {
    trainer_watches_.Start("trainjobs", std::string(kube::kTrainJobsPath), objects_.train_jobs, {},
                           std::string(wire::kQueueLabel));
  }
}

// Returns whether this replica may decide whose turn it is.
bool QueuesUnit::LookAtQueues() {
  current_ = kueue_watches_.Current();
  objects_.knows_train_jobs = trainer_watches_.Current();
  return leadership_.MayAct() && current_;
}

void QueuesUnit::AnswerChecks(bool decided_here, const std::stop_token& stop) {
  if (!decided_here && !leadership_.IsLeader())
    decided_ = std::max(decided_, leadership_.LedLast());
  if (current_) type_checks_.Step(decided_here ? &driver_.turns() : nullptr, decided_, stop);
}

}  // namespace synergy::controller
