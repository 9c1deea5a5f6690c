#pragma once

// What to probe next, so that a curve is confirmed or corrected (docs/profiling.md).
//
// Threading: values, pure functions.

#include <optional>

#include "core/units.h"
#include "profile/measured/curve_points.h"
#include "profile/measured/measured_curve.h"

namespace synergy {

// Less is not asked of a kernel.
inline constexpr MilliCpu kLeastProbe = MilliCpu(20);

// The pod that would be probed, as it is now.
struct ProbeRange {
  MilliCpu amount;  // what it has
  MilliCpu floor;
  double used = 0;     // cores
  bool bound = false;  // it waits for CPU with that
};
struct ProbePlan {
  MilliCpu cpu;
  double expected = 0;  // throughput
};
// None: the points are as sure as probes of this pod can make them.
std::optional<ProbePlan> NextProbe(const CurvePoints& points, const ProbeRange& range,
                                   double agreement);

}  // namespace synergy
