#pragma once

// What every run of `synergy simulate` has in common, whatever simulates.
//
// Threading: one owner.

#include <functional>

#include "cli/simulate/simulation.h"
#include "core/result.h"
#include "sim/statistics.h"

namespace synergy::cli {

// `result` with what `simulate` sets in it, the jobs' times among that, how long this took, and the
// statistics of the jobs in `window`.
Result<RunResult> TimedRun(RunResult result, const JobWindow& window,
                           const std::function<Result<>(RunResult&)>& simulate);

}  // namespace synergy::cli
