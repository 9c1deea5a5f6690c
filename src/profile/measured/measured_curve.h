#pragma once

// Derives the speed with any amount of CPU from observed points: it finds the model that explains
// them, and decides what may be published (docs/internals/profiling.md).
//
//   kPlateau   min(best, c / cpu_seconds)   preprocessing beside a GPU that sets the pace
//   kSerial    1 / (a + b / c)              a part of each iteration that more CPU does not shorten
//
// Threading: values, pure functions.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/units.h"
#include "profile/measured/curve_points.h"
#include "profile/measured/measured_profile.h"

namespace synergy {

struct CurveModel {
  enum class Kind : uint8_t { kPlateau, kSerial };

  Kind kind = Kind::kPlateau;
  double best = 0;         // kPlateau: infinity if no plateau was seen
  double cpu_seconds = 0;  // kPlateau
  double serial = 0;       // kSerial: a, in seconds
  double parallel = 0;     // kSerial: b, in CPU seconds

  double At(MilliCpu cpu) const;
};

// Returns the simplest model that is within `agreement` of all points; nullopt if none is, or if
// the model has as many parameters as there are points.
std::optional<CurveModel> Explain(const CurvePoints& points, double agreement);

// Returns the mean of the points within `agreement` of the fastest.
double Plateau(const CurvePoints& points, double agreement);
// Returns whether a clearly smaller amount of CPU did not make the training slower. A training that
// busy-waits uses all its CPU without being faster.
bool IsFlat(const CurvePoints& points, double agreement);

// Margin of a knee above the CPU that is known to be needed.
inline constexpr double kKneeMargin = 1.05;
// A knee contradicts the points if, with its margin, it lies below this fraction of what is used at
// the best speed.
inline constexpr double kSameKnee = 0.97;

struct CurveClaimRules {
  // The most that any pod of the workload could get beside other pods; 0: do not guess. Points seen
  // with more CPU, when there were no other pods, are claimed for this amount, so that no pod
  // requests more.
  MilliCpu node;
  MilliCpu fair_share;
  double agreement = 0;
  bool confirmed = false;
  // Set if all points are lower bounds. The CPU used at the best speed then counts as enough, but
  // may lower only amounts above the fair share.
  bool estimate = false;
};
// Returns the points that may be published: the observed ones, and at most one more. If the
// training is CPU-bound with the largest observed amount, that is a guess above it. Otherwise it is
// the knee, if the CPU use reveals one.
std::vector<MeasuredPoint> Claim(const CurvePoints& points, const CurveClaimRules& rules);

// Returns whether the best speed was seen with all workers busy, so that the speed with more CPU is
// unknown.
bool IsCensored(const CurvePoints& points, double agreement);

}  // namespace synergy
