#include "allocation/smallest_fair_share.h"

#include <algorithm>

#include "allocation/best_fit.h"
#include "cluster/fungible.h"

namespace synergy {
std::optional<ResourceVector> SmallestFairShare(const ClusterSnapshot& snapshot,
                                                const NodeSelection* selection, Gpus gpus,
                                                std::string_view gpu_product) {
  std::optional<ResourceVector> least;
  for (NodeIndex index = 0; index < snapshot.size(); ++index) {
    const NodeState& node = snapshot.node(index);
    if (!node.Schedulable() || InstalledGpus(node) < gpus) continue;
    const ResourceVector share = FairShare(node, gpus);
    if (share.cpu <= MilliCpu(0) || share.memory <= Bytes(0)) continue;
    // Labels last: they are out of the way of what is looked at for every node.
    const bool lowers = !least || share.cpu < least->cpu || share.memory < least->memory;
    if (!lowers) continue;
    const NodeDetail& detail = *node.detail;
    if (!gpu_product.empty() && !detail.gpu_kinds.MayHave(gpu_product)) continue;
    if (selection != nullptr && !MayGoTo(*selection, detail.name, detail.labels, detail.taints))
      continue;
    least = least ? LesserOf(*least, share) : share;
  }
  return least;
}

}  // namespace synergy
