#pragma once

// Gives waiting pods the amounts that admission could not give them. These are pods with
// placeholders, because no suitable node existed yet or a quota might have refused higher amounts,
// and pods whose profile was created later. A waiting pod uses no resources, so it may be resized
// at once; the extender does not bind a pod with placeholders.
//
// Autoscalers choose nodes by the placeholders, so placeholders follow the facts known about future
// nodes. If a pod gets no node within `patience`, its placeholders shrink to the amounts of the
// smallest future node.
//
// Threading: one owner. Failures: if a quota or limit range refuses an amount, the pod does not get
// it, but counts as sized. A failed write is logged and retried later. Until then no pod of the
// same namespace is sized, so that slow answers for one namespace hardly delay the others.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "admission/admission.h"
#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/apis/events.h"
#include "kube/apis/pod_api.h"

namespace synergy::controller {

class DeferredSizing {
 public:
  // All references must outlive this object. The API server's answers are stored in `state`.
  // `patience`: how long a pod may be unschedulable before its placeholders shrink. `may_act`:
  // returns whether this process leads; checked before each call.
  DeferredSizing(AdmissionSettings settings, Duration patience,
                 const AdmissionSurroundings& surroundings, ClusterState& state, kube::PodApi& pods,
                 kube::EventRecorder& events, std::function<bool()> may_act, const Clock& clock,
                 Logger& log);

  // Sizes all pods that can be sized now. Cheap while neither the cluster nor the profiles
  // (`profiles_version`) change.
  void SizeAll(uint64_t profiles_version, const std::stop_token& stop);

 private:
  // Returns whether the pod has been unschedulable for `patience_`; if it may become so, sets
  // `due_`.
  bool IsLongUnplaced(const Pod& pod);
  // Moves pods whose last write failed to the end, the latest failure last, because each failure
  // pauses its namespace.
  void SortByFailures(std::vector<std::shared_ptr<const Pod>>& pods);
  // Returns false if the pod must be tried again.
  bool SizeOne(const Pod& pod, const std::stop_token& stop);
  // Changes the placeholders of a pod that still has no node to go to. Otherwise behaves like
  // SizeOne().
  bool Replace(const Pod& pod, const AdmissionFigures& figures, const std::stop_token& stop);
  bool Write(const Pod& pod, AdmissionFigures figures, const std::stop_token& stop);
  // Resizes the pod to as much of `floor` as the namespace's quotas and limit ranges allow: both
  // CPU and memory, one of them, or neither. Records an event if an amount was refused.
  Result<Pod> Resize(const Pod& pod, const ResourceVector& floor, const std::stop_token& stop);
  bool MayGoOn(const std::stop_token& stop) const { return !stop.stop_requested() && may_act_(); }

  const AdmissionSettings settings_;
  const Duration patience_;
  const AdmissionSurroundings& surroundings_;
  ClusterState& state_;
  kube::PodApi& pods_;
  kube::EventRecorder& events_;
  const std::function<bool()> may_act_;
  const Clock& clock_;
  Logger& log_;
  std::map<std::string, Instant> paused_until_;  // by namespace
  std::map<std::string, Instant> failed_;        // when a pod's last write failed, by its uid
  std::optional<uint64_t> seen_;                 // the cluster's version when all pods were sized
  std::optional<uint64_t> profiles_seen_;        // the profiles' version then
  WallTime due_ = WallTime::max();  // when the next pod will have been unplaced for long
  // The placeholders last requested, by the pod's uid; a quota may have refused some.
  std::map<std::string, ResourceVector> replaced_;
};

}  // namespace synergy::controller
