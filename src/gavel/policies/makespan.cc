#include "gavel/policies/makespan.h"

#include <algorithm>
#include <vector>

#include "gavel/max_min.h"

namespace synergy {

Result<GavelAnswer> Makespan::Allocate(const GavelProblem& problem) {
  const GavelProblem seen = Seen(problem, view_, GavelUniform::kReference);
  if (const Result<> runs = CheckThroughputs(seen); !runs) return Fail(runs.error());
  if (const Result<> known = CheckStepsLeft(seen); !known) return Fail(known.error());
  std::vector<double> steps;
  for (const GavelJob& job : seen.jobs) steps.push_back(*job.steps_left);
  const std::vector<double> none(steps.size(), 0);
  std::vector<double> floors = none;
  double duration = 0;
  GavelShares soonest_shares = NoShares(seen);
  if (*std::max_element(steps.begin(), steps.end()) > 0) {
    const Result<MaxMinAnswer> soonest = MaxMin(seen, none, steps, soonest_shares, &level_memory_);
    if (!soonest) return Fail(soonest.error());
    duration = 1 / soonest->level;
    soonest_shares = soonest->shares;
    for (size_t job = 0; job < steps.size(); ++job) floors[job] = steps[job] * soonest->level;
  }
  Result<GavelShares> shares = GreatestSum(seen, floors, soonest_shares, &sum_memory_);
  if (!shares) return Fail(shares.error());
  return GavelAnswer{.objective = duration, .shares = std::move(*shares)};
}

}  // namespace synergy
