#pragma once

// Policies that serve jobs in an order and give each one type for all of its time (Gavel, OSDI'20,
// section 4.2).
//
// Threading: any; no state.

#include "gavel/policies/policies.h"

namespace synergy {

// First in, first out (FIFO): jobs in their order, each on the fastest type
// that has GPUs enough for it (of equals the first by name); the queue stops at the first job that
// fits nowhere. What is scheduled depends on the jobs of the moment alone. A job that runs on none
// of the types that have room is passed over.
//
// Packed: the jobs that are left then join, in their order, the single job of as many GPUs with
// which the sum of normalised throughputs is greatest, if it is above 1.5.
// Agnostic: on the type with the most free GPUs.
class GavelFifo final : public GavelPolicy {
 public:
  explicit GavelFifo(GavelView view) : view_(view) {}

  // Without an objective.
  Result<GavelAnswer> Allocate(const GavelProblem& problem) override;

 private:
  GavelView view_;
};

// Shortest job first: the job that can be done soonest is done as
// soon as can be,
//
//   minimize over x   min over m of   R_m / thr_m
//
// which gives that job its fastest type, and then the same of the jobs and GPUs that are left. A
// job that fits nowhere is passed over. Agnostic: by the reference type's throughputs, each on the
// type with the most free GPUs.
class ShortestFirst final : public GavelPolicy {
 public:
  explicit ShortestFirst(GavelView view) : view_(view) {}

  // The objective is the time of the shortest job.
  Result<GavelAnswer> Allocate(const GavelProblem& problem) override;

 private:
  GavelView view_;
};

}  // namespace synergy
