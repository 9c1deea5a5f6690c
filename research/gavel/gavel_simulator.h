#pragma once

// The simulator of Gavel's authors (OSDI'20), job by job. Its behaviour:
//
// * Time advances in rounds of 360 s. At the beginning of a round, submitted jobs arrive, the
//   policy solves if it is due, and the round mechanism assigns types to jobs
//   (gavel/round_mechanism.h). Jobs that arrived after the last solve do not use the GPUs that they
//   are given.
// * Policies that do not distinguish types (without _perf or _packed in their name) must not profit
//   from the order of types. So that order is random in each round, but the same in each run.
// * A job does min(floor(360 T), remaining) iterations in a round. The round ends with the last of
//   its jobs; the GPUs of jobs that end earlier are idle until then. Nothing else takes time. T is
//   the job's throughput in iterations per second.
// * If two jobs share a GPU, they hold it until both have done their iterations of the round. A job
//   that ends in this round ends at that time.
// * If no job runs, the next round begins at the next arrival, or when the policy may solve again.
//
// One difference from the original: a job with several GPUs runs even if its iterations cannot be
// divided equally among them.
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
  std::vector<double> gpus;        // for each type
  std::vector<double> costs;       // per GPU and hour, by type; empty: unknown
  std::string policy;
  // `on_solve` and `on_finished` may be empty.
  std::function<void(const GavelSolve&)> on_solve;
  std::function<void(size_t)> on_finished;  // number of finished jobs
};

struct GavelRun {
  std::vector<JobTimes> jobs;  // in the order of the input
  size_t rounds = 0;
  size_t solves = 0;
};

// Returns kInvalid for an unknown policy, and for one that needs data that the trace or the
// throughputs lack. Also returns kInvalid for a job that runs on no type with enough GPUs for it.
Result<GavelRun> SimulateGavel(std::span<const GavelTraceJob> jobs,
                               const GavelThroughputs& throughputs, const GavelOptions& options);

}  // namespace synergy
