#include "allocation/best_fit.h"

#include <algorithm>

#include "cluster/fit.h"

namespace synergy {
namespace {

int64_t Part(int64_t whole, int64_t parts, int64_t of) {
  __extension__ using Wide = __int128;
  return static_cast<int64_t>(static_cast<Wide>(whole) * parts / of);
}

// What a GPU that stays free weighs against what is left beside it: enough to keep nodes whole for
// jobs with many GPUs, little enough to let demands decide (docs/placement.md).
constexpr double kFreeGpuWeight = 0.25;

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
  if (rule.per_gpu) return *rule.per_gpu;
  const ResourceVector& least = snapshot.least_per_gpu();
  const ResourceVector& largest = snapshot.largest_node();
  const int64_t gpus = largest.gpus.count();
  return {least.gpus, std::min(least.cpu, MilliCpu(largest.cpu.count() / gpus)),
          std::min(least.memory, Bytes(largest.memory.count() / gpus))};
}

BestFitStep::BestFitStep(const ResourceVector& demand, const ResourceVector& reserve_per_gpu,
                         const ResourceVector& largest)
    : demand_(demand),
      reserve_per_gpu_(reserve_per_gpu),
      gpu_unit_(1.0 / static_cast<double>(largest.gpus.count())),
      cpu_unit_(1.0 / static_cast<double>(largest.cpu.count())),
      memory_unit_(1.0 / static_cast<double>(largest.memory.count())) {}

FitRank BestFitStep::Rank(const ResourceVector& free) const {
  const int64_t left = std::max<int64_t>((free.gpus - demand_.gpus).count(), 0);
  const auto room = [&](auto available, auto demand, auto reserve) {
    const auto zero = decltype(available)(0);
    const auto need = demand + reserve * left;
    // Overcommitted is no worse than full to a pod that needs nothing there: it fits all the same.
    return (need > zero ? available - need : std::max(available, zero) - need).count();
  };
  const int64_t cpu = room(free.cpu, demand_.cpu, reserve_per_gpu_.cpu);
  const int64_t memory = room(free.memory, demand_.memory, reserve_per_gpu_.memory);
  if (cpu < 0 || memory < 0) {
    return {FitTier::kShort, static_cast<double>(std::max<int64_t>(-cpu, 0)) * cpu_unit_ +
                                 static_cast<double>(std::max<int64_t>(-memory, 0)) * memory_unit_};
  }
  const auto free_gpus = static_cast<double>(left);
  const double beside =
      static_cast<double>(cpu) * cpu_unit_ + static_cast<double>(memory) * memory_unit_;
  return {FitTier::kRoom, beside / (free_gpus + 1) + kFreeGpuWeight * free_gpus * gpu_unit_};
}

BestFit::BestFit(const Pod& pod, const ClusterSnapshot& snapshot, const ReserveRule& reserve)
    : step_(pod.PlanningDemand(), ReservePerGpu(snapshot, reserve), snapshot.largest_node()) {}

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
