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
  // Cores that it used there; 0: no longer known.
  double used = 0;
  // The CPU kept it from being faster.
  bool bound = false;
  // By a quota, so that it is known to run with that amount. Otherwise `cpu` is what it could have
  // had.
  bool quota = false;
  // It waited for storage, so this is a lower bound.
  bool starved = false;
  // Another pod of its gang used clearly more, and may need it.
  bool uneven = false;
  PointCertainty certainty = PointCertainty::kExact;
  int32_t windows = 1;
  double spread = 0;

  bool operator==(const CurvePoint&) const = default;
};

// By CPU, ascending. AddPoint averages a point with a known one close to it.
using CurvePoints = std::vector<CurvePoint>;
void AddPoint(CurvePoints& points, const CurvePoint& seen);

double BestOf(const CurvePoints& points);
// Returns the CPU seconds of an iteration, if known.
std::optional<double> CpuSecondsOf(const CurvePoints& points);

// Whether one amount was seen at quite different speeds, or less of it at a higher one. Such points
// are not the speed of one training.
bool IsContradictory(const CurvePoints& points, double agreement);

// Whether the amounts are so close that they count as one.
bool SameAmount(MilliCpu a, MilliCpu b);
// Returns the point at that amount; null if there is none.
const CurvePoint* FindNear(const CurvePoints& points, MilliCpu cpu);
// Returns the throughput: linear between measured amounts, in proportion below, flat above.
double Interpolated(const CurvePoints& points, MilliCpu cpu);

// Whether `used` cores look like a whole number of processes that are busy all the time.
bool IsWholeNumberOfCores(double used);

// Whether `seen` has fewer data workers than `other`: it was slower with all of them busy, and with
// fewer busy cores.
bool HasFewerWorkers(const CurvePoint& seen, const CurvePoint& other, double agreement);
// ... than any of the points.
bool HasFewerWorkers(const CurvePoint& seen, const CurvePoints& points, double agreement);
// Whether `seen` is of a pod of a gang that needs less CPU for an iteration than the pod of
// `other`: if each of them had the same amount, the gang would be slower.
bool NeedsLess(const CurvePoint& seen, const CurvePoint& other);
bool NeedsLess(const CurvePoint& seen, const CurvePoints& points);

// As AddPoint, but keeps only points of the pods with most workers and, in a gang, of the pod that
// needs most. Points with fewer workers or a smaller need are replaced, and not added to others.
void AddOfMost(CurvePoints& points, const CurvePoint& seen, double agreement);

}  // namespace synergy
