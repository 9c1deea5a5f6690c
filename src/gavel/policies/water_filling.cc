#include "gavel/policies/water_filling.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "gavel/max_min.h"

namespace synergy {
namespace {

constexpr double kNoPrice = 1e-7;  // of 1, that all jobs have together

// v_m.
std::vector<double> Weights(const GavelProblem& problem, bool hierarchical,
                            const std::vector<bool>& frozen) {
  std::vector<double> weights(problem.jobs.size(), 0);
  if (!hierarchical) {
    for (size_t job = 0; job < weights.size(); ++job) {
      if (!frozen[job]) weights[job] = problem.jobs[job].weight;
    }
    return weights;
  }
  for (const GavelEntity& entity : problem.entities) {
    double sum = 0;
    for (const size_t job : entity.jobs) {
      if (frozen[job]) continue;
      weights[job] = entity.fifo ? 1 : problem.jobs[job].weight;
      sum += weights[job];
      if (entity.fifo) break;
    }
    for (const size_t job : entity.jobs) weights[job] *= sum > 0 ? entity.weight / sum : 0;
  }
  return weights;
}

// At least one is.
void Freeze(const std::vector<double>& prices, std::vector<bool>& frozen) {
  const auto dearest = std::max_element(prices.begin(), prices.end());
  frozen[static_cast<size_t>(dearest - prices.begin())] = true;
  for (size_t job = 0; job < prices.size(); ++job) {
    if (prices[job] > kNoPrice) frozen[job] = true;
  }
}

}  // namespace

Result<GavelAnswer> WaterFilling::Allocate(const GavelProblem& problem) {
  if (hierarchical_ && problem.entities.empty()) {
    return Fail(ErrorCode::kInvalid, "entities: missing; the policy divides among them");
  }
  const GavelProblem seen = Seen(problem, view_, GavelUniform::kOne);
  if (const Result<> runs = CheckThroughputs(seen); !runs) return Fail(runs.error());
  std::vector<double> unit;  // throughput for a level of 1
  for (size_t job = 0; job < seen.jobs.size(); ++job)
    unit.push_back(ProportionalThroughput(seen, job) / seen.jobs[job].gpus);
  std::vector<double> floors(unit.size(), 0);
  std::vector<bool> frozen(unit.size(), false);
  GavelAnswer answer{.shares = NoShares(seen)};
  PriceMemory memory;  // from level to level
  while (std::count(frozen.begin(), frozen.end(), false) > 0) {
    std::vector<double> rise = Weights(seen, hierarchical_, frozen);
    for (size_t job = 0; job < rise.size(); ++job) rise[job] *= unit[job];
    const Result<MaxMinAnswer> level = MaxMin(seen, floors, rise, answer.shares, &memory);
    if (!level) return Fail(level.error());
    if (!answer.objective) answer.objective = level->level;
    // No more than what was reached: the solver may have rounded in the jobs' favour.
    const double risen = std::max(level->level, 0.0);
    const std::vector<double> reached = ThroughputsOf(seen, level->shares);
    for (size_t job = 0; job < rise.size(); ++job)
      floors[job] = std::min(floors[job] + risen * rise[job], reached[job]);
    answer.shares = level->shares;
    Freeze(level->prices, frozen);
  }
  return answer;
}

}  // namespace synergy
