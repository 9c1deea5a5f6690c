// Tests PlaceOne against its definition.

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "allocation/best_fit.h"
#include "allocation/fair_share.h"
#include "cluster/state/fit.h"
#include "property/random_cluster.h"
#include "support/place_one.h"

namespace synergy::testing {
namespace {

std::optional<std::string> PlaceName(const ClusterSnapshot& snapshot, const Pod& pod,
                                     const ReserveRule& rule) {
  const auto place = PlaceOne(snapshot, pod, rule);
  if (!place) return std::nullopt;
  return snapshot.node(*place).detail->name;
}

ReserveRule RandomReserve() {
  if (*rc::gen::inRange(0, 2) == 0) return {};
  return {.per_gpu = ResourceVector{Gpus(1), MilliCpu(*rc::gen::inRange(0, 8) * 500),
                                    GiB(*rc::gen::inRange(0, 40))}};
}

// Returns the rank by the definition in best_fit.h, calculated in floating point: tier, cost.
std::pair<int, double> PlainRank(const Pod& pod, const NodeState& node,
                                 const ResourceVector& largest, const ResourceVector& reserve) {
  struct Amount {
    double gpus;
    double cpu;
    double memory;
  };
  const auto amount = [](const ResourceVector& of) {
    return Amount{static_cast<double>(of.gpus.count()), static_cast<double>(of.cpu.count()),
                  static_cast<double>(of.memory.count())};
  };
  const Amount all = amount(node.allocatable);
  const Amount taken = amount(node.requested);
  const Amount free{all.gpus - taken.gpus, all.cpu - taken.cpu, all.memory - taken.memory};
  const Amount demand = amount(pod.demand.value_or(pod.requests.main));
  const Amount unit = amount(largest);
  const Amount each = amount(reserve);
  const double left = std::max(0.0, free.gpus - demand.gpus);
  const auto room = [left](double available, double wanted, double kept, double whole) {
    const double need = wanted + left * kept;
    return (need > 0 ? available - need : std::max(0.0, available)) / whole;
  };
  const double cpu = room(free.cpu, demand.cpu, each.cpu, unit.cpu);
  const double memory = room(free.memory, demand.memory, each.memory, unit.memory);
  if (cpu >= 0 && memory >= 0) {
    return {0, (cpu + memory) / (left + 1) + 0.25 * left / unit.gpus};
  }
  return {1, std::max(0.0, -cpu) + std::max(0.0, -memory)};
}

RC_GTEST_PROP(BestFitProperty, NeverPicksANodeOnWhichThePodDoesNotFit,
              (const RandomCluster& cluster)) {
  const Pod pod = *IncomingPod();
  const auto snapshot = cluster.Snapshot();
  const auto place = PlaceOne(*snapshot, pod, RandomReserve());
  if (place) {
    RC_ASSERT(CheckFit(pod, snapshot->node(*place)).none());
    return;
  }
  for (NodeIndex i = 0; i < snapshot->size(); ++i)
    RC_ASSERT(!CheckFit(pod, snapshot->node(i)).none());
}

RC_GTEST_PROP(BestFitProperty, PickIgnoresTheOrderOfNodes, (const RandomCluster& cluster)) {
  const Pod pod = *IncomingPod();
  const ReserveRule rule = RandomReserve();
  std::vector<Node> shuffled = cluster.nodes;
  for (size_t i = shuffled.size(); i > 1; --i)
    std::swap(shuffled[i - 1], shuffled[*rc::gen::inRange<size_t>(0, i)]);
  RC_ASSERT(PlaceName(*cluster.Snapshot(), pod, rule) ==
            PlaceName(*cluster.Snapshot(shuffled), pod, rule));
}

RC_GTEST_PROP(BestFitProperty, PicksTheLeastByRankAndName, (const RandomCluster& cluster)) {
  const Pod pod = *IncomingPod();
  const ReserveRule rule = RandomReserve();
  const auto snapshot = cluster.Snapshot();
  const BestFit best_fit(pod, *snapshot, rule);
  std::vector<std::pair<FitRank, std::string>> fitting;
  for (NodeIndex i = 0; i < snapshot->size(); ++i) {
    const NodeState& node = snapshot->node(i);
    if (CheckFit(pod, node).none()) fitting.emplace_back(best_fit.Rank(node), node.detail->name);
  }
  RC_PRE(!fitting.empty());
  RC_ASSERT(PlaceName(*snapshot, pod, rule) ==
            std::min_element(fitting.begin(), fitting.end())->second);
}

RC_GTEST_PROP(BestFitProperty, AnAvoidedNodeIsPickedOnlyIfNoOtherFits,
              (const RandomCluster& cluster)) {
  const Pod pod = *IncomingPod();
  const ReserveRule rule = RandomReserve();
  const auto snapshot = cluster.Snapshot();
  const AllNodes all(*snapshot);
  NodeSet avoided = {"unknown"};
  for (size_t i = 0; i < all.size(); ++i) {
    if (*rc::gen::inRange(0, 2) == 0) avoided.emplace(all.Name(i));
  }
  const BestFit best_fit(pod, *snapshot, rule);
  std::vector<std::tuple<bool, FitRank, std::string>> fitting;
  for (NodeIndex i = 0; i < snapshot->size(); ++i) {
    const NodeState& node = snapshot->node(i);
    if (!CheckFit(pod, node).none()) continue;
    const std::string& name = node.detail->name;
    fitting.emplace_back(avoided.contains(name), best_fit.Rank(node), name);
  }
  const Ranking ranking = RankNodes(*snapshot, pod, std::nullopt, all, rule, avoided);
  RC_ASSERT(ranking.best_node().has_value() == !fitting.empty());
  if (fitting.empty()) return;
  RC_ASSERT(ranking.best_name() == std::get<2>(*std::min_element(fitting.begin(), fitting.end())));
}

RC_GTEST_PROP(BestFitProperty, RanksEveryNodeByTheDefinition, (const RandomCluster& cluster)) {
  const Pod pod = *IncomingPod();
  const ReserveRule rule = RandomReserve();
  const auto snapshot = cluster.Snapshot();
  const BestFit best_fit(pod, *snapshot, rule);
  const ResourceVector reserve = ReservePerGpu(*snapshot, rule);
  for (NodeIndex i = 0; i < snapshot->size(); ++i) {
    const NodeState& node = snapshot->node(i);
    if (!CheckFit(pod, node).none()) continue;
    const FitRank rank = best_fit.Rank(node);
    const auto [tier, cost] = PlainRank(pod, node, snapshot->largest_node(), reserve);
    RC_ASSERT(static_cast<int>(rank.tier) == tier);
    RC_ASSERT(std::abs(rank.cost - cost) < 1e-9);
  }
}

RC_GTEST_PROP(BestFitProperty, PlacingPodAfterPodNeverExceedsANode,
              (const RandomCluster& cluster)) {
  ClusterState state;
  for (const Node& node : cluster.nodes) state.UpsertNode(node);
  for (int i = 0; i < 40; ++i) {
    Pod pod = *IncomingPod();
    pod.uid = "incoming " + std::to_string(i);
    const auto snapshot = state.Snapshot();
    const auto place = PlaceOne(*snapshot, pod, {});
    if (!place) continue;
    RC_ASSERT(state.Assume(pod, snapshot->node(*place).detail->name, Instant{}).assumed);
  }
  const auto snapshot = state.Snapshot();
  for (NodeIndex i = 0; i < snapshot->size(); ++i) {
    const NodeState& node = snapshot->node(i);
    RC_ASSERT(node.requested.FitsWithin(node.allocatable));
    RC_ASSERT(node.pods <= node.pods_allowed);
  }
}

RC_GTEST_PROP(BestFitProperty, TheFairSharesOfAllGpusFitTheNodeTogether,
              (const RandomCluster& cluster)) {
  const auto snapshot = cluster.Snapshot();
  for (NodeIndex i = 0; i < snapshot->size(); ++i) {
    const NodeState& node = snapshot->node(i);
    int64_t left = (node.allocatable.gpus - node.of_others.gpus).count();
    ResourceVector given = node.of_others;
    while (left > 0) {
      const int64_t gpus = *rc::gen::inRange<int64_t>(1, left + 1);
      given += FairShare(node, Gpus(gpus), {});
      left -= gpus;
    }
    RC_ASSERT(given.cpu <= std::max(node.allocatable.cpu, node.of_others.cpu));
    RC_ASSERT(given.memory <= std::max(node.allocatable.memory, node.of_others.memory));
  }
}

RC_GTEST_PROP(StrandedGpusProperty, AreBetweenNoneAndAllFreeOnes, (const RandomCluster& cluster)) {
  const auto snapshot = cluster.Snapshot();
  const ResourceVector reserve = ReservePerGpu(*snapshot, RandomReserve());
  for (NodeIndex i = 0; i < snapshot->size(); ++i) {
    const NodeState& node = snapshot->node(i);
    const Gpus stranded = StrandedGpus(node, reserve);
    RC_ASSERT(stranded >= Gpus(0));
    RC_ASSERT(stranded <= std::max(node.Free().gpus, Gpus(0)));
    // All GPUs that are not stranded can be used at the same time.
    const int64_t usable = (std::max(node.Free().gpus, Gpus(0)) - stranded).count();
    RC_ASSERT(
        (ResourceVector{Gpus(usable), reserve.cpu * usable, reserve.memory * usable}.FitsWithin(
            node.Free())));
  }
}

}  // namespace
}  // namespace synergy::testing
