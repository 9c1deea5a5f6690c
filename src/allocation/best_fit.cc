#include "allocation/best_fit.h"

#include <algorithm>

#include "cluster/state/fit.h"

namespace synergy {
namespace {

// Weight of a GPU that stays free, relative to the CPU and memory left with it. It is large enough
// to keep nodes whole for jobs with many GPUs, and small enough to let demands decide
// (docs/internals/placement.md).
constexpr double kFreeGpuWeight = 0.25;

}  // namespace

StorageAsk AskOfStorage(const Pod& pod, const StorageNeeds* storage) {
  return {.known = storage, .need = storage == nullptr ? 0 : storage->NeedOf(pod)};
}

ResourceVector ReservePerGpu(const ClusterSnapshot& snapshot, const ReserveRule& rule) {
  if (rule.per_gpu) return *rule.per_gpu;
  const ResourceVector& largest = snapshot.largest_node();
  return LesserOf(snapshot.least_per_gpu(), PartOf(largest, Gpus(1), largest.gpus));
}

BestFitStep::BestFitStep(const ResourceVector& demand, const ResourceVector& reserve_per_gpu,
                         const ResourceVector& largest)
    : demand_(demand),
      reserve_per_gpu_(reserve_per_gpu),
      gpu_unit_(1.0 / static_cast<double>(largest.gpus.count())) {
  ResourceVector::ForEachDivided([&, unit = units_.begin()](auto member) mutable {
    *unit++ = 1.0 / static_cast<double>((largest.*member).count());
  });
}

FitRank BestFitStep::Rank(const ResourceVector& free, std::optional<double> storage_room) const {
  const int64_t left = std::max<int64_t>((free.gpus - demand_.gpus).count(), 0);
  double beside = 0;
  double short_of = 0;
  ResourceVector::ForEachDivided([&, unit = units_.begin()](auto member) mutable {
    const int64_t need = (demand_.*member + reserve_per_gpu_.*member * left).count();
    const int64_t available = (free.*member).count();
    // A pod that needs nothing of a dimension fits on an overcommitted node as well as on a full
    // one.
    const int64_t room = WrapSubtract(need > 0 ? available : std::max<int64_t>(available, 0), need);
    const double in_nodes = static_cast<double>(room) * *unit++;
    (room < 0 ? short_of : beside) += in_nodes;
  });
  if (storage_room) (*storage_room < 0 ? short_of : beside) += *storage_room;
  if (short_of < 0) return {FitTier::kShort, -short_of};
  const auto free_gpus = static_cast<double>(left);
  return {FitTier::kRoom, beside / (free_gpus + 1) + kFreeGpuWeight * free_gpus * gpu_unit_};
}

BestFit::BestFit(const Pod& pod, const ClusterSnapshot& snapshot, const ReserveRule& reserve,
                 StorageAsk storage)
    : step_(pod.PlanningDemand(), ReservePerGpu(snapshot, reserve), snapshot.largest_node()),
      headroom_(reserve.headroom),
      gpus_(pod.requests.main.gpus.count()),
      slices_(pod.slices),
      storage_(storage) {}

std::optional<double> BestFit::StorageRoom(const NodeState& node) const {
  if (storage_.known == nullptr) return std::nullopt;
  const std::optional<double> left = storage_.known->LeftOn(node);
  if (!left) return std::nullopt;
  const double room = storage_.need > 0 ? *left - storage_.need : std::max(*left, 0.0);
  return room / storage_.known->MostBandwidth();
}

double BestFit::UsersOfGpu(const NodeState& node) const {
  const GpuKinds& kinds = node.detail->gpu_kinds;
  const int64_t taken = (SlicesTaken(node) + slices_).count();
  return static_cast<double>(taken) *
         static_cast<double>(std::max<int64_t>(kinds.slices_per_gpu, 1)) /
         static_cast<double>(std::max<int64_t>(kinds.slices.count(), 1));
}

Gpus StrandedGpus(const NodeState& node, const ResourceVector& reserve_per_gpu) {
  const ResourceVector free = node.Free();
  int64_t usable = std::max<int64_t>(free.gpus.count(), 0);
  const int64_t all = usable;
  ResourceVector::ForEachDivided([&](auto member) {
    const int64_t reserve = (reserve_per_gpu.*member).count();
    if (reserve <= 0) return;
    usable = std::min(usable, std::max<int64_t>((free.*member).count(), 0) / reserve);
  });
  return Gpus(all - usable);
}

}  // namespace synergy
