#pragma once

// Fits the falling loss of a training while it trains (Peng et al., "Optimus: An Efficient Dynamic
// Resource Scheduler for Deep Learning Clusters", EuroSys'18, section 3.1):
//
//   l(k) = 1 / (a k + b) + c,   a, b, c >= 0, k in epochs
//
// The curve predicts how many epochs the training still needs.
//
// Threading: pure.

#include <optional>
#include <span>
#include <vector>

namespace synergy {

struct LossPoint {
  double epoch = 0;
  double loss = 0;

  bool operator==(const LossPoint&) const = default;
};

struct LossCurve {
  double a = 0;
  double b = 0;
  double c = 0;

  double At(double epoch) const { return 1 / (a * epoch + b) + c; }
};

// Returns the points that are finite and not outliers. A point's neighbours are the three points
// before it and the three after it. The point is an outlier if it lies above their highest value,
// or below their lowest, by more than the distance between those two. Points of a falling curve lie
// within their neighbours, so only noise is removed; the first point may lie above all others, and
// the last one below. REQUIRES: `points` are in order of epochs, here and below.
std::vector<LossPoint> WithoutOutliers(std::span<const LossPoint> points);

// Fits the curve to the points without outliers, by least squares of the differences in loss. Later
// points predict better: differences in the second third count 4 times as much as in the first, and
// those in the last third 16 times, as in the authors' program. Losses are divided by the greatest
// and epochs by the last, so units do not matter. For a given b/a the curve is linear in 1/a and c
// (least_squares.h), so only that ratio is searched for. Returns nullopt for fewer than three
// points, or if the loss does not fall.
std::optional<LossCurve> FitLoss(std::span<const LossPoint> points);

// Returns the epoch at which the curve falls to `loss`; nullopt if it never does.
std::optional<double> EpochOfLoss(const LossCurve& curve, double loss);

// Returns the first whole epoch at which the last ten epochs lowered the loss by less than 5 %.
double EpochOfConvergence(const LossCurve& curve);

// Returns the epochs left after `done` according to the curve: until the loss is `wanted`, or until
// convergence if no loss is wanted or the curve never reaches it. Returns at least 1, because a job
// that has not ended has work left.
double EpochsLeft(const LossCurve& curve, double done, std::optional<double> wanted);

}  // namespace synergy
