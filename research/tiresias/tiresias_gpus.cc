#include "research/tiresias/tiresias_gpus.h"

#include <algorithm>

namespace synergy {

TiresiasGpus::TiresiasGpus(const TiresiasCluster& cluster, TiresiasScheme scheme)
    : node_gpus_(scheme == TiresiasScheme::kYarn ? cluster.gpus : cluster.gpus * cluster.nodes),
      free_(scheme == TiresiasScheme::kYarn ? static_cast<size_t>(cluster.nodes) : 1, node_gpus_) {}

bool TiresiasGpus::CouldHold(int64_t gpus) const {
  return (gpus + node_gpus_ - 1) / node_gpus_ <= static_cast<int64_t>(free_.size());
}

TiresiasGpus::Taken TiresiasGpus::Take(int64_t gpus) {
  if (gpus > node_gpus_) return TakeWholeNodes(gpus);
  const auto node =
      std::find_if(free_.begin(), free_.end(), [gpus](int64_t free) { return free >= gpus; });
  if (node == free_.end()) return {};
  *node -= gpus;
  return {{static_cast<size_t>(node - free_.begin()), gpus}};
}

TiresiasGpus::Taken TiresiasGpus::TakeWholeNodes(int64_t gpus) {
  const auto whole = static_cast<size_t>(gpus / node_gpus_);
  const int64_t rest = gpus % node_gpus_;
  Taken taken;
  for (size_t node = 0; node < free_.size() && taken.size() < whole; ++node) {
    if (free_[node] == node_gpus_) taken.emplace_back(node, node_gpus_);
  }
  if (taken.size() < whole) return {};
  for (const auto& [node, count] : taken) free_[node] -= count;
  if (rest == 0) return taken;
  const Taken last = Take(rest);  // those nodes have no GPUs left for it
  if (last.empty()) {
    GiveBack(taken);
    return {};
  }
  taken.push_back(last.front());
  return taken;
}

void TiresiasGpus::GiveBack(const Taken& taken) {
  for (const auto& [node, gpus] : taken) free_[node] += gpus;
}

void TiresiasGpus::FreeAll() { std::fill(free_.begin(), free_.end(), node_gpus_); }

}  // namespace synergy
