#pragma once

// From what a training was seen to do with how much CPU to what it would do with any: which model
// explains the points, and what may be published (docs/profiling.md).
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
  double best = 0;         // kPlateau: infinity where no plateau was seen
  double cpu_seconds = 0;  // kPlateau
  double serial = 0;       // kSerial: a, in seconds
  double parallel = 0;     // kSerial: b, in CPU seconds

  double At(MilliCpu cpu) const;
};

// The simplest model that is within `agreement` of all points; none: they are not explained, or
// the model has as many parameters as there are points.
std::optional<CurveModel> Explain(const CurvePoints& points, double agreement);

// The mean of the points within `agreement` of the fastest.
double Plateau(const CurvePoints& points, double agreement);
// Whether some of its CPU less did not make it slower: what waits busily uses all that it has, and
// is no faster for it.
bool IsFlat(const CurvePoints& points, double agreement);

// What a knee is given beside the CPU that it was seen to need.
inline constexpr double kKneeMargin = 1.05;
// Of what is used at the best: a knee with its margin that lies lower contradicts it.
inline constexpr double kSameKnee = 0.97;

struct CurveClaimRules {
  // The most that any pod of the workload could get beside others; 0: nothing is guessed. What was
  // seen with more, for want of others, is claimed with that, so that no pod asks for it.
  MilliCpu node;
  MilliCpu fair_share;
  double agreement = 0;
  bool confirmed = false;
  // Estimates are all lower bounds: what was used at the best is taken for enough, but for no more
  // than what is above the fair share.
  bool estimate = false;
};
// The points that may be published: those that were seen, a guess above where the training waits
// for CPU with the most that it was seen with, and the knee where the CPU that it used tells it.
std::vector<MeasuredPoint> Claim(const CurvePoints& points, const CurveClaimRules& rules);

// The best was seen with all workers busy: nobody knows what it does with more CPU.
bool IsCensored(const CurvePoints& points, double agreement);

}  // namespace synergy
