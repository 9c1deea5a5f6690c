#pragma once

// Shortest job first (Gavel, OSDI'20, section 4.2): the job that can be done soonest is done as
// soon as can be,
//
//   minimize over x   min over m of   R_m / thr_m
//
// which gives that job its fastest type, and then the same of the jobs and GPUs that are left. A
// job that fits nowhere is passed over. Agnostic: by the reference type's throughputs, each on the
// type with the most free GPUs.
//
// Threading: any; no state.

#include "gavel/policies/policy.h"

namespace synergy {

class ShortestFirst final : public GavelPolicy {
 public:
  explicit ShortestFirst(GavelView view) : view_(view) {}

  // The objective is the time of the shortest job.
  Result<GavelAnswer> Allocate(const GavelProblem& problem) override;

 private:
  GavelView view_;
};

}  // namespace synergy
