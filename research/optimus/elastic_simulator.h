#pragma once

// Simulates elastic trainings (elastic_training.h) in rounds, on a pool of GPUs of one type:
//
// * At the beginning of a round, submitted jobs arrive, and the policy sets each job's number of
//   workers until the next round. If a job ends earlier, its GPUs are idle until then.
// * When a job's number of workers changes, the job loses the restart cost. A job that is tried
//   with several numbers first (kOptimus) loses it for each of them.
// * The location of GPUs does not matter: there are no servers and no placement.
//
// Threading: pure.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "research/gavel/gavel_input.h"
#include "sim/statistics.h"

namespace synergy {

enum class ElasticPolicy {
  kOptimus,  // marginal gains, by fitted curves
  // by the true number of remaining iterations, and true speeds without noise or trials
  kOptimusExact,
  // Least remaining time first, each job with the GPUs that it requests. A job that does not fit is
  // skipped. Uses the true number of remaining iterations.
  kSrtf,
  kEqual,  // the same number of workers for all, within each job's limits
};

struct ElasticPolicyName {
  std::string_view name;
  std::string_view meaning;  // a line for help texts
};
std::span<const ElasticPolicyName> ElasticPolicyNames();
// kInvalid lists the names.
Result<ElasticPolicy> ParseElasticPolicy(std::string_view name);

struct ElasticOptions {
  ElasticPolicy policy = ElasticPolicy::kOptimus;
  int gpus = 1;
  std::string type;  // the type whose speeds are used
  Seconds round{600};
  Seconds restart_cost{30};                 // less than `round`
  uint64_t seed = 0;                        // seed of the losses and of the noise
  std::function<void(size_t)> on_finished;  // number of finished jobs; may be empty
};

struct ElasticRun {
  std::vector<JobTimes> jobs;  // in the order of the input
  size_t rounds = 0;
  size_t restarts = 0;         // number of changes of jobs' workers after their start
  double gpu_utilisation = 0;  // fraction of GPUs that jobs held, until the last job ended
};

// Returns kInvalid for a job whose model is unknown, or which is larger than the pool.
Result<ElasticRun> SimulateElastic(std::span<const GavelTraceJob> jobs,
                                   const GavelThroughputs& throughputs,
                                   const ElasticOptions& options);

}  // namespace synergy
