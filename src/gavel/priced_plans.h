#pragma once

// MaxMin and GreatestSum (max_min.h) without pairs, by one price for each GPU type.
//
// At given prices the jobs do not depend on each other: of the points (throughput, cost) of its
// types a job takes what lies on the lower hull, so that it needs two types at most. What all jobs
// take together is a plan; every mean of plans is one too. A small linear program of a row per type
// (solver/best_mean.h) finds the best mean of the plans so far that fits into the cluster, and the
// prices for the next plan. It ends where no plan at its prices is better, which proves the
// optimum. Work for each plan grows with jobs times types, not with the size of a simplex basis.
//
// Threading: pure. Nothing: it did not end within its steps, or there is nothing to start from.

#include <optional>
#include <span>

#include "gavel/max_min.h"
#include "gavel/problem.h"

namespace synergy {

// `known` and `memory` as in MaxMin.
std::optional<MaxMinAnswer> MaxMinByPrices(const GavelProblem& problem,
                                           std::span<const double> base,
                                           std::span<const double> rise, const GavelShares& known,
                                           PriceMemory* memory = nullptr);

// Shares that give each job its floor; some floor is greater than 0. Nothing, too, where there are
// none.
std::optional<GavelShares> ReachByPrices(const GavelProblem& problem,
                                         std::span<const double> floors,
                                         PriceMemory* memory = nullptr);

// The greatest sum of gain_mj x_mj with thr_m >= floor_m. `gains` by job and type, some greater
// than 0, none less. `known` and `memory` as in GreatestSum.
std::optional<GavelShares> GreatestSumByPrices(const GavelProblem& problem,
                                               std::span<const double> floors,
                                               std::vector<double> gains, const GavelShares& known,
                                               PriceMemory* memory = nullptr);

}  // namespace synergy
