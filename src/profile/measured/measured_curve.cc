#include "profile/measured/measured_curve.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace synergy {
namespace {

// A curve is flat if the training is as fast with the largest amount divided by this factor.
constexpr double kFlat = 1.2;

bool Close(double a, double b, double agreement) {
  return std::abs(a - b) <= agreement * std::max(a, b);
}

bool Explains(const CurveModel& model, const CurvePoints& points, double agreement) {
  return std::all_of(points.begin(), points.end(), [&](const CurvePoint& point) {
    return Close(model.At(point.cpu), point.throughput, agreement);
  });
}

// Fits 1 / t = a + b / c by least squares of the relative error.
std::optional<CurveModel> FitSerial(const CurvePoints& points) {
  double aa = 0;
  double ab = 0;
  double bb = 0;
  double a1 = 0;
  double b1 = 0;
  for (const CurvePoint& point : points) {
    const double x = point.throughput;
    const double y = point.throughput / InCores(point.cpu);
    aa += x * x;
    ab += x * y;
    bb += y * y;
    a1 += x;
    b1 += y;
  }
  const double determinant = aa * bb - ab * ab;
  if (determinant <= 1e-9 * aa * bb) return std::nullopt;
  CurveModel model{.kind = CurveModel::Kind::kSerial};
  model.serial = (a1 * bb - b1 * ab) / determinant;
  model.parallel = (aa * b1 - ab * a1) / determinant;
  if (model.serial < 0 || model.parallel <= 0) return std::nullopt;
  return model;
}

// Fits a line up to the plateau. Tries several estimates of an iteration's cost, and returns the
// first model that explains all points.
std::optional<CurveModel> FitPlateau(const CurvePoints& points, double agreement) {
  const bool ends = IsFlat(points, agreement) ||
                    std::any_of(points.begin(), points.end(),
                                [](const CurvePoint& point) { return !point.bound; });
  CurveModel model;
  model.best = ends ? Plateau(points, agreement) : std::numeric_limits<double>::infinity();
  std::vector<double> costs;
  if (const auto cost = CpuSecondsOf(points)) costs.push_back(*cost);
  double sum = 0;
  int count = 0;
  for (const CurvePoint& point : points) {
    if (!point.bound || point.throughput >= model.best * (1 - agreement)) continue;
    sum += InCores(point.cpu) / point.throughput;
    ++count;
  }
  if (count > 0) costs.push_back(sum / count);
  // If only the plateau was seen, use an upper bound of the cost.
  const CurvePoint& least = points.front();
  if (least.quota && least.throughput >= model.best * (1 - agreement))
    costs.push_back(InCores(least.cpu) / least.throughput);
  for (const double cost : costs) {
    model.cpu_seconds = cost;
    if (cost > 0 && Explains(model, points, agreement)) return model;
  }
  return std::nullopt;
}

// Returns the points up to `most`, plus a point at `most` that those above imply.
CurvePoints Within(const CurvePoints& points, MilliCpu most) {
  if (most <= MilliCpu(0) || points.back().cpu <= most) return points;
  CurvePoints within;
  CurvePoint last = points.back();
  for (const CurvePoint& point : points) {
    if (point.cpu <= most && !SameAmount(point.cpu, most)) within.push_back(point);
  }
  const double speed = last.bound ? Interpolated(points, most) : last.throughput;
  last.used *= speed / last.throughput;
  last.throughput = speed;
  last.cpu = most;
  within.push_back(last);
  return within;
}

}  // namespace

double CurveModel::At(MilliCpu cpu) const {
  if (kind == Kind::kPlateau) return std::min(best, InCores(cpu) / cpu_seconds);
  return 1 / (serial + parallel / InCores(cpu));
}

double Plateau(const CurvePoints& points, double agreement) {
  const double best = BestOf(points);
  double sum = 0;
  int count = 0;
  for (const CurvePoint& point : points) {
    if (!Close(point.throughput, best, agreement)) continue;
    sum += point.throughput;
    ++count;
  }
  return count > 0 ? sum / count : best;
}

