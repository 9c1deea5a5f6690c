#pragma once

// Carries out the plans of GangPreemption (engine/gangs/gang_preemption.h): it reserves places on
// pods, evicts victims through the Eviction API, and records events and metrics.
//
// Threading: one owner. Failures: GangPreemption receives failed actions and decides the next step.

#include <functional>
#include <stop_token>
#include <string>

#include "cluster/state/cluster_state.h"
#include "cluster/state/pod_acts.h"
#include "core/clock.h"
#include "core/log.h"
#include "engine/gangs/gang_preemption.h"
#include "kube/apis/events.h"
#include "kube/apis/pod_api.h"
#include "metrics/controller_metrics.h"

namespace synergy::controller {

class GangPreemptionDriver {
 public:
  // All references must outlive this object. The API server's answers are stored in `state`, and
  // evictions in `acts`. `may_act` is checked before each call.
  GangPreemptionDriver(GangPreemptionSettings settings, ClusterState& state, kube::PodApi& pods,
                       kube::EvictionApi& evictions, kube::EventRecorder& events, PodActs& acts,
                       std::function<bool()> may_act, const Clock& clock, Logger& log,
                       metrics::ControllerMetrics& metrics);

  // Forgets the attempts in progress. Call it on becoming the leader.
  void StartOver() { preemption_.StartOver(); }
  // Does what is due now. Call it about every second while the cluster is visible.
  void Step(const std::stop_token& stop);

 private:
  using Gang = WaitingGang;

  PreemptionResult Do(const Gang& gang, const preemption_action::KeepPlaces& action,
                      const std::stop_token& stop);
  PreemptionResult Do(const Gang& gang, const preemption_action::EndPlaces& action,
                      const std::stop_token& stop);
  PreemptionResult Do(const Gang& gang, const preemption_action::TryEvictions& action,
                      const std::stop_token& stop);
  PreemptionResult Do(const Gang& gang, const preemption_action::Evict& action,
                      const std::stop_token& stop);
  PreemptionResult Do(const Gang& gang, const preemption_action::Begin& action,
                      const std::stop_token& stop);
  PreemptionResult Do(const Gang& gang, const preemption_action::End& action,
                      const std::stop_token& stop);
  bool MayGoOn(const std::stop_token& stop) const { return !stop.stop_requested() && may_act_(); }
  void Record(const Pod& pod, std::string type, std::string reason, std::string message);

  GangPreemption preemption_;
  ClusterState& state_;
  kube::PodApi& pods_;
  kube::EvictionApi& evictions_;
  kube::EventRecorder& events_;
  PodActs& acts_;
  const std::function<bool()> may_act_;
  const Clock& clock_;
  Logger& log_;
  metrics::ControllerMetrics& metrics_;
};

}  // namespace synergy::controller
