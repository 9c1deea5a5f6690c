#pragma once

// Shadow mode: where Synergy would have put the GPU pods that others place, and with how much CPU
// and memory. Logged and counted; nothing is written to the cluster.
//
// A pod is judged when the watch tells that it was bound, against the cluster as it was known the
// moment before: so each choice is compared with one that was made in the same cluster, whatever
// became of those before it.
//
// Threading: that of the pods' watch. Failures: none; a pod that cannot be judged is counted as
// such.

#include <functional>
#include <string>
#include <vector>

#include "allocation/best_fit.h"
#include "cluster/state/cluster_state.h"
#include "core/log.h"
#include "kube/reflector.h"
#include "metrics/extender_metrics.h"

namespace synergy::extender {

// Passes on what the watch of pods brings.
class Shadow final : public kube::ObjectStore<Pod> {
 public:
  // All references outlive this. `current`: whether every watch has brought all there is.
  Shadow(ClusterState& state, ReserveRule reserve, double slack, Logger& log,
         metrics::ExtenderMetrics& metrics, std::function<bool()> current);

  void Replace(std::vector<Pod> all) override { state_.ReplacePods(std::move(all)); }
  void Upsert(Pod pod) override;
  void Remove(const Pod& pod) override { state_.RemovePod(pod.uid); }

 private:
  void Judge(const Pod& waiting, const std::string& went_to);

  ClusterState& state_;
  const ReserveRule reserve_;
  const double slack_;  // as PlacementRules has it
  Logger& log_;
  metrics::ExtenderMetrics& metrics_;
  const std::function<bool()> current_;
};

}  // namespace synergy::extender
