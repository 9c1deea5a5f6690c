#pragma once

// Chooses the next probe that confirms or corrects a curve (docs/internals/profiling.md).
//
// Threading: values, pure functions.

#include <optional>

#include "core/units.h"
#include "profile/measured/curve_points.h"
#include "profile/measured/measured_curve.h"

namespace synergy {

// The smallest quota that a probe requests.
inline constexpr MilliCpu kLeastProbe = MilliCpu(20);

// The current state of the pod that would be probed.
struct ProbeRange {
  MilliCpu amount;  // its present amount
  MilliCpu floor;
  double used = 0;     // cores
  bool bound = false;  // the pod waits for CPU with its present amount
};
struct ProbePlan {
  MilliCpu cpu;
  double expected = 0;  // throughput
};
// Returns nullopt if no probe of this pod can make the points more certain.
std::optional<ProbePlan> NextProbe(const CurvePoints& points, const ProbeRange& range,
                                   double agreement);

}  // namespace synergy
