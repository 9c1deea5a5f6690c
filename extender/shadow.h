#pragma once

// Shadow mode: determines where Synergy would have put the GPU pods that other schedulers place,
// and with how much CPU and memory. It logs and counts this, and writes nothing to the cluster.
//
// A pod is judged when the watch reports that it was bound, against the cluster as it was known
// just before. So both choices are compared in the same cluster, whatever happened to earlier
// choices.
//
// Threading: the thread of the pods' watch. Failures: none; a pod that cannot be judged is counted
// as such.

#include <functional>
#include <string>
#include <vector>

#include "allocation/best_fit.h"
#include "cluster/state/cluster_state.h"
#include "core/log.h"
#include "kube/reflector.h"
#include "metrics/extender_metrics.h"

namespace synergy::extender {

// Forwards the objects from the watch of pods.
class Shadow final : public kube::ObjectStore<Pod> {
 public:
  // All references must outlive this object. `current`: returns whether every watch is up to date.
  Shadow(ClusterState& state, ReserveRule reserve, double slack, Logger& log,
         metrics::ExtenderMetrics& metrics, std::function<bool()> current);

  void Replace(std::vector<Pod> all) override { state_.ReplacePods(std::move(all)); }
  void Upsert(Pod pod) override;
  void Remove(const Pod& pod) override { state_.RemovePod(pod.uid); }

 private:
  void Judge(const Pod& waiting, const std::string& went_to);

  ClusterState& state_;
  const ReserveRule reserve_;
  const double slack_;  // same as in PlacementRules
  Logger& log_;
  metrics::ExtenderMetrics& metrics_;
  const std::function<bool()> current_;
};

}  // namespace synergy::extender
