#include "controller/progress/failures/memory_raiser.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "cluster/namespace_limits.h"
#include "cluster/state/cluster_snapshot.h"

namespace synergy::controller {
namespace {

// The part of a node that stays for its agents and the pod's other containers, as a divisor.
constexpr int64_t kLeft = 8;

}  // namespace

Bytes MostMemoryOnNodes(const ClusterSnapshot& cluster, Gpus gpus, const std::string& product) {
  std::optional<Bytes> most;
  for (NodeIndex index = 0; index < cluster.size(); ++index) {
    const NodeState& node = cluster.node(index);
    if (!node.Schedulable() || node.allocatable.gpus < gpus) continue;
    const auto& products = node.detail->gpu_kinds.products;
    if (!product.empty() && !products.empty() &&
        std::find(products.begin(), products.end(), product) == products.end()) {
      continue;
    }
    const Bytes left = node.allocatable.memory - node.of_others.memory;
    most = std::max(most.value_or(Bytes(0)), left - Bytes(left.count() / kLeft));
  }
  return most.value_or(Bytes(std::numeric_limits<int64_t>::max()));
}

std::optional<WorkloadMemory> MemoryRaiser::MemoryFor(const std::string& of_namespace,
                                                      const FailureRecord& failure) const {
  if (failure.profile.empty()) return std::nullopt;
  const auto known = profiles_.Find(of_namespace, failure.profile);
  if (known == nullptr) return std::nullopt;
  const ProfileObject& object = known->object;
  if (!object.measured) {
    if (!object.training.process_memory) return std::nullopt;
    return WorkloadMemory{.given = true};
  }
  const MeasuredProfile& measured = *object.measured;
  const std::optional<Bytes> process = ProcessMemoryOf(measured);
  // A hint for the pod is the profile of another workload.
  if (!process || measured.workload != failure.workload) return std::nullopt;
  const auto cluster = state_.Snapshot();
  return WorkloadMemory{
      .process = *process,
      .raise = measured.raise,
      .most = std::min(MostMemoryOnNodes(*cluster, measured.gpus, measured.gpu_product),
                       cluster->share_limits()->MostMemory(of_namespace))};
}

Result<> MemoryRaiser::Raise(const std::string& of_namespace, const FailureRecord& failure,
                             const MemoryRaise& raise, const std::stop_token& stop) {
  const auto known = profiles_.Find(of_namespace, failure.profile);
  if (known == nullptr) return Fail(ErrorCode::kNotFound, "the profile is gone");
  return api_.WriteMemoryRaise(known->object, raise, stop);
}

}  // namespace synergy::controller
