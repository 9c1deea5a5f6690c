#pragma once

// Plans at which CPU amounts to measure a job with the whole data set in memory (Synergy, OSDI'22,
// section 3.1): the most first, then the least, then the middle between neighbours, as long as
// their throughputs differ by the threshold or more. The rest is interpolated.
//
// Threading: pure.

#include <optional>
#include <span>

#include "core/result.h"
#include "core/units.h"
#include "profile/cache_model.h"

namespace synergy {

class MeasurementPlan {
 public:
  struct Range {
    MilliCpu least = Cores(1);
    MilliCpu most;
    MilliCpu step = Cores(1);  // amounts closer than this count as one
    double threshold = 0.1;    // of the lower of two throughputs
  };

  // kInvalid: no CPU, the least above the most, no step, a threshold that is negative or not a
  // number.
  static Result<MeasurementPlan> Create(const Range& range);

  // Returns the amount to measure next; nullopt if enough is known. `measured` may be in any order;
  // amounts outside of the range and throughputs that are negative or not finite are ignored. The
  // gap with the largest difference in throughput comes first, so a plan may be cut short.
  std::optional<MilliCpu> Next(std::span<const CpuPoint> measured) const;

 private:
  explicit MeasurementPlan(const Range& range) : range_(range) {}

  Range range_;
};

}  // namespace synergy
