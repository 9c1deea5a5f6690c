#include "engine/retries/memory_bounds.h"

#include <algorithm>
#include <optional>

#include "cluster/namespace_limits.h"

namespace synergy {
namespace {

// The fraction of a node's memory that is kept for its agents and the pod's other containers, as a
// divisor.
constexpr int64_t kLeft = 8;

bool MayHave(const NodeState& node, const MeasuredProfile& measured) {
  if (!node.Schedulable() || node.allocatable.gpus < measured.gpus) return false;
  const std::vector<std::string>& products = node.detail->gpu_kinds.products;
  return measured.gpu_product.empty() || products.empty() ||
         std::find(products.begin(), products.end(), measured.gpu_product) != products.end();
}

}  // namespace

Bytes MostMemoryFor(const ClusterSnapshot& cluster, const std::string& pod_namespace,
                    const MeasuredProfile& measured) {
  std::optional<Bytes> largest;
  for (NodeIndex index = 0; index < cluster.size(); ++index) {
    const NodeState& node = cluster.node(index);
    if (!MayHave(node, measured)) continue;
    const Bytes left = node.allocatable.memory - node.of_others.memory;
    largest = std::max(largest.value_or(Bytes(0)), left - Bytes(left.count() / kLeft));
  }
  const Bytes most = cluster.share_limits()->MostMemory(pod_namespace);
  return std::min(most, largest.value_or(most));
}

}  // namespace synergy
