#pragma once

// Least attained service, weighted or not (Gavel, OSDI'20, section 4.1): the worst-off job is as
// well off as can be.
//
//   maximize over x   min over m of   s_m thr_m / (w_m prop_m)
//
// The normaliser makes jobs of different speed comparable, s_m those of different size: a job on
// more GPUs has done more when it has run as long. With equal weights it is LAS. Agnostic: T_mj
// = 1.
//
// Threading: one caller at a time. State: the prices that the last call came to.

#include "gavel/max_min.h"
#include "gavel/policies/policy.h"

namespace synergy {

class MaxMinFairness final : public GavelPolicy {
 public:
  explicit MaxMinFairness(GavelView view) : view_(view) {}

  Result<GavelAnswer> Allocate(const GavelProblem& problem) override;

 private:
  GavelView view_;
  PriceMemory level_memory_;
  PriceMemory sum_memory_;
};

}  // namespace synergy
