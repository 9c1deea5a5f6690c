#pragma once

// The cost of failures in a simulated run (docs/internals/simulated-failures.md).
//
// Threading: values.

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/clock.h"
#include "failure/category.h"

namespace synergy {

// GPU time is GPUs x seconds; `busy` is the sum of `useful`, all of `lost`, and `prerun`.
struct FailureFigures {
  uint64_t trials = 0;        // attempts that failed
  uint64_t failed_jobs = 0;   // jobs that failed permanently, the two below included
  uint64_t stopped_jobs = 0;  // suspended by stop-futile
  uint64_t caught_jobs = 0;   // which never started, because their pre-run failed
  uint64_t preruns = 0;
  Seconds busy{};    // while all pods of a job ran, and of pre-runs
  Seconds useful{};  // that led to the end of a job, or to a checkpoint from which it went on
  std::array<Seconds, static_cast<size_t>(Cause::kUnknown) + 1> lost{};  // by Cause
  Seconds prerun{};

  Seconds LostBy(Cause cause) const { return lost.at(static_cast<size_t>(cause)); }
  Seconds Lost() const {
    Seconds sum{};
    for (const Seconds one : lost) sum += one;
    return sum;
  }
};

}  // namespace synergy
