#pragma once

// The linear programs of Gavel's fairness, makespan and finish-time policies:
//
//   MaxMin        greatest c  with thr_m >= base_m + c rise_m for every job m
//   GreatestSum   greatest sum of thr_m / prop_m  with thr_m >= floor_m for every job m
//
// Optima are not unique. Among the optima of MaxMin, the policies choose the one with the greatest
// sum of normalised throughputs: GreatestSum with the optimum's throughputs as floors.
//
// Threading: pure. Failures: kUnavailable if the base throughputs cannot be reached.

#include <span>
#include <vector>

#include "core/result.h"
#include "gavel/problem.h"

namespace synergy {

struct MaxMinAnswer {
  double level = 0;  // c
  GavelShares shares;
  // By job, with a total of 1: how much the level falls if the job must get more. A job with a
  // price above 0 gets no more in any optimum.
  std::vector<double> prices;
};

// The final prices of the types in earlier solves. Solving for similar jobs starts from them, which
// saves most steps; their quality does not affect the optimum.
using PriceMemory = std::vector<std::vector<double>>;

// REQUIRES: at least one rise is greater than 0, and none is less; bases are 0 or more. `known`:
// shares that reach the bases; the higher their level, the faster the solution. `memory`: read,
// then replaced; may be null.
Result<MaxMinAnswer> MaxMin(const GavelProblem& problem, std::span<const double> base,
                            std::span<const double> rise, const GavelShares& known,
                            PriceMemory* memory = nullptr);

// `known`: shares that reach the floors up to rounding errors; they are the answer if the solver
// finds no other.
Result<GavelShares> GreatestSum(const GavelProblem& problem, std::span<const double> floors,
                                const GavelShares& known, PriceMemory* memory = nullptr);

}  // namespace synergy
