#pragma once

// Policies that serve jobs in an order and give each job one type for all its time (Gavel, OSDI'20,
// section 4.2). They need no solver.
//
// Threading: any thread; no state.

#include <memory>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "gavel/policies/policies.h"

namespace synergy {

// First in, first out (FIFO): jobs in their order, each on its fastest type with enough free GPUs
// (the first by name on a tie). The queue stops at the first job for which no type has enough free
// GPUs. A job that cannot run on any of the types with enough free GPUs is skipped. The answer
// depends only on the present jobs.
//
// Packed: each remaining job, in order, then joins a single job with equally many GPUs. It joins
// the one with the greatest sum of normalised throughputs, if that sum is above 1.5. Agnostic: on
// the type with the most free GPUs.
class GavelFifo final : public GavelPolicy {
 public:
  explicit GavelFifo(GavelView view) : view_(view) {}

  // The answer has no objective.
  Result<GavelAnswer> Allocate(const GavelProblem& problem) override;

 private:
  GavelView view_;
};

// Shortest job first: finishes the shortest job as soon as possible,
//
//   minimize over x   min over m of   R_m / thr_m
//
// This gives that job its fastest type, and is then repeated with the remaining jobs and GPUs. A
// job that fits nowhere is skipped. Agnostic: by the reference type's throughputs, each on the type
// with the most free GPUs.
class ShortestFirst final : public GavelPolicy {
 public:
  explicit ShortestFirst(GavelView view) : view_(view) {}

  // The objective is the time of the shortest job.
  Result<GavelAnswer> Allocate(const GavelProblem& problem) override;

 private:
  GavelView view_;
};

// Makes a policy of this file. Returns kInvalid for a policy that needs a solver.
Result<std::unique_ptr<GavelPolicy>> MakeJobOrder(std::string_view name);
std::vector<std::string_view> JobOrderNames();

}  // namespace synergy
