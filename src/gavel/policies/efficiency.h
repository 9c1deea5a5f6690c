#pragma once

// Policies that make the most of the cluster as a whole (Gavel, OSDI'20, section 4.2).
//
// Threading: one caller at a time. State: the prices that the last call came to.

#include "gavel/max_min.h"
#include "gavel/policies/policies.h"

namespace synergy {

// All jobs done as soon as can be: with R_m iterations left,
//
//   minimize over x   max over m of   R_m / thr_m
//
// The authors search T by bisection, with thr_m >= R_m / T as rows, and end within 5 % of the
// optimum. In 1 / T the program is linear, and here it is solved as such, once and exactly.
// Agnostic: T_mj is the reference type's.
class Makespan final : public GavelPolicy {
 public:
  explicit Makespan(GavelView view) : view_(view) {}

  Result<GavelAnswer> Allocate(const GavelProblem& problem) override;

 private:
  GavelView view_;
  PriceMemory level_memory_;
  PriceMemory sum_memory_;
};

// Greatest total throughput, by itself or for the money, with deadlines or without:
//
//   maximize over x   sum over m and j of   T_mj x_mj / cost_j
//   with deadlines    thr_m >= R_m / D_m    for every job m that has D_m seconds left
//
// Where the deadlines cannot all be kept, the fewest are given up that make it possible, and among
// such choices the one of the greatest objective is made; the answer names those given up. (The
// authors' program gives up all of them.) Agnostic: T_mj is the reference type's.
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
