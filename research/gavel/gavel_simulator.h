#pragma once

// The simulator of Gavel's authors (OSDI'20), job by job. Its behaviour:
//
// * Time advances in rounds of 360 s. At the beginning of a round, the jobs arrive that have been
//   submitted; the policy is asked if it is due, and the round mechanism assigns types to jobs
//   (gavel/round_mechanism.h). Jobs that arrived after the last solve do not use the GPUs that they
//   are given.
// * Policies that do not distinguish types (without _perf or _packed in their name) must not profit
//   from an order of types: it is random in each round, and the same in each run.
// * A job makes min(floor(360 T), remaining) iterations in a round. The round ends with the last of
//   its jobs; GPUs of those that end earlier idle until then. Nothing else takes time.
// * Two jobs of one GPU each that share it hold it until both have made their iterations of the
//   round; a job that ends in this round ends then.
// * If no job runs, the next round begins with the next arrival or when the policy may be asked
//   again.
//
// Different from the original: a job of several GPUs whose iterations do not divide by them runs
// like any other.
//
// Threading: pure.

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "gavel/problem.h"
#include "research/gavel/gavel_input.h"
#include "sim/statistics.h"

namespace synergy {

// A call of the policy and its answer.
struct GavelSolve {
  Seconds at;
  const GavelProblem& problem;
  const GavelAnswer& answer;
};

struct GavelOptions {
  std::vector<std::string> types;  // fastest first
  std::vector<double> gpus;        // per type
  std::vector<double> costs;       // per GPU and hour, by type; empty: unknown
  std::string policy;
  // Both may be empty.
  std::function<void(const GavelSolve&)> on_solve;
  std::function<void(size_t)> on_finished;  // number of finished jobs
};

struct GavelRun {
  std::vector<JobTimes> jobs;  // in the order of the input
  size_t rounds = 0;
  size_t solves = 0;
};

// kInvalid for an unknown policy, for one that needs data that trace and throughputs lack, and for
// a job that runs on no type with enough GPUs for it.
Result<GavelRun> SimulateGavel(std::span<const GavelTraceJob> jobs,
                               const GavelThroughputs& throughputs, const GavelOptions& options);

}  // namespace synergy
