#pragma once

// Solves linear and mixed-integer programs, with proof: branch and cut by COIN-OR's CBC, the
// simplex method of CLP beneath it.
//
// The same program gives the same solution again, unless the time limit was what ended it.
//
// Threading: any; the library has state of its own, so that one program is solved at a time in the
// process and others wait. Their time limit starts after the wait. A search that a limit ends leaks
// some kilobytes (CBC 2.10).
// Failures: kInvalid for a program that makes no sense (Validate), has no bound to its objective or
// is scaled so badly that the solution does not hold; kUnavailable when the library gave up. That a
// program has no solution is an answer.

#include <chrono>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/result.h"
#include "solver/program.h"

namespace synergy {

struct SolveLimits {
  std::chrono::milliseconds time{10'000};               // by the wall clock
  int64_t nodes = std::numeric_limits<int32_t>::max();  // of the search tree; repeats exactly
  double relative_gap = 0;  // between solution and bound, with which a solution is good enough
};

enum class SolveStatus {
  kOptimal,     // proven to be within the limits' relative gap
  kFeasible,    // a limit was reached: a solution with a proven gap
  kInfeasible,  // proven to have no solution
  kUnknown,     // a limit was reached before there was a solution
};

struct Solution {
  SolveStatus status = SolveStatus::kUnknown;
  // The rest is set for kOptimal and kFeasible only. Integer variables are integers exactly.
  std::vector<double> values;
  double objective = 0;
  double bound = 0;  // no solution is better than that
  // |bound - objective| / max(|objective|, 1e-9): how much better another solution could be.
  double relative_gap = 0;
  // Per row, without integer variables only: by how much the objective grows with the row's bound
  // that holds it.
  std::vector<double> prices;
};

Result<Solution> Solve(const Program& program, const SolveLimits& limits);

}  // namespace synergy
