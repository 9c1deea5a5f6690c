#include "optimus/speed_curve.h"

#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "optimus/least_squares.h"

namespace synergy {
namespace {

// Returns the terms of the denominator; the caller multiplies each by its factor.
std::vector<double> Terms(SpeedForm form, double batch, const Tasks& tasks) {
  const double w = tasks.workers;
  const double p = tasks.servers;
  switch (form) {
    case SpeedForm::kSynchronous:
      return {batch / w, 1, w / p, w, p};
    case SpeedForm::kAsynchronous:
      return {1, w / p, w, p};
    case SpeedForm::kAllReduce:
      return {batch / w, 1, w};
  }
  return {};
}

// Returns the numerator.
double Above(SpeedForm form, const Tasks& tasks) {
  return form == SpeedForm::kAsynchronous ? tasks.workers : 1;
}

}  // namespace

double SpeedCurve::At(const Tasks& tasks) const {
  const std::vector<double> terms = Terms(form, batch, tasks);
  return Above(form, tasks) / std::inner_product(terms.begin(), terms.end(), factors.begin(), 0.0);
}

size_t FactorsOf(SpeedForm form) { return Terms(form, 1, {1, 1}).size(); }

std::optional<SpeedCurve> FitSpeed(SpeedForm form, double batch,
                                   std::span<const SpeedPoint> points) {
  std::vector<std::vector<double>> columns(FactorsOf(form));
  std::vector<double> target;
  std::set<std::pair<int, int>> seen;
  for (const SpeedPoint& point : points) {
    if (!(point.speed > 0) || !std::isfinite(point.speed)) continue;
    const bool servers = form != SpeedForm::kAllReduce;
    seen.emplace(servers ? point.tasks.servers : 0, point.tasks.workers);
    // The row times the speed is 1 if the curve passes through the point.
    const std::vector<double> terms = Terms(form, batch, point.tasks);
    for (size_t j = 0; j < terms.size(); ++j) {
      columns[j].push_back(terms[j] * point.speed / Above(form, point.tasks));
    }
    target.push_back(1);
  }
  if (seen.size() < columns.size()) return std::nullopt;
  return SpeedCurve{
      .form = form, .batch = batch, .factors = NonNegativeLeastSquares(columns, target).x};
}

}  // namespace synergy
