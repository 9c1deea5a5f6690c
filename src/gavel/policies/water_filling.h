#pragma once

// Max-min fairness level by level, for jobs or for entities of jobs (Gavel, OSDI'20, sections 4.3
// and 4.4). All jobs rise together, each by its weight, until some cannot rise any more; these are
// frozen, the others go on:
//
//   maximize over x   c     with   s_m thr_m / prop_m >= l_m + c v_m   for every job m
//
// l_m: the job's level so far; v_m: its weight at present, 0 for a frozen one. Without entities
// v_m = w_m, and the levels are the lexicographic optimum of max_min_fairness.h. An entity e of
// weight W_e gives its jobs v_m = W_e w_m / (sum of w over its jobs that are not frozen), or, by
// FIFO, W_e to the first of them and nothing to the others.
//
// The authors find who is stuck by a mixed-integer program. Here it is who has a price in the
// linear one: jobs that have are stuck in every optimum, and some job always has. Agnostic: T_mj
// = 1.
//
// Threading: any; no state.

#include "gavel/policies/policy.h"

namespace synergy {

class WaterFilling final : public GavelPolicy {
 public:
  // `hierarchical`: by the problem's entities, which then are not empty.
  WaterFilling(GavelView view, bool hierarchical) : view_(view), hierarchical_(hierarchical) {}

  // The objective is the first level.
  Result<GavelAnswer> Allocate(const GavelProblem& problem) override;

 private:
  GavelView view_;
  bool hierarchical_;
};

}  // namespace synergy
