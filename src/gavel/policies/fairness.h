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

// Gives each job its part of every type, as if the cluster were divided into M equal parts (section
// 4.1):
//
//   x_mj = n_j / (M s_m), with a job's row scaled down to sum 1 if it is larger
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
// The normaliser makes jobs of different speeds comparable, and s_m jobs of different sizes: of two
// jobs that have run equally long, the one with more GPUs has done more. With equal weights this is
// LAS. Agnostic: T_mj = 1.
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
// l_m is the job's level so far; v_m is its present weight, 0 for a frozen job. Without entities
// v_m = w_m, and the levels are the lexicographic optimum of MaxMinFairness. An entity e with
// weight W_e gives each of its jobs v_m = W_e w_m / (sum of w over its jobs that are not frozen).
// With FIFO, it gives W_e to the first of these and nothing to the others.
//
// The authors use a mixed-integer program to find the jobs that cannot rise. Here these are the
// jobs that have a price in the linear program: they cannot rise in any optimum, and at least one
// job has a price. Agnostic: T_mj = 1.
class WaterFilling final : public GavelPolicy {
 public:
  // `hierarchical`: use the problem's entities. REQUIRES: the problem has entities if
  // `hierarchical` is set.
  WaterFilling(GavelView view, bool hierarchical) : view_(view), hierarchical_(hierarchical) {}

  // The objective is the first level.
  Result<GavelAnswer> Allocate(const GavelProblem& problem) override;

 private:
  GavelView view_;
  bool hierarchical_;
};

// Finish-time fairness (section 4.2; Themis, NSDI'20): no job ends much later than it would with an
// equal part of the cluster to itself.
//
//   minimize over x   max over m of   (t_m + R_m / thr_m) / (I_m + R_m / iso_m)
//
// t_m is the time since the job arrived, R_m the iterations left, and iso_m its throughput with an
// equal part (IsolatedShares). I_m is the time that it would have taken so far with that part;
// between two calls it grows by the iterations done, divided by the iso_m of the first call.
// Agnostic: T_mj is the reference type's.
//
// The objective is quasi-convex. Each step takes the present rho, maximises the level c of the
// program thr_m >= c R_m / (rho (I_m + R_m / iso_m) - t_m), and continues with the rho of that x
// (Dinkelbach's method). It ends when c is 1, which proves that no x has a smaller rho.
//
// State, in addition to the prices: I_m and its increments by job name, for the jobs of the last
// call.
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
