#pragma once

// Gives running pods what was measured of their workload while they, or others like them, trained:
// the profile, and by it demand and floor, as annotations. No pod is resized by it; the tuner
// divides the node again. A pod whose node has another GPU product than its measured profile is
// for loses that.
//
// A profile that somebody has written goes before: such pods are left alone.
//
// Threading: one owner.
// Failures: what cannot be written is logged, and tried again at the next call.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "admission/admission.h"
#include "cluster/state/cluster_state.h"
#include "controller/cluster/profile_store.h"
#include "core/log.h"
#include "kube/apis/events.h"
#include "kube/apis/pod_api.h"

namespace synergy::controller {

class PodAdopter {
 public:
  // Of one call; the rest comes with the next.
  static constexpr size_t kMostAtOnce = 20;

  // All references outlive this. What the API server answers goes into `state`. `may_act` is asked
  // before each call.
  PodAdopter(AdmissionSettings settings, const AdmissionSurroundings& surroundings,
             const ProfileStore& profiles, ClusterState& state, kube::PodApi& pods,
             kube::EventRecorder& events, std::function<bool()> may_act, Logger& log);

  // Cheap while neither the cluster nor the profiles change, and where nothing was measured.
  void AdoptAll(const std::stop_token& stop = {});

 private:
  // What is to be written on the pod; none: nothing.
  std::optional<AdmissionFigures> FiguresFor(const Pod& pod, const std::string& product) const;
  // Whether nothing is left to be tried again.
  bool Write(const Pod& pod, const AdmissionFigures& figures, const std::stop_token& stop);

  const AdmissionSettings settings_;
  const AdmissionSurroundings& surroundings_;
  const ProfileStore& profiles_;
  ClusterState& state_;
  kube::PodApi& pods_;
  kube::EventRecorder& events_;
  const std::function<bool()> may_act_;
  Logger& log_;
  std::optional<uint64_t> seen_;           // the cluster's version when nothing was left to be done
  std::optional<uint64_t> profiles_seen_;  // likewise
};

}  // namespace synergy::controller
