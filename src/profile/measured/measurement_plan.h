#pragma once

// Which CPU amounts to measure a job with, the whole data set being in memory (Synergy, OSDI'22,
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
    MilliCpu step = Cores(1);  // amounts closer than that are not told apart
    double threshold = 0.1;    // of the lower of two throughputs
  };

  // kInvalid: no CPU, the least above the most, no step, a threshold that is negative or no number.
  static Result<MeasurementPlan> Create(const Range& range);

  // The amount to measure next, none when enough is known. `measured` in any order; amounts outside
  // of the range, negative throughputs and such as are no finite number do not count. Of several
  // gaps the one comes first whose throughputs differ most, so that a plan may be cut short.
  std::optional<MilliCpu> Next(std::span<const CpuPoint> measured) const;

 private:
  explicit MeasurementPlan(const Range& range) : range_(range) {}

  Range range_;
};

}  // namespace synergy
