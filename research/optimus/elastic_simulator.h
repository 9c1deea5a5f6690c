#pragma once

// Elastic trainings (elastic_training.h) on a pool of GPUs of one type, in rounds:
//
// * At the beginning of a round, the jobs arrive that have been submitted, and the policy sets the
//   number of workers of each until the next round. A GPU whose job ends idles until then.
// * A job whose number of workers changes loses the restart cost; a job that is tried with several
//   numbers at first (kOptimus) loses it for each of them.
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
  kOptimus,       // marginal gains, by fitted curves
  kOptimusExact,  // by the true remaining iterations, and speeds without noise or trial
  // Least remaining time first, each job with the GPUs that it asks for; a job that does not fit is
  // skipped. Uses the true remaining iterations.
  kSrtf,
  kEqual,  // equally many workers for all, from each job's least to its most, in whole workers
};

struct ElasticPolicyName {
  std::string_view name;
  std::string_view meaning;  // one line, for help texts
};
std::span<const ElasticPolicyName> ElasticPolicyNames();
// kInvalid lists the names.
Result<ElasticPolicy> ParseElasticPolicy(std::string_view name);

struct ElasticOptions {
  ElasticPolicy policy = ElasticPolicy::kOptimus;
  int gpus = 1;
  std::string type;  // the type whose speeds are used
  Seconds round{600};
  Seconds restart_cost{30};                 // below `round`
  uint64_t seed = 0;                        // seed of losses and noise
  std::function<void(size_t)> on_finished;  // number of finished jobs; may be empty
};

struct ElasticRun {
  std::vector<JobTimes> jobs;  // in the order of the input
  size_t rounds = 0;
  size_t restarts = 0;         // changes of a job's workers after its start
  double gpu_utilisation = 0;  // fraction of GPUs that jobs had, until the last one ended
};

// kInvalid for a job whose model is unknown or that is larger than the pool.
Result<ElasticRun> SimulateElastic(std::span<const GavelTraceJob> jobs,
                                   const GavelThroughputs& throughputs,
                                   const ElasticOptions& options);

}  // namespace synergy
