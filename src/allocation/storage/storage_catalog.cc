#include "allocation/storage/storage_catalog.h"

namespace synergy {

std::optional<double> StorageNeeds::LeftOn(const NodeState& node) const {
  const double bandwidth = BandwidthOf(node.detail->name);
  if (bandwidth <= 0) return std::nullopt;
  double left = bandwidth;
  for (const auto& pod : node.detail->pods) left -= NeedOf(*pod);
  return left;
}

double StorageCatalog::NeedOf(const Pod& pod) const {
  if (!pod.fungible) return 0;
  const std::optional<PodReads> known = ReadsOf(pod);
  if (!known) return 0;
  return known->reads.NeedOf(*known->profile,
                             LargerOf(pod.fungible->demand, pod.fungible->requested));
}

}  // namespace synergy
