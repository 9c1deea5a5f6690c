#include "engine/tuner/room.h"

#include <algorithm>
#include <utility>

#include "allocation/storage/storage_left.h"
#include "allocation/surplus.h"
#include "cluster/node_selection.h"
#include "cluster/state/fit.h"

namespace synergy {
namespace {

// Number of nodes to examine closely for one waiting pod: those that lack the least.
constexpr size_t kNodesToWeigh = 16;

// Returns what the pod lacks on the node; nullopt if it lacks anything besides CPU and memory.
std::optional<ResourceVector> Lacking(const Pod& pod, const NodeState& node) {
  const FitFailures failures = CheckFit(pod, node);
  FitFailures scarce;
  if (failures.Has(FitFailures::kCpu)) scarce.Add(FitFailures::kCpu);
  if (failures.Has(FitFailures::kMemory)) scarce.Add(FitFailures::kMemory);
  if (!(failures == scarce)) return std::nullopt;
  ResourceVector lacking = LargerOf(pod.requests.main - node.Free(), {});
  lacking.gpus = Gpus(0);
  if (!failures.Has(FitFailures::kCpu)) lacking.cpu = MilliCpu(0);
  if (!failures.Has(FitFailures::kMemory)) lacking.memory = Bytes(0);
  return lacking;
}

bool Covers(const ResourceVector& surplus, const ResourceVector& lacking) {
  return surplus.cpu >= lacking.cpu && surplus.memory >= lacking.memory;
}

}  // namespace

double CostOf(const std::vector<PodShare>& shares, const std::vector<ResourceVector>& amounts) {
  const std::vector<double> before = ThroughputsTogether(shares, CurrentOf(shares));
  const std::vector<double> after = ThroughputsTogether(shares, amounts);
  double cost = 0;
  for (size_t i = 0; i < amounts.size(); ++i) cost += before[i] - after[i];
  return cost;
}

std::optional<RoomPlan> CheapestRoom(const ClusterSnapshot& snapshot, const Pod& pod,
                                     const ShareRules& rules,
                                     const std::function<bool(const NodeState&)>& considers) {
  struct Candidate {
    NodeIndex node;
    ResourceVector lacking;
    double size;  // size of the lack, relative to the largest node
  };
  std::vector<Candidate> candidates;
  const ResourceVector& largest = snapshot.largest_node();
  for (NodeIndex index = 0; index < snapshot.size(); ++index) {
    const NodeState& node = snapshot.node(index);
    // No place is kept for the pod, so no node counts it.
    if (node.Free().gpus < pod.requests.main.gpus || !considers(node)) continue;
    if (!MayGoTo(pod, node)) continue;
    // kube-scheduler counts nominated pods too.
    const std::optional<ResourceVector> lacking =
        node.detail->nominated.empty() ? Lacking(pod, node)
                                       : Lacking(pod, WithNominated(node, pod.uid, pod.priority));
    if (!lacking) continue;
    // The pod fits: kube-scheduler is about to try it, or it waits for something that cannot be
    // seen here.
    if (*lacking == ResourceVector{}) return RoomPlan{.node = index};
    candidates.push_back(
        {index, *lacking,
         static_cast<double>(lacking->cpu.count()) / static_cast<double>(largest.cpu.count()) +
             static_cast<double>(lacking->memory.count()) /
                 static_cast<double>(largest.memory.count())});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.size < b.size; });
  std::optional<RoomPlan> best;
  size_t weighed = 0;
  for (const Candidate& candidate : candidates) {
    if (weighed == kNodesToWeigh) break;
    const NodeState& node = snapshot.node(candidate.node);
    RoomPlan plan;
    plan.node = candidate.node;
    plan.node_shares = SharesOn(node, SharePurpose::kReclaim, rules);
    const ResourceVector& lacking = candidate.lacking;
    ResourceVector surplus;
    for (const PodShare& share : plan.node_shares.shares) surplus += share.current - share.least;
    if (!Covers(surplus, lacking)) continue;
    ++weighed;
    auto amounts = Reclaim(plan.node_shares.shares, lacking);
    if (!amounts) continue;
    plan.cost = CostOf(plan.node_shares.shares, *amounts);
    plan.amounts = *std::move(amounts);
    if (!best || plan.cost < best->cost) best = std::move(plan);
  }
  return best;
}

}  // namespace synergy
