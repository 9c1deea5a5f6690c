#pragma once

// Plans the CPU amounts at which to measure a job with the whole data set in memory (Synergy,
// OSDI'22, section 3.1). The largest amount is first, and the smallest second. Midpoints between
// neighbours follow while their throughputs differ by at least the threshold. The rest is
// interpolated.
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
    MilliCpu step = Cores(1);  // amounts closer together than this count as one
    double threshold = 0.1;    // relative to the lower of two throughputs
  };

  // Returns kInvalid if there is no CPU, the least is above the most, there is no step, or the
  // threshold is negative or not a number.
  static Result<MeasurementPlan> Create(const Range& range);

  // Returns the amount to measure next; nullopt if enough is known. `measured` may be in any order;
  // amounts outside the range, and throughputs that are negative or not finite, are ignored. The
  // gap with the largest difference in throughput comes first, so a plan may end early.
  std::optional<MilliCpu> Next(std::span<const CpuPoint> measured) const;

 private:
  explicit MeasurementPlan(const Range& range) : range_(range) {}

  Range range_;
};

}  // namespace synergy
