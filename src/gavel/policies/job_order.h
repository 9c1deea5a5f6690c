#pragma once

// Policies that serve jobs in an order and give each one type for all of its time (Gavel, OSDI'20,
// section 4.2). They need no solver.
//
// Threading: from any thread; no state.

#include <memory>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "gavel/policies/policies.h"

namespace synergy {

// First in, first out (FIFO): jobs in their order, each on the fastest type with enough free GPUs
// for it (the first by name on a tie); the queue stops at the first job that fits nowhere. The
// answer depends only on the present jobs. A job that runs on none of the types with room is
// skipped.
//
// Packed: the remaining jobs then join, in their order, the single job with equally many GPUs for
// which the sum of normalised throughputs is greatest, if it is above 1.5. Agnostic: on the type
// with the most free GPUs.
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
// which gives that job its fastest type, and then repeats this with the remaining jobs and GPUs. A
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

// Makes a policy of this file. kInvalid for a policy that needs a solver.
Result<std::unique_ptr<GavelPolicy>> MakeJobOrder(std::string_view name);
std::vector<std::string_view> JobOrderNames();

}  // namespace synergy
