#include "profile/measured/curve_probe.h"

#include <algorithm>
#include <vector>

#include "profile/measured/measurement_plan.h"

namespace synergy {
namespace {

// If a probe gives a pod more CPU than it uses, the probe's amount is this multiple of that use.
constexpr double kProbeMargin = 1.2;
// A pod uses most of its CPU if it uses more than this fraction of the amount that it could have.
constexpr double kMostOfIt = 0.8;
// A probe closer than this to a known amount reveals little.
constexpr double kInformative = 0.85;
constexpr double kPlanThreshold = 0.1;
constexpr MilliCpu kLeastProbeStep = MilliCpu(10);

// Returns the largest amount at which the training was slower than `best`; 0 if there is none.
MilliCpu LargestSlow(const CurvePoints& points, double best, double agreement) {
  MilliCpu largest;
  for (const CurvePoint& point : points) {
    if (point.throughput < best * (1 - agreement)) largest = std::max(largest, point.cpu);
  }
  return largest;
}

// Describes a curve before the next probe.
struct Known {
  const CurvePoints& points;
  const ProbeRange& range;
  double agreement;
  double best;
  std::optional<CurveModel> model;
  MilliCpu lowest;  // the least that a probe may give
  // The least amount known to be enough; initially the larger of the pod's amount and its use.
  MilliCpu enough;
  MilliCpu slow;  // the largest amount known not to be enough

  ProbePlan Plan(MilliCpu cpu) const {
    const double expected = model ? model->At(cpu) : best * InCores(cpu) / range.used;
    return {cpu, std::min(expected, best)};
  }
  bool IsSerial() const { return model && model->kind == CurveModel::Kind::kSerial; }
};

Known Know(const CurvePoints& points, const ProbeRange& range, double agreement) {
  Known known{.points = points,
              .range = range,
              .agreement = agreement,
              .best = BestOf(points),
              .model = Explain(points, agreement),
              .lowest = std::max(MilliCpu((range.floor.count() + 1) / 2), kLeastProbe),
              .enough = std::max(range.amount, FromCores(range.used)),
              .slow = {}};
  for (const CurvePoint& point : points) {
    if (point.quota && point.throughput >= known.best * (1 - agreement))
      known.enough = std::min(known.enough, point.cpu);
  }
  known.slow = LargestSlow(points, known.best, agreement);
  return known;
}

// Confirms that the training does not need the CPU that it does not use. A training with a serial
// part does not always use all of its CPU, but is still slower with less.
std::optional<ProbePlan> ConfirmUse(const Known& known) {
  const ProbeRange& range = known.range;
  if (range.bound || known.IsSerial() || range.used >= kMostOfIt * InCores(range.amount))
    return std::nullopt;
  MilliCpu cpu = std::max(FromCores(kProbeMargin * range.used), kLeastProbe);
  const MilliCpu half = FromCores(range.used / 2);
  const bool suspicious = IsWholeNumberOfCores(range.used);
  if (suspicious && half >= known.lowest && known.slow == MilliCpu(0)) cpu = half;
  if (InCores(known.enough) <= 1.1 * InCores(cpu) || SameAmount(known.enough, cpu))
    return std::nullopt;
  if (known.slow < cpu && FindNear(known.points, cpu) == nullptr) return known.Plan(cpu);
  // The training needs more than it uses, so try an amount in between.
  const MilliCpu middle((known.slow.count() + known.enough.count()) / 2);
  const bool is_wide = InCores(known.enough - known.slow) > 0.2 * InCores(known.enough);
  if (!is_wide || FindNear(known.points, middle) != nullptr) return std::nullopt;
  return known.Plan(middle);
}

// At its best speed the training uses more than the slope requires: it busy-waits, or the curve
// bends.
std::optional<ProbePlan> ProbeBend(const Known& known) {
  const MilliCpu bend = FromCores(kKneeMargin * known.model->cpu_seconds * known.best);
  const bool open = !known.range.bound && InCores(bend) < kSameKnee * known.range.used &&
                    bend < known.enough && bend >= known.lowest &&
                    FindNear(known.points, bend) == nullptr;
  if (!open || InCores(known.enough) <= 1.1 * InCores(bend)) return std::nullopt;
  return known.Plan(bend);
}

// Measures point by point, because no model fits.
std::optional<ProbePlan> ProbeBetween(const Known& known, MilliCpu knee) {
  const CurvePoints& points = known.points;
  const MilliCpu least = std::min(points.front().cpu, points.back().cpu);
  if (points.front().throughput >= known.best * (1 - known.agreement)) {
    const MilliCpu next = std::max(MilliCpu(least.count() / 2), known.lowest);
    if (InCores(next) > kInformative * InCores(least)) return std::nullopt;
    return known.Plan(next);
  }
  std::vector<CpuPoint> measured;
  measured.reserve(points.size());
  for (const CurvePoint& point : points) measured.push_back({point.cpu, point.throughput});
  const MilliCpu step = std::max(MilliCpu(knee.count() / 16), kLeastProbeStep);
  const auto bisect = MeasurementPlan::Create(
      {.least = least, .most = points.back().cpu, .step = step, .threshold = kPlanThreshold});
  if (!bisect) return std::nullopt;
  const auto next = bisect->Next(measured);
  if (!next || *next < known.lowest || *next > known.enough || FindNear(points, *next) != nullptr)
    return std::nullopt;
  return ProbePlan{*next, Interpolated(points, *next)};
}

}  // namespace

std::optional<ProbePlan> NextProbe(const CurvePoints& points, const ProbeRange& range,
                                   double agreement) {
  if (points.empty() || range.used <= 0) return std::nullopt;
  const Known known = Know(points, range, agreement);
  if (const std::optional<ProbePlan> plan = ConfirmUse(known)) return plan;
  // Confirm the slope with half of the assumed need.
  const MilliCpu knee = std::min(known.enough, std::max(FromCores(range.used), kLeastProbe));
  const MilliCpu half = std::max(MilliCpu(knee.count() / 2), known.lowest);
  const bool any_below = std::any_of(points.begin(), points.end(), [&](const CurvePoint& point) {
    return point.quota && InCores(point.cpu) <= kInformative * InCores(knee);
  });
  if (!any_below) {
    if (InCores(half) > kInformative * InCores(knee)) return std::nullopt;
    return known.Plan(half);
  }
  if (!known.model) return ProbeBetween(known, knee);
  return known.IsSerial() ? std::nullopt : ProbeBend(known);
}

}  // namespace synergy
