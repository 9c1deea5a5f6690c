#pragma once

// Finish-time fairness (Gavel, OSDI'20, section 4.2; Themis, NSDI'20): nobody is much later than
// alone on an equal part of the cluster.
//
//   minimize over x   max over m of   (t_m + R_m / thr_m) / (I_m + R_m / iso_m)
//
// t_m: time since the job came; R_m: iterations left; iso_m: its throughput with an equal part
// (isolated.h); I_m: the time that it would have taken so far with that, which grows by the
// iterations done between two calls over iso_m of the first. Agnostic: T_mj is the reference
// type's.
//
// The objective is quasi-convex. Each step takes the present rho, makes the programs' level
// thr_m >= c R_m / (rho (I_m + R_m / iso_m) - t_m) greatest, and goes on with the rho of that x
// (Dinkelbach's way); it ends where c is 1, which proves that no x has a smaller rho.
//
// Threading: one caller at a time. State: I_m and what it grows by, by the job's name, of the jobs
// of the last call; the prices that it came to.

#include <map>
#include <string>
#include <vector>

#include "gavel/max_min.h"
#include "gavel/policies/policy.h"

namespace synergy {

class FinishTimeFairness final : public GavelPolicy {
 public:
  explicit FinishTimeFairness(GavelView view) : view_(view) {}

  Result<GavelAnswer> Allocate(const GavelProblem& problem) override;

 private:
  struct Alone {
    double so_far = 0;      // I_m
    double steps_left = 0;  // at the last call
    double throughput = 0;  // iso_m of the last call
  };

  // Takes note of the call; I_m + R_m / iso_m of each job.
  std::vector<double> TimesAlone(const GavelProblem& problem);

  GavelView view_;
  std::map<std::string, Alone> alone_;
  PriceMemory level_memory_;
  PriceMemory sum_memory_;
};

}  // namespace synergy
