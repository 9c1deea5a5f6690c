#pragma once

// Points of a curve: the speed of a training with different amounts of CPU
// (docs/internals/profiling.md).
//
// Throughput is in iterations per second; CPU is the training container's.
//
// Threading: values, pure functions.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/units.h"
#include "profile/measured/measured_profile.h"

namespace synergy {

inline double InCores(MilliCpu cpu) { return static_cast<double>(cpu.count()) / 1000; }
MilliCpu FromCores(double cores);

// The observed speed of a training with one amount of CPU.
struct CurvePoint {
  MilliCpu cpu;
  double throughput = 0;
  // Cores that the training used with that amount; 0: no longer known.
  double used = 0;
  // Set if a lack of CPU limited the speed.
  bool bound = false;
  // Set if a quota limited the training to `cpu`, so that it certainly ran with that amount.
  // Otherwise `cpu` is the amount that it could have used.
  bool quota = false;
  // Set if the training waited for storage, so that the throughput is a lower bound.
  bool starved = false;
  // Set if another pod of its gang used clearly more CPU, and may need it.
  bool uneven = false;
  PointCertainty certainty = PointCertainty::kExact;
  int32_t windows = 1;
  double spread = 0;

  bool operator==(const CurvePoint&) const = default;
};

// Sorted by CPU, ascending. AddPoint averages a point with a nearby known one.
using CurvePoints = std::vector<CurvePoint>;
void AddPoint(CurvePoints& points, const CurvePoint& seen);

double BestOf(const CurvePoints& points);
// Returns the CPU seconds of an iteration, if known.
std::optional<double> CpuSecondsOf(const CurvePoints& points);

// Returns whether one amount was seen at quite different speeds, or a smaller amount at a higher
// speed. Such points do not describe the speed of one training.
bool IsContradictory(const CurvePoints& points, double agreement);

// Returns whether the amounts are so close that they count as one.
bool SameAmount(MilliCpu a, MilliCpu b);
// Returns the point at that amount; null if there is none.
const CurvePoint* FindNear(const CurvePoints& points, MilliCpu cpu);
// Returns the throughput: linear between measured amounts, proportional below them, constant above.
double Interpolated(const CurvePoints& points, MilliCpu cpu);

// Returns whether `used` cores look like a whole number of processes that are always busy.
bool IsWholeNumberOfCores(double used);

// Returns whether `seen` has fewer data workers than `other`: it was slower with all of them busy,
// and with fewer busy cores.
bool HasFewerWorkers(const CurvePoint& seen, const CurvePoint& other, double agreement);
// Returns whether `seen` has fewer workers than at least one of the points.
bool HasFewerWorkers(const CurvePoint& seen, const CurvePoints& points, double agreement);
// Returns whether `seen` belongs to a pod of a gang that needs less CPU per iteration than the pod
// of `other`. If both had the same amount, the gang would be slower.
bool NeedsLess(const CurvePoint& seen, const CurvePoint& other);
bool NeedsLess(const CurvePoint& seen, const CurvePoints& points);

// Does the same as AddPoint, but keeps only points of the pods with the most workers and, in a
// gang, of the pod that needs the most CPU. Replaces points with fewer workers or a smaller need.
void AddOfMost(CurvePoints& points, const CurvePoint& seen, double agreement);

}  // namespace synergy
