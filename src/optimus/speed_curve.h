#pragma once

// How fast a training is with so many workers and parameter servers, fitted from where it has run
// (Optimus, EuroSys'18, section 3.2). With p servers, w workers, all of a step's batch M:
//
//   synchronous    f = 1 / (a M/w + b + c w/p + d w + e p)
//   asynchronous   f = w / (a + b w/p + c w + d p)
//   all-reduce     f = 1 / (a M/w + b + d w): synchronous, where no servers are
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

// Of training a job's tasks.
struct Tasks {
  int servers = 0;  // at least 1, but with kAllReduce, where they do not count
  int workers = 0;  // at least 1

  bool operator==(const Tasks&) const = default;
};

struct SpeedPoint {
  Tasks tasks;
  double speed = 0;  // steps per second, above 0
};

struct SpeedCurve {
  SpeedForm form = SpeedForm::kAllReduce;
  double batch = 1;             // M; asynchronous: does not count
  std::vector<double> factors;  // in the order of the form

  double At(const Tasks& tasks) const;
};

// How many factors a form has.
size_t FactorsOf(SpeedForm form);

// The factors with the least squares of relative errors of 1 / f (least_squares.h): in this form
// the function is linear, and a measurement's error is in proportion to it. None for fewer points
// at different numbers of tasks than the form has factors; points that are not above 0 do not
// count.
std::optional<SpeedCurve> FitSpeed(SpeedForm form, double batch,
                                   std::span<const SpeedPoint> points);

}  // namespace synergy
