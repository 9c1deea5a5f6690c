#pragma once

// Converts doubles to integers. Casting a value that the type cannot hold is undefined behavior,
// and its results differ between processors. These functions saturate, and NaN counts as 0.
//
// Threading: pure.

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/clock.h"

namespace synergy {

// Rounds towards zero.
constexpr int64_t ToWhole(double number) {
  constexpr double kBeyond = 9223372036854775808.0;  // 2^63: the first number that does not fit
  if (number >= kBeyond) return std::numeric_limits<int64_t>::max();
  if (number < -kBeyond) return std::numeric_limits<int64_t>::min();
  return number == number ? static_cast<int64_t>(number) : 0;
}

// Rounds to the nearest; halves go away from zero.
inline int64_t ToNearest(double number) { return ToWhole(std::round(number)); }

// Clamps to 146 years in either direction, so that adding the result to the present time cannot
// overflow.
constexpr Duration ToDuration(Seconds seconds) {
  constexpr Duration kMost = Duration::max() / 2;
  const double nanoseconds = seconds.count() * 1e9;
  if (nanoseconds >= static_cast<double>(kMost.count())) return kMost;
  if (nanoseconds <= static_cast<double>(-kMost.count())) return -kMost;
  return Duration(ToWhole(nanoseconds));
}

}  // namespace synergy
