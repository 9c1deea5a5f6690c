#pragma once

// Orders jobs by the reference simulator's policies.
//
// Threading: pure.

#include <vector>

#include "research/reference/amounts.h"
#include "research/reference/job.h"
#include "research/reference/reference_simulator.h"

namespace synergy::reference {

struct OrderContext {
  ReferencePolicy policy = ReferencePolicy::kFifo;
  bool fair_speed = false;  // remaining time is calculated at the fair share's speed
  Amounts total{};          // amounts of the cluster
  double now = 0;           // seconds
};

// Sorts the jobs into the policy's order; equal jobs keep their order. Uses the speeds of the last
// round.
void Order(std::vector<Job*>& jobs, const OrderContext& context);

}  // namespace synergy::reference
