#pragma once

// All jobs done as soon as can be (Gavel, OSDI'20, section 4.2): with R_m iterations left,
//
//   minimize over x   max over m of   R_m / thr_m
//
// The authors search T by bisection, with thr_m >= R_m / T as rows, and end within 5 % of the
// optimum. In 1 / T the program is linear, and here it is solved as such, once and exactly.
// Agnostic: T_mj is the reference type's.
//
// Threading: one caller at a time. State: the prices that the last call came to.

#include "gavel/max_min.h"
#include "gavel/policies/policy.h"

namespace synergy {

class Makespan final : public GavelPolicy {
 public:
  explicit Makespan(GavelView view) : view_(view) {}

  Result<GavelAnswer> Allocate(const GavelProblem& problem) override;

 private:
  GavelView view_;
  PriceMemory level_memory_;
  PriceMemory sum_memory_;
};

}  // namespace synergy
