#include "optimus/loss_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "optimus/least_squares.h"

namespace synergy {
namespace {

constexpr size_t kNeighbours = 3;  // on each side
constexpr size_t kLeastPoints = 3;
constexpr size_t kSegments = 3;
constexpr double kSegmentFactor = 4;
// A loss has converged once kEpochs epochs lower it by less than kGain; the search covers up to
// kMostEpochs.
constexpr double kEpochs = 10;
constexpr double kGain = 0.05;
constexpr double kMostEpochs = 1e9;
// The search for ratio = b / a: its range in powers of ten, where the last epoch is 1, and its
// steps.
constexpr double kLeastRatio = -6;
constexpr double kMostRatio = 4;
constexpr int kSteps = 60;
constexpr int kRefinements = 50;  // each keeps 0.62 of the interval

struct Scaled {
  std::vector<double> epochs;   // the last is 1
  std::vector<double> weights;  // of differences, not of their squares
  std::vector<double> target;   // weighted losses, of which the greatest is 1
  double epoch = 1;             // unit of `epochs`
  double loss = 1;              // unit of `target`
};

Scaled Scale(std::span<const LossPoint> points) {
  Scaled scaled;
  scaled.epoch = points.back().epoch;
  scaled.loss = std::max_element(points.begin(), points.end(), [](auto& one, auto& other) {
                  return one.loss < other.loss;
                })->loss;
  const size_t segment = (points.size() + kSegments - 1) / kSegments;
  for (size_t i = 0; i < points.size(); ++i) {
    scaled.epochs.push_back(points[i].epoch / scaled.epoch);
    scaled.weights.push_back(std::pow(kSegmentFactor, static_cast<double>(i / segment)));
    scaled.target.push_back(scaled.weights[i] * points[i].loss / scaled.loss);
  }
  return scaled;
}

// Fits l = x0 (1 + ratio) / (k + ratio) + x1.
LeastSquares FitAt(const Scaled& scaled, double ratio) {
  std::array<std::vector<double>, 2> columns;
  for (size_t i = 0; i < scaled.epochs.size(); ++i) {
    columns[0].push_back(scaled.weights[i] * (1 + ratio) / (scaled.epochs[i] + ratio));
  }
  columns[1] = scaled.weights;
  return NonNegativeLeastSquares(columns, scaled.target);
}

double BestRatio(const Scaled& scaled) {
  const auto left_over = [&](double power) {
    return FitAt(scaled, std::pow(10, power)).sum_of_squares;
  };
  constexpr double kStep = (kMostRatio - kLeastRatio) / kSteps;
  double best = kLeastRatio;
  double least = std::numeric_limits<double>::infinity();
  for (int step = 0; step <= kSteps; ++step) {
    const double power = kLeastRatio + step * kStep;
    if (const double sum = left_over(power); sum < least) {
      least = sum;
      best = power;
    }
  }
  // Golden-section search.
  constexpr double kGolden = 0.6180339887498949;
  double low = best - kStep;
  double high = best + kStep;
  for (int i = 0; i < kRefinements; ++i) {
    const double width = kGolden * (high - low);
    if (left_over(high - width) < left_over(low + width)) {
      high = low + width;
    } else {
      low = high - width;
    }
  }
  return std::pow(10, (low + high) / 2);
}

}  // namespace

std::vector<LossPoint> WithoutOutliers(std::span<const LossPoint> points) {
  std::vector<LossPoint> finite;
  for (const LossPoint& point : points) {
    if (std::isfinite(point.epoch) && std::isfinite(point.loss)) finite.push_back(point);
  }
  std::vector<LossPoint> kept;
  for (size_t i = 0; i < finite.size(); ++i) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    const size_t first = i - std::min(i, kNeighbours);
    const size_t last = std::min(i + kNeighbours, finite.size() - 1);
    for (size_t near = first; near <= last; ++near) {
      if (near == i) continue;
      low = std::min(low, finite[near].loss);
      high = std::max(high, finite[near].loss);
    }
    const double apart = high - low;
    const bool above = i > 0 && finite[i].loss > high + apart;
    const bool below = i + 1 < finite.size() && finite[i].loss < low - apart;
    if (!above && !below) kept.push_back(finite[i]);
  }
  return kept;
}

std::optional<LossCurve> FitLoss(std::span<const LossPoint> points) {
  const std::vector<LossPoint> kept = WithoutOutliers(points);
  if (kept.size() < kLeastPoints || !(kept.back().epoch > 0)) return std::nullopt;
  const Scaled scaled = Scale(kept);
  if (!(scaled.loss > 0)) return std::nullopt;
  const double ratio = BestRatio(scaled);
  const std::vector<double> x = FitAt(scaled, ratio).x;
  const double falls = x[0] * (1 + ratio);  // 1 / a
  if (!(falls > 0)) return std::nullopt;
  return LossCurve{.a = 1 / (falls * scaled.loss * scaled.epoch),
                   .b = ratio / (falls * scaled.loss),
                   .c = x[1] * scaled.loss};
}

std::optional<double> EpochOfLoss(const LossCurve& curve, double loss) {
  if (loss <= curve.c || curve.a <= 0) return std::nullopt;
  return std::max((1 / (loss - curve.c) - curve.b) / curve.a, 0.0);
}

double EpochOfConvergence(const LossCurve& curve) {
  // The logarithm of the curve is convex, so the fraction by which ten epochs lower the loss never
  // rises.
  const auto converged = [&](double epoch) {
    const double before = curve.At(epoch - kEpochs);
    return before - curve.At(epoch) < kGain * before;
  };
  double high = kEpochs;
  while (!converged(high) && high < kMostEpochs) high *= 2;
  double low = high / 2;
  while (high > kEpochs && high - low > 1) {
    const double middle = std::floor((low + high) / 2);
    (converged(middle) ? high : low) = middle;
  }
  return high;
}

double EpochsLeft(const LossCurve& curve, double done, std::optional<double> wanted) {
  std::optional<double> end;
  if (wanted) end = EpochOfLoss(curve, *wanted);
  return std::max(end.value_or(EpochOfConvergence(curve)) - done, 1.0);
}

}  // namespace synergy
