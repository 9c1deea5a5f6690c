#include "engine/tuner/room.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "allocation/storage/storage_left.h"
#include "allocation/surplus.h"
#include "cluster/node_selection.h"
#include "cluster/state/fit.h"
#include "engine/reservations/passing_check.h"

namespace synergy {
namespace {

// Number of nodes to examine closely for one waiting pod: those that lack the least.
constexpr size_t kNodesToWeigh = 16;

// Returns the CPU and memory that the pod lacks on the node; nullopt if it also lacks anything
// else.
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

// The jobs with pods or kept places on a node.
std::set<std::string> JobsOn(const NodeState& node) {
  std::set<std::string> jobs;
  for (const auto& pod : node.detail->pods) {
    if (pod->UsesGpus()) jobs.insert(JobOf(*pod));
  }
  return jobs;
}

// The effect of reservations on a node.
struct Ahead {
  ResourceVector needed;                 // by the jobs that have no pod there yet
  std::set<std::string_view> waits_for;  // jobs that will end first
};

Ahead AheadOn(const NodeState& node, const std::vector<const GpuReservation*>& reservations) {
  const std::set<std::string> jobs = JobsOn(node);
  Ahead ahead;
  for (const GpuReservation* const reservation : reservations) {
    if (jobs.contains(reservation->job)) continue;
    for (const GpuReservation::Place& place : reservation->places) {
      if (place.node != node.detail->name) continue;
      ahead.needed += {Gpus(0), place.cpu, place.memory};
      ahead.waits_for.insert(reservation->waits_for.begin(), reservation->waits_for.end());
    }
  }
  return ahead;
}

// Returns the amounts that must be free now, beyond those that the awaited jobs will free.
ResourceVector NeededNow(const NodeState& node, const Ahead& ahead) {
  ResourceVector needed = ahead.needed;
  for (const auto& pod : node.detail->pods) {
    if (!pod->UsesGpus() || pod->waiting || !ahead.waits_for.contains(JobOf(*pod))) continue;
    ResourceVector::ForEachDivided(
        [&](auto member) { needed.*member -= pod->requests.main.*member; });
  }
  return LargerOf(needed, {});
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
  const bool has_place = pod.waiting && !pod.waiting->kept_node.empty();
  for (NodeIndex index = 0; index < snapshot.size(); ++index) {
    std::optional<NodeState> without;
    if (has_place && snapshot.node(index).exists)
      without = WithoutPod(snapshot.node(index), pod.uid);
    const NodeState& node = without ? *without : snapshot.node(index);
    if (node.Free().gpus < pod.requests.main.gpus || !considers(node)) continue;
    if (!MayGoTo(pod, node)) continue;
    // kube-scheduler counts nominated pods too.
    const std::optional<ResourceVector> lacking =
        node.detail->nominated.empty() ? Lacking(pod, node)
                                       : Lacking(pod, WithNominated(node, pod.uid, pod.priority));
    if (!lacking) continue;
    // The pod fits. kube-scheduler is about to try it, or the pod waits for something that the
    // tuner cannot see.
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

std::optional<RoomPlan> RoomAhead(const ClusterSnapshot& snapshot, NodeIndex node,
                                  const std::vector<const GpuReservation*>& reservations,
                                  const ShareRules& rules) {
  const NodeState& state = snapshot.node(node);
  const Ahead ahead = AheadOn(state, reservations);
  const ResourceVector needed = NeededNow(state, ahead);
  RoomPlan plan{.node = node};
  const ResourceVector free = WithNominated(state).Free();
  ResourceVector lacking;
  ResourceVector::ForEachDivided([&](auto member) {
    // A dimension of which nothing is needed may be overdrawn.
    if ((needed.*member).count() > 0) lacking.*member = std::max(needed.*member - free.*member, {});
  });
  if (lacking == ResourceVector{}) return plan;
  plan.node_shares = SharesOn(state, SharePurpose::kReclaim, rules);
  ResourceVector surplus;
  for (size_t i = 0; i < plan.node_shares.shares.size(); ++i) {
    PodShare& share = plan.node_shares.shares[i];
    if (ahead.waits_for.contains(JobOf(*plan.node_shares.pods[i]))) share.least = share.current;
    surplus += share.current - share.least;
  }
  if (!Covers(surplus, lacking)) return std::nullopt;
  auto amounts = Reclaim(plan.node_shares.shares, lacking);
  if (!amounts) return std::nullopt;
  plan.cost = CostOf(plan.node_shares.shares, *amounts);
  plan.amounts = *std::move(amounts);
  return plan;
}

}  // namespace synergy
