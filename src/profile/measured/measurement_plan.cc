#include "profile/measured/measurement_plan.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace synergy {
namespace {

bool Has(const std::vector<CpuPoint>& points, MilliCpu cpu) {
  return std::any_of(points.begin(), points.end(),
                     [cpu](const CpuPoint& point) { return point.cpu == cpu; });
}

}  // namespace

Result<MeasurementPlan> MeasurementPlan::Create(const Range& range) {
  if (range.least <= MilliCpu(0) || range.least > range.most)
    return Fail(ErrorCode::kInvalid, "the range of CPU amounts to measure is empty");
  if (range.step <= MilliCpu(0))
    return Fail(ErrorCode::kInvalid, "the step between CPU amounts to measure must be above 0");
  if (!std::isfinite(range.threshold) || range.threshold < 0)
    return Fail(ErrorCode::kInvalid, "the threshold must be a number and not negative");
  return MeasurementPlan(range);
}

std::optional<MilliCpu> MeasurementPlan::Next(std::span<const CpuPoint> measured) const {
  std::vector<CpuPoint> points;
  for (const CpuPoint& point : measured) {
    if (point.cpu >= range_.least && point.cpu <= range_.most && std::isfinite(point.throughput) &&
        point.throughput >= 0) {
      points.push_back(point);
    }
  }
  if (!Has(points, range_.most)) return range_.most;
  if (!Has(points, range_.least)) return range_.least;

  std::sort(points.begin(), points.end(),
            [](const CpuPoint& a, const CpuPoint& b) { return a.cpu < b.cpu; });
  std::optional<MilliCpu> next;
  double widest = 0;
  for (size_t i = 1; i < points.size(); ++i) {
    const CpuPoint& low = points[i - 1];
    const CpuPoint& high = points[i];
    const MilliCpu gap = high.cpu - low.cpu;
    const double difference = std::abs(high.throughput - low.throughput);
    if (gap <= range_.step || difference <= widest ||
        difference < range_.threshold * std::min(low.throughput, high.throughput)) {
      continue;
    }
    widest = difference;
    const int64_t steps = std::max<int64_t>(gap.count() / range_.step.count() / 2, 1);
    next = low.cpu + range_.step * steps;
  }
  return next;
}

}  // namespace synergy
