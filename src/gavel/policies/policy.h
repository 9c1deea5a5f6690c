#pragma once

// A policy of Gavel: the part of its time that each job spends on each GPU type (problem.h).
//
// Threading: one caller at a time; some policies keep state between calls.
// Failures: kInvalid names the field of the problem that the policy requires or does not support;
// kUnavailable if the solver gave up.

#include "core/result.h"
#include "gavel/problem.h"

namespace synergy {

class GavelPolicy {
 public:
  virtual ~GavelPolicy() = default;

  // REQUIRES: `problem` has at least one job, and GPUs.
  virtual Result<GavelAnswer> Allocate(const GavelProblem& problem) = 0;
};

}  // namespace synergy
