#include "engine/profiler/memory_learning.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "profile/measured/memory_raise.h"

namespace synergy {
namespace {

// Changes the point to one that its used CPU limited.
void CountAsBound(CurvePoint& point) {
  point.cpu = FromCores(point.used);
  point.bound = true;
  point.quota = point.starved = false;
  point.certainty = PointCertainty::kExact;
}

}  // namespace

void LearnMemory(const ProfilerMemory& memory, Measurement& measurement) {
  const bool was_known = measurement.memory.has_value();
  for (const std::string& uid : measurement.pods) {
    const auto seen = MemoryOf(memory.pods.at(uid).memory);
    if (seen)
      measurement.memory = measurement.memory ? Combined(*measurement.memory, *seen) : *seen;
  }
  if (was_known || !measurement.memory || measurement.memory->data_set <= Bytes(0)) return;
  for (CurvePoint& point : std::exchange(measurement.points, {})) {
    // Change a recalled lower bound, too: storage may have been its cause.
    if (point.starved || (point.certainty == PointCertainty::kAtLeast && point.used <= 0)) {
      CountAsBound(point);
      measurement.complete = measurement.confirmed = false;
    }
    AddPoint(measurement.points, point);
  }
}

void EndRaise(const ProfilerPass& pass, const MeasurementKey& key, Measurement& measurement) {
  if (!measurement.memory || !measurement.memory->confirmed) return;
  const auto published = pass.catalog.Find(key.profile_namespace, NameOf(key));
  if (!published || !published->raise) return;
  const MemoryRaise& raise = *published->raise;
  if (measurement.memory->raise_over == raise.at) return;
  const auto has_outlived = [&](const std::string& uid) {
    const WatchedPod& watched = pass.memory.pods.at(uid);
    const MemoryStudy& study = watched.memory;
    const auto seen = MemoryOf(study);
    if (!seen || !seen->confirmed) return false;
    const std::optional<Bytes>& limit = watched.pod->fungible->memory_limit;
    return (!limit || *limit >= WithMargin(raise.process)) && study.first->use.at >= raise.at &&
           study.last->use.at - study.first->use.at >= raise.ran;
  };
  if (std::any_of(measurement.pods.begin(), measurement.pods.end(), has_outlived))
    measurement.memory->raise_over = raise.at;
}

bool IsStarved(const CurvePoint& point, const WatchedPod& pod) {
  return !point.bound && pod.memory.waits;
}

void MarkStarved(const Measurement& measurement, const WatchedPod& pod, CurvePoint& point) {
  if (!IsStarved(point, pod)) return;
  if (measurement.memory && measurement.memory->data_set > Bytes(0)) {
    CountAsBound(point);
    return;
  }
  point.starved = true;
  point.certainty = PointCertainty::kAtLeast;
}

bool IsUninformative(CurvePoints& points, const CurvePoint& seen) {
  if (seen.starved) {
    return std::any_of(points.begin(), points.end(), [&](const CurvePoint& known) {
      return known.cpu <= seen.cpu && known.throughput > seen.throughput;
    });
  }
  std::erase_if(points, [&](const CurvePoint& known) {
    return known.starved && known.cpu >= seen.cpu && known.throughput < seen.throughput;
  });
  return false;
}

}  // namespace synergy
