#include "allocation/best_fit.h"

#include <algorithm>

#include "cluster/fit.h"

namespace synergy {
namespace {

int64_t Part(int64_t whole, int64_t parts, int64_t of) {
  __extension__ using Wide = __int128;
  return static_cast<int64_t>(static_cast<Wide>(whole) * parts / of);
}

// Whether the free GPUs of `free` all keep `per_gpu`.
bool KeepsReserve(const ResourceVector& free, const ResourceVector& per_gpu) {
  const int64_t gpus = free.gpus.count();
  return gpus <= 0 || (free.cpu >= per_gpu.cpu * gpus && free.memory >= per_gpu.memory * gpus);
}

}  // namespace

ResourceVector FairShare(const NodeState& node, Gpus gpus) {
  const int64_t all = node.allocatable.gpus.count();
  if (all <= 0) return {};
  const int64_t mine = std::min(gpus.count(), all);
  const int64_t cpu = (node.allocatable.cpu - node.cpu_of_others).count();
  const int64_t memory = (node.allocatable.memory - node.memory_of_others).count();
  return {gpus, MilliCpu(Part(std::max<int64_t>(cpu, 0), mine, all)),
          Bytes(Part(std::max<int64_t>(memory, 0), mine, all))};
}

ResourceVector ReservePerGpu(const ClusterSnapshot& snapshot, const ReserveRule& rule) {
  return rule.per_gpu ? *rule.per_gpu : snapshot.least_per_gpu();
}

BestFit::BestFit(const Pod& pod, const ClusterSnapshot& snapshot, const ReserveRule& reserve)
    : requests_(pod.requests.main),
      demand_(pod.PlanningDemand()),
      reserve_per_gpu_(ReservePerGpu(snapshot, reserve)),
      gpu_unit_(1.0 / static_cast<double>(snapshot.largest_node().gpus.count())),
      cpu_unit_(1.0 / static_cast<double>(snapshot.largest_node().cpu.count())),
      memory_unit_(1.0 / static_cast<double>(snapshot.largest_node().memory.count())) {}

double BestFit::Leftover(const ResourceVector& free, const ResourceVector& need) const {
  // Overcommitted is no emptier than full: else such nodes would draw pods that ask for nothing
  // there.
  const auto left = [](auto amount) {
    return static_cast<double>(std::max<int64_t>(amount.count(), 0));
  };
  return left(free.gpus - need.gpus) * gpu_unit_ + left(free.cpu - need.cpu) * cpu_unit_ +
         left(free.memory - need.memory) * memory_unit_;
}

FitRank BestFit::Rank(const NodeState& node) const {
  const ResourceVector free = node.Free();
  if (demand_.FitsWithin(free)) {
    const FitTier tier = KeepsReserve(free - demand_, reserve_per_gpu_)
                             ? FitTier::kDemandWithReserve
                             : FitTier::kDemand;
    return {tier, Leftover(free, demand_)};
  }
  // What the pod would be given: its fair share where that is less than its demand, and never less
  // than it asks for.
  ResourceVector share = FairShare(node, requests_.gpus);
  share.cpu = std::max(std::min(share.cpu, demand_.cpu), requests_.cpu);
  share.memory = std::max(std::min(share.memory, demand_.memory), requests_.memory);
  if (share.FitsWithin(free)) return {FitTier::kFairShare, Leftover(free, share)};
  return {FitTier::kRequests, Leftover(free, requests_)};
}

Gpus StrandedGpus(const NodeState& node, const ResourceVector& reserve_per_gpu) {
  const ResourceVector free = node.Free();
  int64_t usable = std::max<int64_t>(free.gpus.count(), 0);
  const int64_t all = usable;
  if (reserve_per_gpu.cpu > MilliCpu(0)) {
    usable = std::min(usable, std::max<int64_t>(free.cpu.count(), 0) / reserve_per_gpu.cpu.count());
  }
  if (reserve_per_gpu.memory > Bytes(0)) {
    usable = std::min(usable,
                      std::max<int64_t>(free.memory.count(), 0) / reserve_per_gpu.memory.count());
  }
  return Gpus(all - usable);
}

std::optional<NodeIndex> PlaceOne(const ClusterSnapshot& snapshot, const Pod& pod,
                                  const ReserveRule& reserve) {
  const BestFit best_fit(pod, snapshot, reserve);
  std::optional<NodeIndex> best;
  FitRank best_rank;
  for (NodeIndex index = 0; index < snapshot.size(); ++index) {
    const NodeState& node = snapshot.node(index);
    if (!CheckFit(pod, node).none()) continue;
    const FitRank rank = best_fit.Rank(node);
    if (!best || rank < best_rank ||
        (rank == best_rank && node.detail->name < snapshot.node(*best).detail->name)) {
      best = index;
      best_rank = rank;
    }
  }
  return best;
}

}  // namespace synergy
