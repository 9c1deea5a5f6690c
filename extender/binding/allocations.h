#pragma once

// Sets a fungible pod's own CPU and memory before the pod is bound, so that it starts with its
// final amounts: a pod without a node may be resized, and its container starts with the new
// amounts.
//
// Threading: any thread. Failures: see Set(). The pod's event always reports which amounts the pod
// got, or why it got no more.

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
  // All references must outlive this object.
  Allocations(kube::PodApi& pods, kube::EventRecorder& events, const Clock& clock, Logger& log,
              metrics::ExtenderMetrics& metrics, ReserveRule reserve);

  // Returns the pod as it should be on `node`; unchanged if it may not be changed. `common`: the
  // same as in PlanAtBind().
  Pod Plan(const Pod& pod, const std::string& node, const ClusterSnapshot& snapshot,
           const std::optional<ResourceVector>& common) const;

  const ReserveRule& reserve() const { return reserve_; }

  // Sets the pod's requests to those of `planned`, and checks them. Returns the resource version of
  // the pod with these requests. Returns kDenied if a quota or a limit forbids them: the pod can
  // then be bound as it is, and its event reports that. Any other error fails the bind, and a
  // change that may have been made is reverted.
  Result<uint64_t> Set(const Pod& pod, const Pod& planned, const std::stop_token& stop);

  // Restores the pod after Set() and a bind that failed permanently, unless the pod is on a node.
  void Undo(const Pod& pod, const Pod& planned, const std::stop_token& stop);

  // Returns why the pod gets its amounts on `node`, and what they leave there; empty for a pod that
  // may not be changed. REQUIRES: `snapshot` counts the pod there.
  static std::string Reason(const Pod& bound, const std::string& node,
                            const ClusterSnapshot& snapshot);

  // Returns the annotations for the Binding; none for a pod that may not be changed.
  kube::AnnotationChanges Describe(const Pod& pod, const Pod& bound, std::string why) const;

  // Records the event and the metrics after the bind.
  void Bound(const Pod& pod, const Pod& bound, const std::string& why);

 private:
  void RecordEvent(const Pod& pod, std::string_view type, std::string message);

  kube::PodApi& pods_;
  kube::EventRecorder& events_;
  const Clock& clock_;
  Logger& log_;
  metrics::ExtenderMetrics& metrics_;
  const ReserveRule reserve_;
};

}  // namespace synergy::extender
