#pragma once

// How a training's loss falls, fitted while it falls (Peng et al., "Optimus: An Efficient Dynamic
// Resource Scheduler for Deep Learning Clusters", EuroSys'18, section 3.1):
//
//   l(k) = 1 / (a k + b) + c,   a, b, c >= 0, k in epochs
//
// From it follows how many epochs a job still needs.
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

// Without points that are no finite numbers, and without those that lie off: further above the
// highest or below the lowest of up to three points before and three after than these lie apart. A
// curve that falls stays within its neighbours, so that only noise and accidents are judged; the
// first point may lie above all others, the last one below. `points` by epoch, as below.
std::vector<LossPoint> WithoutOutliers(std::span<const LossPoint> points);

// The curve nearest to the points without outliers, by squares of the differences in loss. Later
// points say more about what is to come: the second third weighs 4 times as much as the first, the
// last 16 times (per difference, as the authors' program has it). Losses are divided by the
// greatest and epochs by the last, so that units do not matter. For each b/a the curve is linear in
// 1/a and c (least_squares.h), so only that ratio is searched for. None for fewer than three
// points, and where the loss does not fall.
std::optional<LossCurve> FitLoss(std::span<const LossPoint> points);

// When the curve comes down to `loss`; none: never.
std::optional<double> EpochOfLoss(const LossCurve& curve, double loss);

// The first whole epoch at which the ten epochs before it brought less than 5 % of the loss.
double EpochOfConvergence(const LossCurve& curve);

// Epochs that are left after `done`, by the curve: to the loss `wanted`, or, where none is or the
// curve never comes down to it, to convergence. At least one: who has not ended has work left.
double EpochsLeft(const LossCurve& curve, double done, std::optional<double> wanted);

}  // namespace synergy
