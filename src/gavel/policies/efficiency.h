#pragma once

// Policies that optimise the whole cluster (Gavel, OSDI'20, section 4.2).
//
// Threading: one caller at a time. State: the final prices of the last call.

#include "gavel/max_min.h"
#include "gavel/policies/policies.h"

namespace synergy {

// Finishes all jobs as soon as possible: with R_m iterations left,
//
//   minimize over x   max over m of   R_m / thr_m
//
// The authors find T by bisection, with thr_m >= R_m / T as rows, and stop within 5 % of the
// optimum. In 1 / T the program is linear; in this form it is solved once and exactly. Agnostic:
// T_mj is the reference type's.
class Makespan final : public GavelPolicy {
 public:
  explicit Makespan(GavelView view) : view_(view) {}

  Result<GavelAnswer> Allocate(const GavelProblem& problem) override;

 private:
  GavelView view_;
  PriceMemory level_memory_;
  PriceMemory sum_memory_;
};

// Maximises the total throughput, alone or per cost, with or without deadlines:
//
//   maximize over x   sum over m and j of   T_mj x_mj / cost_j
//   with deadlines    thr_m >= R_m / D_m    for every job m that has D_m seconds left
//
// If not all deadlines can be kept, the policy gives up as few as possible and, among such choices,
// takes the one with the best objective; the answer names the abandoned deadlines. (The authors'
// program gives up all of them.) Agnostic: T_mj is the reference type's.
class TotalThroughput final : public GavelPolicy {
 public:
  struct Options {
    bool by_cost = false;
    bool deadlines = false;
  };

  TotalThroughput(GavelView view, Options options) : view_(view), options_(options) {}

  Result<GavelAnswer> Allocate(const GavelProblem& problem) override;

 private:
  GavelView view_;
  Options options_;
  PriceMemory reach_memory_;
  PriceMemory sum_memory_;
};

}  // namespace synergy
