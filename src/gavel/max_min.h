#pragma once

// The programs behind Gavel's fairness, makespan and finish-time policies:
//
//   MaxMin        greatest c  with thr_m >= base_m + c rise_m for every job m
//   GreatestSum   greatest sum of thr_m / prop_m  with thr_m >= floor_m for every job m
//
// Optima are not unique. The policies take, of those of MaxMin, the one with the greatest sum of
// normalised throughputs: GreatestSum with the optimum's throughputs as floors.
//
// Threading: pure. Failures: kUnavailable when the bases cannot be reached.

#include <span>
#include <vector>

#include "core/result.h"
#include "gavel/problem.h"

namespace synergy {

struct MaxMinAnswer {
  double level = 0;  // c
  GavelShares shares;
  // Per job, sum 1 over all: by how much the level falls when the job is to get more. A job with
  // more than 0 gets no more in any optimum.
  std::vector<double> prices;
};

// Prices of the types that a solve came to. The next one of much the same jobs begins with them,
// which saves it most of its way; whether they are any good does not change the optimum.
using PriceMemory = std::vector<std::vector<double>>;

// Some rise is greater than 0, none less; bases are 0 or more.
// `known`: shares that reach the bases; the higher their level, the sooner it is found.
// `memory`: read, then replaced; may be null.
Result<MaxMinAnswer> MaxMin(const GavelProblem& problem, std::span<const double> base,
                            std::span<const double> rise, const GavelShares& known,
                            PriceMemory* memory = nullptr);

// `known`: shares that reach the floors but for rounding; they are the answer where the solver
// finds none.
Result<GavelShares> GreatestSum(const GavelProblem& problem, std::span<const double> floors,
                                const GavelShares& known, PriceMemory* memory = nullptr);

}  // namespace synergy
