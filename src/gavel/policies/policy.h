#pragma once

// A policy of Gavel: which part of its time each job spends on each GPU type (problem.h).
//
// Threading: one caller at a time; some policies remember what they were asked before.
// Failures: kInvalid names the field of the problem that the policy cannot do with or without;
// kUnavailable when the solver gave up.

#include "core/result.h"
#include "gavel/problem.h"

namespace synergy {

class GavelPolicy {
 public:
  virtual ~GavelPolicy() = default;

  // `problem`: at least one job, and GPUs.
  virtual Result<GavelAnswer> Allocate(const GavelProblem& problem) = 0;
};

}  // namespace synergy
