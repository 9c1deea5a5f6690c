#pragma once

// Policies that make the jobs' shares fair (Gavel, OSDI'20, sections 4.1 to 4.4).
//
// Threading: one caller at a time. State, except for IsolatedShares, Isolated and WaterFilling: the
// final prices of the last call.

#include <map>
#include <string>
#include <vector>

#include "gavel/max_min.h"
#include "gavel/policies/policies.h"

namespace synergy {

// Gives each job its part of every type, as if the cluster were cut into M equal ones (section
// 4.1):
//
//   x_mj = n_j / (M s_m), a job's row scaled down to sum 1 where it is more
//
// Finish-time fairness compares with these shares. They do not depend on throughputs.
GavelShares IsolatedShares(const GavelProblem& problem);

class Isolated final : public GavelPolicy {
 public:
  // The answer has no objective.
  Result<GavelAnswer> Allocate(const GavelProblem& problem) override;
};

// Least attained service, weighted or not (section 4.1): maximises the share of the worst-off job.
//
//   maximize over x   min over m of   s_m thr_m / (w_m prop_m)
//
// The normaliser makes jobs of different speed comparable, s_m those of different size: of two jobs
// that have run equally long, the one on more GPUs has done more. With equal weights it is LAS.
// Agnostic: T_mj = 1.
class MaxMinFairness final : public GavelPolicy {
 public:
  explicit MaxMinFairness(GavelView view) : view_(view) {}

  Result<GavelAnswer> Allocate(const GavelProblem& problem) override;

 private:
  GavelView view_;
  PriceMemory level_memory_;
  PriceMemory sum_memory_;
};

// Max-min fairness level by level, for jobs or for entities of jobs (sections 4.3 and 4.4). All
// jobs rise together, each by its weight, until some cannot rise any more; these are frozen, and
// the others continue:
//
//   maximize over x   c     with   s_m thr_m / prop_m >= l_m + c v_m   for every job m
//
// l_m: the job's level so far; v_m: its weight at present, 0 for a frozen one. Without entities v_m
// = w_m, and the levels are the lexicographic optimum of MaxMinFairness. An entity e of weight W_e
// gives its jobs v_m = W_e w_m / (sum of w over its jobs that are not frozen), or, by FIFO, W_e to
// the first of them and nothing to the others.
//
// The authors find the jobs that cannot rise by a mixed-integer program. Here they are the jobs
// with a price in the linear program: these cannot rise in any optimum, and at least one job has a
// price. Agnostic: T_mj = 1.
class WaterFilling final : public GavelPolicy {
 public:
  // `hierarchical`: by the problem's entities. REQUIRES: then the problem has entities.
  WaterFilling(GavelView view, bool hierarchical) : view_(view), hierarchical_(hierarchical) {}

  // The objective is the first level.
  Result<GavelAnswer> Allocate(const GavelProblem& problem) override;

 private:
  GavelView view_;
  bool hierarchical_;
};

// Finish-time fairness (section 4.2; Themis, NSDI'20): no job ends much later than it would alone
// on an equal part of the cluster.
//
//   minimize over x   max over m of   (t_m + R_m / thr_m) / (I_m + R_m / iso_m)
//
// t_m: time since the job arrived; R_m: iterations left; iso_m: its throughput with an equal part
// (IsolatedShares); I_m: the time that it would have taken so far with that, which grows by the
// iterations done between two calls over iso_m of the first. Agnostic: T_mj is the reference
// type's.
//
// The objective is quasi-convex. Each step takes the present rho, maximises the programs' level
// thr_m >= c R_m / (rho (I_m + R_m / iso_m) - t_m), and continues with the rho of that x
// (Dinkelbach's method); it ends when c is 1, which proves that no x has a smaller rho.
//
// State, beside the prices: I_m and its increments, by job name, for the jobs of the last call.
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

  // Records the call; returns I_m + R_m / iso_m of each job.
  std::vector<double> TimesAlone(const GavelProblem& problem);

  GavelView view_;
  std::map<std::string, Alone> alone_;
  PriceMemory level_memory_;
  PriceMemory sum_memory_;
};

}  // namespace synergy
