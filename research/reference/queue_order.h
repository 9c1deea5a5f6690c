#pragma once

// Who goes first, by the reference simulator's policies.
//
// Threading: pure.

#include <vector>

#include "research/reference/amounts.h"
#include "research/reference/job.h"
#include "research/reference/reference_simulator.h"

namespace synergy::reference {

struct OrderContext {
  ReferencePolicy policy = ReferencePolicy::kFifo;
  bool fair_speed = false;  // remaining time is counted at the fair share
  Amounts total{};          // the cluster's
  double now = 0;           // seconds
};

// Puts the jobs into the policy's order; jobs that are alike stay as they were. Speeds are those of
// the last round.
void Order(std::vector<Job*>& jobs, const OrderContext& context);

}  // namespace synergy::reference
