#pragma once

// Stores the objects that watches report in a ClusterState, with one store for each kind of object.
//
// Threading: the same as ObjectStore; ClusterState is thread-safe.

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cluster/state/cluster_state.h"
#include "kube/reflector.h"

namespace synergy::kube {

// `kKey`: the object's key in the state. `kLast`: the function that finds the object in a snapshot
// of the state; null: Last() finds nothing.
template <class T, auto kReplace, auto kUpsert, auto kRemove, auto kKey, auto kLast = nullptr>
class StateStore final : public ObjectStore<T> {
 public:
  explicit StateStore(ClusterState& state) : state_(state) {}

  void Replace(std::vector<T> all) override { (state_.*kReplace)(std::move(all)); }
  void Upsert(T object) override { (state_.*kUpsert)(std::move(object)); }
  void Remove(const T& object) override { (state_.*kRemove)(object.*kKey); }
  std::optional<T> Last(const T& object) const override {
    if constexpr (std::is_null_pointer_v<decltype(kLast)>) {
      return std::nullopt;
    } else {
      return kLast(*state_.Snapshot(), object.*kKey);
    }
  }

 private:
  ClusterState& state_;
};

inline std::optional<Node> LastNode(const ClusterSnapshot& snapshot, const std::string& name) {
  const std::optional<NodeIndex> index = snapshot.Find(name);
  if (!index || !snapshot.node(*index).exists) return std::nullopt;
  return NodeOf(snapshot.node(*index));
}

inline std::optional<DisruptionBudget> LastBudget(const ClusterSnapshot& snapshot,
                                                  const std::string& uid) {
  for (const DisruptionBudget& known : snapshot.disruption_budgets()) {
    if (known.uid == uid) return known;
  }
  return std::nullopt;
}

using PodStore = StateStore<Pod, &ClusterState::ReplacePods, &ClusterState::UpsertPod,
                            &ClusterState::RemovePod, &Pod::uid>;
using NodeStore = StateStore<Node, &ClusterState::ReplaceNodes, &ClusterState::UpsertNode,
                             &ClusterState::RemoveNode, &Node::name, &LastNode>;
using DisruptionBudgetStore =
    StateStore<DisruptionBudget, &ClusterState::ReplaceDisruptionBudgets,
               &ClusterState::UpsertDisruptionBudget, &ClusterState::RemoveDisruptionBudget,
               &DisruptionBudget::uid, &LastBudget>;
using LimitRangeStore =
    StateStore<LimitRange, &ClusterState::ReplaceLimitRanges, &ClusterState::UpsertLimitRange,
               &ClusterState::RemoveLimitRange, &LimitRange::uid>;
using ResourceQuotaStore = StateStore<ResourceQuota, &ClusterState::ReplaceResourceQuotas,
                                      &ClusterState::UpsertResourceQuota,
                                      &ClusterState::RemoveResourceQuota, &ResourceQuota::uid>;

}  // namespace synergy::kube
