#pragma once

// Gives running pods the profile that was measured for their workload while they or similar pods
// trained. The profile, and the demand and floor that follow from it, are written as annotations.
// This resizes no pod, but the tuner then divides the node again. A pod loses a measured profile if
// the profile is for another GPU product than its node has.
//
// A profile that a user wrote takes precedence: its pods are left alone.
//
// Threading: one owner.
// Failures: a failed write is logged, and retried once all other pods had their turn. An outage
// ends the call.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>

#include "admission/admission.h"
#include "cluster/state/cluster_state.h"
#include "controller/cluster/profile_store.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/rests.h"
#include "core/result.h"
#include "kube/apis/events.h"
#include "kube/apis/pod_api.h"

namespace synergy::controller {

class ProfileRollout {
 public:
  // Limit per call; the next call does the rest.
  static constexpr size_t kMostAtOnce = 20;
  // How long a pod is left alone at first after the API server has refused its profile.
  static constexpr Duration kRefusalLasts = std::chrono::minutes(5);
  // How long a pod is left alone after a failure that may concern all pods, or only this one (a
  // webhook of its namespace).
  static constexpr Duration kOutageLasts = std::chrono::seconds(30);

  // All references must outlive this object. The API server's answers are stored in `state`.
  // `may_act` is checked before each call.
  ProfileRollout(AdmissionSettings settings, const AdmissionSurroundings& surroundings,
                 const ProfileStore& profiles, ClusterState& state, kube::PodApi& pods,
                 kube::EventRecorder& events, std::function<bool()> may_act, const Clock& clock,
                 Logger& log);

  // Gives pods their profiles. Cheap while neither the cluster nor the profiles change, and if
  // there are no measured profiles.
  void RollOut(const std::stop_token& stop = {});

 private:
  // Returns the figures to write on the pod; nullopt if there are none.
  std::optional<AdmissionFigures> FiguresFor(const Pod& pod, const std::string& product) const;
  Result<> Write(const Pod& pod, const AdmissionFigures& figures, const std::stop_token& stop);

  const AdmissionSettings settings_;
  const AdmissionSurroundings& surroundings_;
  const ProfileStore& profiles_;
  ClusterState& state_;
  kube::PodApi& pods_;
  kube::EventRecorder& events_;
  const std::function<bool()> may_act_;
  const Clock& clock_;
  Logger& log_;
  Rests failing_;
  std::optional<uint64_t> seen_;           // the cluster's version when all pods were done
  std::optional<uint64_t> profiles_seen_;  // the profiles' version then
};

}  // namespace synergy::controller
