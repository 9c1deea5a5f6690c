#include "queues/empty_nodes.h"

#include <algorithm>

#include "cluster/node_selection.h"

namespace synergy {
namespace {

bool MayUse(const Workload& workload, const NodeDetail& node) {
  const auto allows = [&node](const NodeSelection& selection) {
    return MayGoTo(selection, node.name, node.labels, {});
  };
  const auto has = [&node](const std::string& product) { return node.gpu_kinds.MayHave(product); };
  return std::all_of(workload.selections.begin(), workload.selections.end(), allows) &&
         (!workload.products ||
          std::any_of(workload.products->begin(), workload.products->end(), has));
}

}  // namespace

int64_t PodsOnEmptyNodes(const ClusterSnapshot& cluster, const Workload& workload, Gpus quota) {
  const int64_t pod = std::max<int64_t>(workload.pod_gpus.count(), 1);
  int64_t pods = 0;
  Gpus missing = quota;
  for (NodeIndex index = 0; index < cluster.size(); ++index) {
    const NodeState& node = cluster.node(index);
    if (!node.exists || node.allocatable.gpus <= Gpus(0) || !MayUse(workload, *node.detail))
      continue;
    missing -= node.allocatable.gpus;
    if (node.Schedulable()) pods += node.allocatable.gpus.count() / pod;
  }
  return pods + std::max<int64_t>(missing.count(), 0) / pod;
}

}  // namespace synergy
