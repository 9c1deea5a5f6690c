#pragma once

// Solves a linear program that has many more variables than rows: with some of its variables, then
// with those too that would make it better at the prices of its rows, until there are none. What it
// ends with is an optimum of the whole, for no variable that was left out would help (Gilmore and
// Gomory, "A Linear Programming Approach to the Cutting-Stock Problem", 1961).
//
// Threading: any. Failures: as Solve (solve.h).

#include <vector>

#include "core/result.h"
#include "solver/program.h"
#include "solver/solve.h"

namespace synergy {

// `limits` hold for each of its steps. `start`: per variable, whether it is among the first; 0 lies
// within the bounds of the others. Where the first have no solution, or some variable is an
// integer, the program is solved as it is.
Result<Solution> SolveByColumns(const Program& program, const std::vector<bool>& start,
                                const SolveLimits& limits);

}  // namespace synergy
