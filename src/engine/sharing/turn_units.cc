#include "engine/sharing/turn_units.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include "engine/sharing/turn_planner.h"

namespace synergy {
namespace {

bool MayBeSuspended(const TurnPod& pod) {
  const TurnReading* const reading = ReadingOf(pod);
  return pod.writable && reading != nullptr && pod.report->age <= TurnPlanner::kOldReport &&
         pod.pod->fungible && !pod.pod->deleting && reading->gpus.size() == 1 &&
         reading->refusal.empty();
}

}  // namespace

bool TurnUnit::IsWhole() const {
  if (!pods.front()->pod->gang) return true;
  size_t others = 0;
  for (const TurnPod* pod : pods) {
    if (pod->pod->deleting) return false;
    others = std::max(others, pod->other_members);
  }
  return pods.size() + others >= static_cast<size_t>(pods.front()->pod->gang->size);
}

bool TurnUnit::MayShare() const {
  const auto may = [](const TurnPod* pod) { return MayBeSuspended(*pod); };
  if (!IsWhole() || !std::all_of(pods.begin(), pods.end(), may)) return false;
  std::set<GpuBlock> blocks;
  for (const TurnPod* pod : pods) blocks.insert(BlockOf(*pod));
  return blocks.size() == pods.size();
}

double TurnUnit::Iterations() const {
  double most = 0;
  for (const TurnPod* pod : pods) most = std::max(most, pod->report->pod.iterations);
  return most;
}

bool TurnUnit::IsIdle() const {
  return std::all_of(pods.begin(), pods.end(), [](const TurnPod* pod) {
    const std::optional<IdleReading>& idle = pod->report->pod.idle;
    return idle && idle->idle >= kIdleToShow;
  });
}

int32_t TurnUnit::Priority() const {
  int32_t highest = pods.front()->pod->priority;
  for (const TurnPod* pod : pods) highest = std::max(highest, pod->pod->priority);
  return highest;
}

const std::string& UnitOf(const Pod& pod) { return pod.IsOfGang() ? pod.gang->name : pod.uid; }

TurnUnits UnitsOf(const std::map<std::string, std::vector<TurnPod>>& pods) {
  TurnUnits units;
  for (const auto& [node, here] : pods) {
    for (const TurnPod& pod : here) {
      if (pod.pod->terminal || (pod.pod->gang && !pod.pod->IsOfGang())) continue;
      units[UnitOf(*pod.pod)].pods.push_back(&pod);
    }
  }
  return units;
}

const TurnReading* ReadingOf(const TurnPod& pod) {
  return pod.report && pod.report->pod.turn ? &*pod.report->pod.turn : nullptr;
}

GpuBlock BlockOf(const TurnPod& pod) {
  return {pod.pod->node + "/" + ReadingOf(pod)->gpus.front(), 0};
}

}  // namespace synergy
