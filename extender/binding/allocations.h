#pragma once

// Sets a fungible pod's own CPU and memory before it is bound, so that its first second has what it
// will keep: a resize of a pod that has no node yet is legal, and the container starts with it.
//
// Threading: from any thread.
// Failures: see Set(). Whatever the outcome, the pod's event says what was given, or why not.

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "allocation/best_fit.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "kube/apis/events.h"
#include "kube/apis/pod_api.h"
#include "metrics/extender_metrics.h"

namespace synergy::extender {

class Allocations {
 public:
  // All references outlive this.
  Allocations(kube::PodApi& pods, kube::EventRecorder& events, const Clock& clock, Logger& log,
              metrics::ExtenderMetrics& metrics, ReserveRule reserve);

  // The pod as it should be on `node`; as it is, where nothing of it may be changed. `common`: as
  // PlanAtBind() takes it.
  Pod Plan(const Pod& pod, const std::string& node, const ClusterSnapshot& snapshot,
           const std::optional<ResourceVector>& common) const;

  const ReserveRule& reserve() const { return reserve_; }

  // Makes the pod's requests those of `planned` and sees that they are. The resource version of the
  // pod with which they are so. kDenied when a quota or a
  // limit is against it: the pod can be bound as it is, and its event says so. Any other error is
  // one of the bind, and what may have been changed is put back.
  Result<uint64_t> Set(const Pod& pod, const Pod& planned, const std::stop_token& stop);

  // After Set() and a bind that failed for good: as it was, unless it is on a node.
  void Undo(const Pod& pod, const Pod& planned, const std::stop_token& stop);

  // Why the pod gets what it gets on `node`, and what that leaves; empty for a pod of which nothing
  // may be changed. `snapshot` counts it there already.
  static std::string Reason(const Pod& bound, const std::string& node,
                            const ClusterSnapshot& snapshot);

  // What the Binding is to say of it; nothing for a pod of which nothing may be changed.
  kube::AnnotationChanges Describe(const Pod& pod, const Pod& bound, std::string why) const;

  // After the bind: tells and counts.
  void Bound(const Pod& pod, const Pod& bound, const std::string& why);

 private:
  void Tell(const Pod& pod, std::string_view type, std::string message);

  kube::PodApi& pods_;
  kube::EventRecorder& events_;
  const Clock& clock_;
  Logger& log_;
  metrics::ExtenderMetrics& metrics_;
  const ReserveRule reserve_;
};

}  // namespace synergy::extender
