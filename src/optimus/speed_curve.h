#pragma once

// The speed of a training as a function of its numbers of workers and parameter servers, fitted to
// measurements (Optimus, EuroSys'18, section 3.2). With p servers, w workers and M as the whole
// batch of a step:
//
//   synchronous    f = 1 / (a M/w + b + c w/p + d w + e p)
//   asynchronous   f = w / (a + b w/p + c w + d p)
//   all-reduce     f = 1 / (a M/w + b + d w), synchronous without servers
//
// in steps per second, with factors >= 0.
//
// Threading: pure.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace synergy {

enum class SpeedForm { kSynchronous, kAsynchronous, kAllReduce };

// The tasks of one job.
struct Tasks {
  int servers = 0;  // at least 1; ignored with kAllReduce
  int workers = 0;  // at least 1

  bool operator==(const Tasks&) const = default;
};

struct SpeedPoint {
  Tasks tasks;
  double speed = 0;  // steps per second, above 0
};

struct SpeedCurve {
  SpeedForm form = SpeedForm::kAllReduce;
  double batch = 1;             // M; ignored with kAsynchronous
  std::vector<double> factors;  // in the order of the form

  double At(const Tasks& tasks) const;
};

// Returns the number of factors of a form.
size_t FactorsOf(SpeedForm form);

// Fits the factors by least squares of the relative errors of 1 / f (least_squares.h), because 1 /
// f is linear in the factors and measurement errors are proportional to it. Ignores points that are
// not above 0. Returns nullopt if the points have fewer distinct numbers of tasks than the form has
// factors.
std::optional<SpeedCurve> FitSpeed(SpeedForm form, double batch,
                                   std::span<const SpeedPoint> points);

}  // namespace synergy
