#pragma once

// Stores what the watches report in ClusterState: one adapter per kind of object.
//
// Threading: as ObjectStore; ClusterState is thread-safe.

#include <optional>
#include <utility>
#include <vector>

#include "cluster/state/cluster_state.h"
#include "kube/reflector.h"

namespace synergy::kube {

class PodStore final : public ObjectStore<Pod> {
 public:
  explicit PodStore(ClusterState& state) : state_(state) {}
  void Replace(std::vector<Pod> all) override { state_.ReplacePods(std::move(all)); }
  void Upsert(Pod pod) override { state_.UpsertPod(std::move(pod)); }
  void Remove(const Pod& pod) override { state_.RemovePod(pod.uid); }

 private:
  ClusterState& state_;
};

class NodeStore final : public ObjectStore<Node> {
 public:
  explicit NodeStore(ClusterState& state) : state_(state) {}
  void Replace(std::vector<Node> all) override { state_.ReplaceNodes(std::move(all)); }
  void Upsert(Node node) override { state_.UpsertNode(std::move(node)); }
  void Remove(const Node& node) override { state_.RemoveNode(node.name); }
  std::optional<Node> Last(const Node& node) const override {
    const auto snapshot = state_.Snapshot();
    const std::optional<NodeIndex> index = snapshot->Find(node.name);
    if (!index || !snapshot->node(*index).exists) return std::nullopt;
    return NodeOf(snapshot->node(*index));
  }

 private:
  ClusterState& state_;
};

class DisruptionBudgetStore final : public ObjectStore<DisruptionBudget> {
 public:
  explicit DisruptionBudgetStore(ClusterState& state) : state_(state) {}
  void Replace(std::vector<DisruptionBudget> all) override {
    state_.ReplaceDisruptionBudgets(std::move(all));
  }
  void Upsert(DisruptionBudget budget) override {
    state_.UpsertDisruptionBudget(std::move(budget));
  }
  void Remove(const DisruptionBudget& budget) override {
    state_.RemoveDisruptionBudget(budget.uid);
  }
  std::optional<DisruptionBudget> Last(const DisruptionBudget& budget) const override {
    const auto snapshot = state_.Snapshot();
    for (const DisruptionBudget& known : snapshot->disruption_budgets()) {
      if (known.uid == budget.uid) return known;
    }
    return std::nullopt;
  }

 private:
  ClusterState& state_;
};

class LimitRangeStore final : public ObjectStore<LimitRange> {
 public:
  explicit LimitRangeStore(ClusterState& state) : state_(state) {}
  void Replace(std::vector<LimitRange> all) override { state_.ReplaceLimitRanges(std::move(all)); }
  void Upsert(LimitRange range) override { state_.UpsertLimitRange(std::move(range)); }
  void Remove(const LimitRange& range) override { state_.RemoveLimitRange(range.uid); }

 private:
  ClusterState& state_;
};

class ResourceQuotaStore final : public ObjectStore<ResourceQuota> {
 public:
  explicit ResourceQuotaStore(ClusterState& state) : state_(state) {}
  void Replace(std::vector<ResourceQuota> all) override {
    state_.ReplaceResourceQuotas(std::move(all));
  }
  void Upsert(ResourceQuota quota) override { state_.UpsertResourceQuota(std::move(quota)); }
  void Remove(const ResourceQuota& quota) override { state_.RemoveResourceQuota(quota.uid); }

 private:
  ClusterState& state_;
};

}  // namespace synergy::kube
