#pragma once

// Solves MaxMin and GreatestSum (max_min.h) without pairs, with one price per GPU type.
//
// At given prices the jobs are independent: each job chooses a point on the lower hull of its
// types' points (throughput, cost), so it needs at most two types. The choices of all jobs form a
// plan, and every mean of plans is also a plan. A small linear program with a row per type
// (solver/best_mean.h) finds the best mean of the plans so far that fits into the cluster, and the
// prices for the next plan. The method ends when no plan at its prices is better, which proves the
// optimum. The work per plan grows with jobs times types, not with the size of a simplex basis.
//
// Threading: pure. Returns nullopt if the method did not end within its steps, or if it has no plan
// to start from.

#include <optional>
#include <span>

#include "gavel/max_min.h"
#include "gavel/problem.h"

namespace synergy {

// `known` and `memory` are as in MaxMin.
std::optional<MaxMinAnswer> MaxMinByPrices(const GavelProblem& problem,
                                           std::span<const double> base,
                                           std::span<const double> rise, const GavelShares& known,
                                           PriceMemory* memory = nullptr);

// Returns shares that give each job its floor; also returns nullopt if there are none. REQUIRES:
// some floor is greater than 0.
std::optional<GavelShares> ReachByPrices(const GavelProblem& problem,
                                         std::span<const double> floors,
                                         PriceMemory* memory = nullptr);

// Returns shares with the greatest sum of gain_mj x_mj, with thr_m >= floor_m. REQUIRES: `gains`,
// by job and type, has at least one value greater than 0, and none less. `known` and `memory` are
// as in GreatestSum.
std::optional<GavelShares> GreatestSumByPrices(const GavelProblem& problem,
                                               std::span<const double> floors,
                                               std::vector<double> gains, const GavelShares& known,
                                               PriceMemory* memory = nullptr);

}  // namespace synergy
