#pragma once

// Solves a linear program that has many more variables than rows, by column generation (Gilmore and
// Gomory, "A Linear Programming Approach to the Cutting-Stock Problem", 1961): solves the program
// with some of its variables, then repeatedly adds those that would improve the solution at the
// prices of the rows, until there are none. The result is an optimum of the whole program, because
// no omitted variable would help.
//
// Threading: any thread. Failures: as in Solve (solve.h).

#include <vector>

#include "core/result.h"
#include "solver/program.h"
#include "solver/solve.h"

namespace synergy {

// `limits` apply to each step. `start`: for each variable, whether it is in the first step. If a
// step has no optimum, the result violates a bound, or some variable is an integer, solves the
// program as a whole. REQUIRES: 0 lies within the bounds of the variables that are not in `start`.
Result<Solution> SolveByColumns(const Program& program, const std::vector<bool>& start,
                                const SolveLimits& limits);

}  // namespace synergy
