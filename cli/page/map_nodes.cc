#include "cli/page/map_nodes.h"

namespace synergy::cli {
namespace {

std::string GroupOf(const Labels& labels) {
  std::string group;
  for (const char* label : {"topology.kubernetes.io/zone", "topology.kubernetes.io/rack"}) {
    const auto value = FindLabel(labels, label);
    if (!value || value->empty()) continue;
    group += (group.empty() ? "" : " / ") + std::string(*value);
  }
  return group;
}

}  // namespace

std::map<std::string, MapNode> NodesOf(const ClusterSnapshot& cluster) {
  std::map<std::string, MapNode> shown;
  for (NodeIndex index = 0; index < cluster.size(); ++index) {
    const NodeState& node = cluster.node(index);
    if (!node.exists || node.allocatable.gpus <= Gpus(0)) continue;
    MapNode& on_map = shown[node.detail->name];
    on_map = {.group = GroupOf(node.detail->labels),
              .allocatable = node.allocatable,
              .schedulable = node.Schedulable()};
    for (const auto& pod : node.detail->pods) {
      if (!pod->UsesGpus()) on_map.others += pod->requests.main;
    }
  }
  return shown;
}

}  // namespace synergy::cli
