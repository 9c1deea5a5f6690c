#include "profile/measured/curve_probe.h"

#include <algorithm>
#include <vector>

#include "profile/measured/measurement_plan.h"

namespace synergy {
namespace {

// If a probe gives a pod more CPU than it uses, the probe's amount is this multiple of that use.
constexpr double kProbeMargin = 1.2;
// A pod that uses more than this fraction of what it could have uses most of it.
constexpr double kMostOfIt = 0.8;
// A probe closer than this to a known amount reveals little.
constexpr double kInformative = 0.85;
constexpr double kPlanThreshold = 0.1;
constexpr MilliCpu kLeastProbeStep = MilliCpu(10);

// Returns the largest amount at which it was slower than its best; 0 if there is none.
MilliCpu LargestSlow(const CurvePoints& points, double best, double agreement) {
  MilliCpu largest;
  for (const CurvePoint& point : points) {
    if (point.throughput < best * (1 - agreement)) largest = std::max(largest, point.cpu);
  }
  return largest;
}

}  // namespace

std::optional<ProbePlan> NextProbe(const CurvePoints& points, const ProbeRange& range,
                                   double agreement) {
  if (points.empty() || range.used <= 0) return std::nullopt;
  const double best = BestOf(points);
  const double amount = InCores(range.amount);
  const MilliCpu lowest = std::max(MilliCpu((range.floor.count() + 1) / 2), kLeastProbe);
  const auto model = Explain(points, agreement);
  const auto expected = [&](MilliCpu cpu) {
    if (model) return std::min(model->At(cpu), best);
    return std::min(best, best * InCores(cpu) / range.used);
  };
  const auto plan = [&](MilliCpu cpu) { return ProbePlan{cpu, expected(cpu)}; };

  // The least amount known to be enough; initially the larger of what it has and what it uses.
  MilliCpu enough = std::max(range.amount, FromCores(range.used));
  for (const CurvePoint& point : points) {
    if (point.quota && point.throughput >= best * (1 - agreement))
      enough = std::min(enough, point.cpu);
  }
  const MilliCpu slow = LargestSlow(points, best, agreement);
  const bool suspicious = !range.bound && IsWholeNumberOfCores(range.used);

  // Confirm that the training does not need what it does not use. A training with a serial part
  // does not always use all of its CPU, but is still slower with less.
  const bool serial = model && model->kind == CurveModel::Kind::kSerial;
  if (!range.bound && !serial && range.used < kMostOfIt * amount) {
    MilliCpu cpu = std::max(FromCores(kProbeMargin * range.used), kLeastProbe);
    const MilliCpu half = FromCores(range.used / 2);
    if (suspicious && half >= lowest && slow == MilliCpu(0)) cpu = half;
    if (InCores(enough) > 1.1 * InCores(cpu) && !SameAmount(enough, cpu)) {
      if (slow < cpu && FindNear(points, cpu) == nullptr) return plan(cpu);
      // The training does need more, so try an amount in between.
      const MilliCpu middle((slow.count() + enough.count()) / 2);
      if (InCores(enough - slow) > 0.2 * InCores(enough) && FindNear(points, middle) == nullptr)
        return plan(middle);
    }
  }

  // Confirm the slope with half of the assumed need.
  const MilliCpu knee = std::min(enough, std::max(FromCores(range.used), kLeastProbe));
  const MilliCpu half = std::max(MilliCpu(knee.count() / 2), lowest);
  const bool is_informative = InCores(half) <= kInformative * InCores(knee);
  const bool any_below = std::any_of(points.begin(), points.end(), [&](const CurvePoint& point) {
    return point.quota && InCores(point.cpu) <= kInformative * InCores(knee);
  });
  if (!any_below) {
    if (is_informative) return plan(half);
    return std::nullopt;
  }
  // At its best speed it uses more than the slope requires: it busy-waits, or the curve bends.
  if (model && !serial) {
    const MilliCpu bend = FromCores(kKneeMargin * model->cpu_seconds * best);
    const bool open = !range.bound && InCores(bend) < kSameKnee * range.used && bend < enough &&
                      bend >= lowest && FindNear(points, bend) == nullptr;
    if (open && InCores(enough) > 1.1 * InCores(bend)) return plan(bend);
    return std::nullopt;
  }
  if (model) return std::nullopt;

  // Neither model fits, so measure point by point.
  const MilliCpu least = std::min(points.front().cpu, points.back().cpu);
  if (points.front().throughput >= best * (1 - agreement)) {
    const MilliCpu next = std::max(MilliCpu(least.count() / 2), lowest);
    if (InCores(next) <= kInformative * InCores(least)) return plan(next);
    return std::nullopt;
  }
  std::vector<CpuPoint> measured;
  measured.reserve(points.size());
  for (const CurvePoint& point : points) measured.push_back({point.cpu, point.throughput});
  const MilliCpu step = std::max(MilliCpu(knee.count() / 16), kLeastProbeStep);
  const auto bisect = MeasurementPlan::Create(
      {.least = least, .most = points.back().cpu, .step = step, .threshold = kPlanThreshold});
  if (!bisect) return std::nullopt;
  const auto next = bisect->Next(measured);
  if (!next || *next < lowest || *next > enough || FindNear(points, *next) != nullptr)
    return std::nullopt;
  return ProbePlan{*next, Interpolated(points, *next)};
}

}  // namespace synergy
