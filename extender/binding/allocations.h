#pragma once

// Sets the CPU and memory of a fungible pod before the pod is bound, so that its container starts
// with its final amounts. Kubernetes lets a pod without a node be resized.
//
// Threading: any thread. Failures: see Set(). An event of the pod reports changed amounts, and a
// change that a quota or a limit forbids.

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

  // Returns the pod with the amounts that it should have on `node`; the pod unchanged if its
  // amounts are fixed. `common`: the same as in PlanAtBind().
  Pod Plan(const Pod& pod, const std::string& node, const ClusterSnapshot& snapshot,
           const std::optional<ResourceVector>& common) const;

  const ReserveRule& reserve() const { return reserve_; }

  // Sets the pod's requests to those of `planned`, and checks them. Returns the resource version of
  // the pod with these requests. Returns kDenied if a quota or a limit forbids them: an event then
  // reports the refusal, and the pod can be bound as it is. Any other error fails the bind, and a
  // change that may have been made is reverted.
  Result<uint64_t> Set(const Pod& pod, const Pod& planned, const std::stop_token& stop);

  // Reverts Set() after the bind has failed permanently, unless the pod is on a node.
  void Undo(const Pod& pod, const Pod& planned, const std::stop_token& stop);

  // Returns the reason for the pod's amounts, and the room that they leave on `node`; empty if the
  // amounts are fixed. REQUIRES: `snapshot` counts the pod on `node`.
  static std::string Reason(const Pod& bound, const std::string& node,
                            const ClusterSnapshot& snapshot);

  // Returns the annotations for the Binding; none if the pod's amounts are fixed.
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
