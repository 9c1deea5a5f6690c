#include "gavel/policies/max_min_fairness.h"

#include <vector>

#include "gavel/max_min.h"

namespace synergy {

Result<GavelAnswer> MaxMinFairness::Allocate(const GavelProblem& problem) {
  const GavelProblem seen = Seen(problem, view_, GavelUniform::kOne);
  if (const Result<> runs = CheckThroughputs(seen); !runs) return Fail(runs.error());
  std::vector<double> rise;
  for (size_t job = 0; job < seen.jobs.size(); ++job) {
    rise.push_back(seen.jobs[job].weight * ProportionalThroughput(seen, job) / seen.jobs[job].gpus);
  }
  const std::vector<double> none(rise.size(), 0);
  const Result<MaxMinAnswer> fair = MaxMin(seen, none, rise, NoShares(seen), &level_memory_);
  if (!fair) return Fail(fair.error());
  std::vector<double> floors;
  for (const double part : rise) floors.push_back(fair->level * part);
  Result<GavelShares> shares = GreatestSum(seen, floors, fair->shares, &sum_memory_);
  if (!shares) return Fail(shares.error());
  return GavelAnswer{.objective = fair->level, .shares = std::move(*shares)};
}

}  // namespace synergy
