#pragma once

// Elastic trainings (elastic_training.h) on a pool of GPUs of one type, in rounds:
//
// * At the beginning of a round those jobs arrive that have been submitted, and the policy says how
//   many workers each has until the next. A GPU whose job ends idles until then.
// * A job that gets another number of workers than it had loses the restart cost, one that is tried
//   with several at first (kOptimus) that cost for each of them.
// * Where the GPUs are does not matter: no servers, no placement.
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
  kOptimus,       // marginal gains, by what is fitted
  kOptimusExact,  // by the iterations that are truly left, and speeds without noise or trial
  // Least remaining time first, each job with the GPUs that it asks for; one that does not fit is
  // passed over. Knows the iterations that are left.
  kSrtf,
  kEqual,  // as many workers for each as for others, from its least to its most, in whole workers
};

struct ElasticPolicyName {
  std::string_view name;
  std::string_view meaning;  // one line, for people
};
std::span<const ElasticPolicyName> ElasticPolicyNames();
// kInvalid lists the names.
Result<ElasticPolicy> ParseElasticPolicy(std::string_view name);

struct ElasticOptions {
  ElasticPolicy policy = ElasticPolicy::kOptimus;
  int gpus = 1;
  std::string type;  // whose speeds count
  Seconds round{600};
  Seconds restart_cost{30};                   // below `round`
  uint64_t seed = 0;                          // of losses and noise
  std::function<void(size_t)> tell_finished;  // how many jobs have finished; may be empty
};

struct ElasticRun {
  std::vector<JobTimes> jobs;  // in the order of the input
  size_t rounds = 0;
  size_t restarts = 0;         // changes of a running or waiting job's workers after its start
  double gpu_utilisation = 0;  // GPUs that jobs had, of all, until the last one ended
};

// kInvalid for a job whose model is not known or that is larger than the pool.
Result<ElasticRun> SimulateElastic(std::span<const GavelTraceJob> jobs,
                                   const GavelThroughputs& throughputs,
                                   const ElasticOptions& options);

}  // namespace synergy
