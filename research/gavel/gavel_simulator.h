#pragma once

// The simulator of Gavel's authors (OSDI'20), job by job. What it does:
//
// * Time goes in rounds of 360 s. At the beginning of one those jobs arrive that have been
//   submitted; the policy is asked if it is due, and the round mechanism says who runs where
//   (gavel/round_mechanism.h). Jobs that came after the last solve idle the GPUs they are given.
// * Policies that are not aware of types (without _perf or _packed in their name) must not profit
//   from an order of types: it is drawn anew for each round, in each run alike.
// * A job makes min(floor(360 T), what is left) iterations in a round. The round ends with the last
//   of its jobs; GPUs of those that end earlier idle until then. Nothing else takes time.
// * Two jobs of one GPU each that share it hold it until both have made their iterations of the
//   round, and one that ends in this round ends then.
// * Where nobody runs, the next round begins with the next arrival or when the policy may be asked
//   again.
//
// Not as there: a job of several GPUs whose iterations do not divide by them runs like any other.
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

// What the policy was asked, and its answer.
struct GavelSolve {
  Seconds at;
  const GavelProblem& problem;
  const GavelAnswer& answer;
};

struct GavelOptions {
  std::vector<std::string> types;  // fastest first
  std::vector<double> gpus;        // per type
  std::vector<double> costs;       // per type and hour; empty: not known
  std::string policy;
  // Both may be empty.
  std::function<void(const GavelSolve&)> tell_solve;
  std::function<void(size_t)> tell_finished;  // how many jobs have finished
};

struct GavelRun {
  std::vector<JobTimes> jobs;  // in the order of the input
  size_t rounds = 0;
  size_t solves = 0;
};

// kInvalid for a policy that is not known or needs what trace and throughputs do not tell, and for
// a job that runs on no type with GPUs enough for it.
Result<GavelRun> SimulateGavel(std::span<const GavelTraceJob> jobs,
                               const GavelThroughputs& throughputs, const GavelOptions& options);

}  // namespace synergy
