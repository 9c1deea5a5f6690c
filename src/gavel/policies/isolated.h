#pragma once

// To each job its part of every type, as if the cluster were cut into M equal ones (Gavel, OSDI'20,
// section 4.1):
//
//   x_mj = n_j / (M s_m), a job's row scaled down to sum 1 where it is more
//
// What finish-time fairness compares with. It asks for no throughput.
//
// Threading: any; no state.

#include "gavel/policies/policy.h"

namespace synergy {

GavelShares IsolatedShares(const GavelProblem& problem);

class Isolated final : public GavelPolicy {
 public:
  // Without an objective.
  Result<GavelAnswer> Allocate(const GavelProblem& problem) override;
};

}  // namespace synergy
