#include "controller/progress/believed_progress.h"

#include <algorithm>
#include <utility>

namespace synergy::controller {

BelievedProgress Believe(std::vector<PodProgress> told, const std::string& node,
                         const ClusterSnapshot& cluster) {
  BelievedProgress believed;
  const auto index = cluster.Find(node);
  for (PodProgress& progress : told) {
    const Pod* pod = nullptr;
    if (index) {
      for (const auto& on_node : cluster.node(*index).detail->pods) {
        if (on_node->uid == progress.uid) pod = on_node.get();
      }
    }
    if (pod == nullptr) {
      ++believed.not_here;
    } else if (!pod->fungible) {
      ++believed.not_managed;
    } else {
      progress.pod_namespace = pod->pod_namespace;
      progress.name = pod->name;
      believed.pods.push_back(std::move(progress));
    }
  }
  return believed;
}

}  // namespace synergy::controller