bool IsFlat(const CurvePoints& points, double agreement) {
  const double best = BestOf(points);
  return std::any_of(points.begin(), points.end(), [&](const CurvePoint& point) {
    return point.quota && InCores(point.cpu) * kFlat < InCores(points.back().cpu) &&
           point.throughput >= best * (1 - agreement);
  });
}

std::optional<CurveModel> Explain(const CurvePoints& points, double agreement) {
  if (points.empty()) return std::nullopt;
  if (const auto plateau = FitPlateau(points, agreement)) return plateau;
  if (points.size() <= 2) return std::nullopt;
  const auto serial = FitSerial(points);
  if (serial && Explains(*serial, points, agreement)) return serial;
  return std::nullopt;
}

bool IsCensored(const CurvePoints& points, double agreement) {
  if (points.empty()) return false;
  // With a serial part, the parallel part of each iteration only looks like busy workers.
  const auto model = Explain(points, agreement);
  if (model && model->kind == CurveModel::Kind::kSerial) return false;
  const double best = BestOf(points);
  return std::any_of(points.begin(), points.end(), [best](const CurvePoint& point) {
    return point.certainty == PointCertainty::kAtLeast && point.throughput >= 0.9 * best;
  });
}

std::vector<MeasuredPoint> Claim(const CurvePoints& seen, const CurveClaimRules& rules) {
  std::vector<MeasuredPoint> claimed;
  if (seen.empty()) return claimed;
  const CurvePoints points = Within(seen, rules.node);
  for (const CurvePoint& point : points) {
    claimed.push_back({point.cpu, point.throughput, point.certainty, point.windows, point.spread});
  }
  const double best = BestOf(points);
  const CurvePoint& most = points.back();
  const auto model = Explain(points, rules.agreement);
  const bool serial = model && model->kind == CurveModel::Kind::kSerial;
  const bool climbs = serial || (most.bound && !IsFlat(points, rules.agreement) &&
                                 most.throughput >= best * (1 - rules.agreement));
  if (climbs) {
    // Guesses above the measured points are optimistic, because a pod that gets more CPU is
    // measured with it.
    if (InCores(rules.node) > 1.1 * InCores(most.cpu)) {
      const double guess =
          model ? model->At(rules.node) : most.throughput * InCores(rules.node) / InCores(most.cpu);
      claimed.push_back({rules.node, std::max(guess, most.throughput), PointCertainty::kGuess});
    }
    return claimed;
  }
  // The CPU used at the best speed lies between an amount that was too small and one that was more
  // than enough.
  const auto cost = CpuSecondsOf(points);
  if (!cost || (!rules.estimate && IsCensored(points, rules.agreement)) || !model ||
      model->kind != CurveModel::Kind::kPlateau)
    return claimed;
  const double plateau = Plateau(points, rules.agreement);
  const MilliCpu knee = FromCores(kKneeMargin * model->cpu_seconds * plateau);
  const auto above = std::find_if(points.begin(), points.end(), [&](const CurvePoint& point) {
    return point.throughput >= best * (1 - rules.agreement);
  });
  const bool below = above != points.begin();
  if (above->used > 0 && InCores(knee) < kSameKnee * above->used) return claimed;
  const bool spins = IsWholeNumberOfCores(*cost * best) && !below;
  if (spins || SameAmount(knee, above->cpu) || knee > above->cpu) return claimed;
  // No unobserved point lowers a pod below its fair share.
  if (knee < rules.fair_share && !(rules.confirmed && below && above->quota)) return claimed;
  const auto at = std::find_if(claimed.begin(), claimed.end(),
                               [&](const MeasuredPoint& point) { return point.cpu >= above->cpu; });
  if (at != claimed.begin() && std::prev(at)->cpu >= knee) return claimed;
  claimed.insert(at, {knee, plateau, PointCertainty::kGuess});
  return claimed;
}

}  // namespace synergy
