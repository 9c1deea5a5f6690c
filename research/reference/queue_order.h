#pragma once

// The order of jobs under the reference simulator's policies.
//
// Threading: pure.

#include <vector>

#include "research/reference/amounts.h"
#include "research/reference/job.h"
#include "research/reference/reference_simulator.h"

namespace synergy::reference {

struct OrderContext {
  ReferencePolicy policy = ReferencePolicy::kFifo;
  bool fair_speed = false;  // remaining time counts at the fair share
  Amounts total{};          // the cluster's
  double now = 0;           // seconds
};

// Sorts the jobs into the policy's order; equal jobs keep their order. Speeds are those of the last
// round.
void Order(std::vector<Job*>& jobs, const OrderContext& context);

}  // namespace synergy::reference
