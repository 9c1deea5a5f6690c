#pragma once

// The Gittins index of a job of unknown size, from the sizes of past jobs (Gittins 1979; for
// training jobs Tiresias, NSDI'19, section 3.2). It is the largest number of jobs that can finish
// per GPU-second of further service. Sizes and service are in GPU-seconds.
//
// Threading: values; any number of readers.
//
// This file is separate because the index is also meaningful without Tiresias' queues.

#include <limits>
#include <vector>

namespace synergy {

class SizeHistory {
 public:
  SizeHistory() = default;
  // `sizes` may be in any order.
  explicit SizeHistory(std::vector<double> sizes);

  bool empty() const { return sizes_.empty(); }

  // Returns the index of a job that was served `attained` and will not be served beyond `limit`:
  //   max over D <= limit - attained of P(S - attained <= D) / E[min(S - attained, D)]
  // where S is the size of a past job above `attained`. Returns 0 if there is no such size up to
  // `limit`.
  double Index(double attained, double limit = std::numeric_limits<double>::infinity()) const;

 private:
  std::vector<double> sizes_;  // ascending
};

}  // namespace synergy
