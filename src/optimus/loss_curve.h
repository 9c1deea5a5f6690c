#pragma once

// The curve of a training's falling loss, fitted while it trains (Peng et al., "Optimus: An
// Efficient Dynamic Resource Scheduler for Deep Learning Clusters", EuroSys'18, section 3.1):
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

// Returns the points without those that are not finite, and without outliers. A point is an outlier
// if it lies further above the highest or below the lowest of its neighbours, three before and
// three after, than the highest and the lowest lie apart. Points of a falling curve lie within
// their neighbours, so only noise is removed; the first point may lie above all others, the last
// one below.
// REQUIRES: `points` are in order of epochs, here and below.
std::vector<LossPoint> WithoutOutliers(std::span<const LossPoint> points);

// Fits the curve to the points without outliers, by least squares of the differences in loss. Later
// points predict better: differences in the second third weigh 4 times as much as in the first, in
// the last third 16 times, as in the authors' program. Losses are divided by the greatest and
// epochs by the last, so units do not matter. For a given b/a the curve is linear in 1/a and c
// (least_squares.h), so only that ratio is searched for. Returns nullopt for fewer than three
// points, or if the loss does not fall.
std::optional<LossCurve> FitLoss(std::span<const LossPoint> points);

// Returns the epoch at which the curve comes down to `loss`; nullopt if it never does.
std::optional<double> EpochOfLoss(const LossCurve& curve, double loss);

// Returns the first whole epoch at which the last ten epochs lowered the loss by less than 5 %.
double EpochOfConvergence(const LossCurve& curve);

// Returns the epochs left after `done` by the curve: until the loss is `wanted`, or until
// convergence if no loss is wanted or the curve never reaches it. At least 1, because a job that
// has not ended has work left.
double EpochsLeft(const LossCurve& curve, double done, std::optional<double> wanted);

}  // namespace synergy
