#pragma once

// Gives pods that wait what admission could not give them: those with placeholders, because there
// was no node for them yet or because a quota might have refused more, and those whose profile came
// after them. A pod that waits competes with nobody, so that it may be resized at once; the
// extender binds no placeholder.
//
// Threading: one owner.
// Failures: what a quota or a limit range refuses the pod does not get, and is sized all the same;
// what cannot be written is logged, and tried again at the next call.

#include <cstdint>
#include <optional>

#include "admission/admission.h"
#include "cluster/state/cluster_state.h"
#include "core/log.h"
#include "kube/apis/events.h"
#include "kube/apis/pod_api.h"

namespace synergy::controller {

class PodSizer {
 public:
  // All references outlive this. What the API server answers goes into `state`.
  PodSizer(AdmissionSettings settings, const AdmissionSurroundings& surroundings,
           ClusterState& state, kube::PodApi& pods, kube::EventRecorder& events, Logger& log);

  // Sizes whoever can be sized now. Cheap while neither the cluster nor the profiles change, which
  // `profiles_version` tells.
  void SizeAll(uint64_t profiles_version);

 private:
  // Whether nothing is left to be tried again.
  bool SizeOne(const Pod& pod);
  bool Write(const Pod& pod, AdmissionFigures figures);
  // As much of it as the namespace's quotas and limit ranges let it have: both, one of CPU and
  // memory, or nothing, with an event.
  Result<Pod> Resize(const Pod& pod, const ResourceVector& floor);

  const AdmissionSettings settings_;
  const AdmissionSurroundings& surroundings_;
  ClusterState& state_;
  kube::PodApi& pods_;
  kube::EventRecorder& events_;
  Logger& log_;
  std::optional<uint64_t> seen_;           // the cluster's version when nothing was left to be done
  std::optional<uint64_t> profiles_seen_;  // likewise
};

}  // namespace synergy::controller
