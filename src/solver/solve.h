#pragma once

// Solves linear and mixed-integer programs to proven optimality or a proven gap, with branch and
// cut by COIN-OR's CBC on top of the simplex method of CLP.
//
// The same program gives the same solution every time, unless the time limit ended the search.
//
// Threading: any thread. The library has global state, so the process solves one program at a time
// and other calls wait. Their time limit starts after the wait. A search that a limit ends leaks a
// few kilobytes (CBC 2.10). Failures: kInvalid for a program that Validate() refuses, that is
// unbounded, or that is scaled so badly that the solution is wrong; kUnavailable if the library
// gave up. A program without a solution is not a failure.

#include <chrono>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/result.h"
#include "solver/program.h"

namespace synergy {

struct SolveLimits {
  std::chrono::milliseconds time{10'000};               // by the wall clock
  int64_t nodes = std::numeric_limits<int32_t>::max();  // of the search tree; reproducible
  double relative_gap = 0;  // a solution within this of the bound is good enough
};

enum class SolveStatus {
  kOptimal,     // proven to be within the limits' relative gap
  kFeasible,    // a limit was reached: a solution with a proven gap
  kInfeasible,  // proven to have no solution
  kUnknown,     // a limit was reached before there was a solution
};

struct Solution {
  SolveStatus status = SolveStatus::kUnknown;
  // The rest is set only for kOptimal and kFeasible. Integer variables are exact integers.
  std::vector<double> values;
  double objective = 0;
  double bound = 0;  // no solution is better than this
  // |bound - objective| / max(|objective|, 1e-9): how much better another solution could be.
  double relative_gap = 0;
  // Per row, only without integer variables: how fast the objective grows with the row's binding
  // bound.
  std::vector<double> prices;
};

Result<Solution> Solve(const Program& program, const SolveLimits& limits);

}  // namespace synergy
