#pragma once

// What a training was seen to do with how much CPU (docs/profiling.md).
//
// Throughput is in iterations per second, CPU the training container's.
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

// What was seen of a training with one amount of CPU.
struct CurvePoint {
  MilliCpu cpu;
  double throughput = 0;
  // Cores that it used there; 0: not known any more.
  double used = 0;
  // The CPU kept it from being faster.
  bool bound = false;
  // By a quota, so that it is known to do with that amount; else that is what it could have had.
  bool quota = false;
  // It waited for storage: a lower bound.
  bool starved = false;
  // Of a gang, another pod of which used clearly more: that one may need it.
  bool uneven = false;
  PointCertainty certainty = PointCertainty::kExact;
  int32_t windows = 1;
  double spread = 0;

  bool operator==(const CurvePoint&) const = default;
};

// By CPU, ascending. A point close to one that is known is averaged with it.
using CurvePoints = std::vector<CurvePoint>;
void AddPoint(CurvePoints& points, const CurvePoint& seen);

double BestOf(const CurvePoints& points);
// CPU seconds for an iteration, where they can be told.
std::optional<double> CpuSecondsOf(const CurvePoints& points);

// One amount was seen at quite different speeds, or less of it at a higher one: what was seen is
// not the speed of one training.
bool IsContradictory(const CurvePoints& points, double agreement);

// Amounts so close to each other that they are one.
bool SameAmount(MilliCpu a, MilliCpu b);
// The point of that amount; null: there is none.
const CurvePoint* FindNear(const CurvePoints& points, MilliCpu cpu);
// Throughput: between measured amounts, linear; in proportion below, flat above.
double Interpolated(const CurvePoints& points, MilliCpu cpu);

// Whether `used` cores are what so many busy processes use that do nothing else.
bool IsWholeNumberOfCores(double used);

// Whether `seen` has fewer data workers than `other`: it was slower with all of them busy, and with
// fewer busy cores.
bool HasFewerWorkers(const CurvePoint& seen, const CurvePoint& other, double agreement);
// ... than what any of the points was seen with.
bool HasFewerWorkers(const CurvePoint& seen, const CurvePoints& points, double agreement);
// Whether `seen` is of a pod of a gang that needs less CPU for an iteration than the one that
// `other` is of: with as much for each of them the gang would be slower.
bool NeedsLess(const CurvePoint& seen, const CurvePoint& other);
bool NeedsLess(const CurvePoint& seen, const CurvePoints& points);

// AddPoint, but for curves by number of workers, and of the pod of a gang that needs most: what was
// seen with fewer, or of one that needs less, is replaced, and never added to what was seen with
// more.
void AddOfMost(CurvePoints& points, const CurvePoint& seen, double agreement);

}  // namespace synergy
