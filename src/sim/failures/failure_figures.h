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
  uint64_t failed_jobs = 0;   // permanently failed jobs, including the two below
  uint64_t stopped_jobs = 0;  // suspended by stop-futile
  uint64_t caught_jobs = 0;   // never started, because their pre-run failed
  uint64_t preruns = 0;
  Seconds busy{};    // while all pods of a job ran, and during pre-runs
  Seconds useful{};  // led to the end of a job, or to a checkpoint from which it continued
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
