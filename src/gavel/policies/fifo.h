#pragma once

// First in, first out (Gavel, OSDI'20, section 4.2): jobs in their order, each on the fastest type
// that has GPUs enough for it (of equals the first by name); the queue stops at the first job that
// fits nowhere. What is scheduled depends on the jobs of the moment alone. A job that runs on none
// of the types that have room is passed over.
//
// Packed: the jobs that are left then join, in their order, the single job of as many GPUs with
// which the sum of normalised throughputs is greatest, if it is above 1.5.
// Agnostic: on the type with the most free GPUs.
//
// Threading: any; no state.

#include "gavel/policies/policy.h"

namespace synergy {

class GavelFifo final : public GavelPolicy {
 public:
  explicit GavelFifo(GavelView view) : view_(view) {}

  // Without an objective.
  Result<GavelAnswer> Allocate(const GavelProblem& problem) override;

 private:
  GavelView view_;
};

}  // namespace synergy
