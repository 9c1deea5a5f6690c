#include "allocation/gangs/gang_launchers.h"

#include <string>

#include "cluster/node_selection.h"

namespace synergy {
namespace {

// Returns the node that kube-scheduler nominated for the pod, or else the only node that it can go
// to; empty if there is none or several.
std::string KnownNode(const ClusterSnapshot& snapshot, const Pod& pod) {
  if (!pod.waiting || !pod.waiting->selection) return {};
  if (!pod.waiting->nominated_node.empty()) return pod.waiting->nominated_node;
  std::string known;
  for (NodeIndex index = 0; index < snapshot.size(); ++index) {
    const NodeState& node = snapshot.node(index);
    if (!node.exists) continue;
    const NodeDetail& detail = *node.detail;
    if (!MayGoTo(*pod.waiting->selection, detail.name, detail.labels, detail.taints)) continue;
    if (!known.empty()) return {};
    known = detail.name;
  }
  return known;
}

}  // namespace

std::vector<GangPlace> KnownPlaces(const ClusterSnapshot& snapshot,
                                   const std::vector<std::shared_ptr<const Pod>>& pods) {
  std::vector<GangPlace> places;
  for (const auto& pod : pods) {
    if (std::string node = KnownNode(snapshot, *pod); !node.empty()) {
      places.push_back({pod->uid, std::move(node)});
    }
  }
  return places;
}

}  // namespace synergy
