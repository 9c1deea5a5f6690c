#include "engine/profiler/memory_learning.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace synergy {
namespace {

// Makes the point look as if its CPU had been the limit.
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
    // Drop a recalled lower bound, too: storage may have been the cause.
    if (point.starved || (point.certainty == PointCertainty::kAtLeast && point.used <= 0)) {
      CountAsBound(point);
      measurement.complete = measurement.confirmed = false;
    }
    AddPoint(measurement.points, point);
  }
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
