#include "gavel/policies/fairness.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "gavel/max_min.h"

namespace synergy {
namespace {

constexpr double kNoPrice = 1e-7;  // relative to the total of all jobs, 1

// Returns v_m.
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

// Freezes at least one job.
void Freeze(const std::vector<double>& prices, std::vector<bool>& frozen) {
  const auto dearest = std::max_element(prices.begin(), prices.end());
  frozen[static_cast<size_t>(dearest - prices.begin())] = true;
  for (size_t job = 0; job < prices.size(); ++job) {
    if (prices[job] > kNoPrice) frozen[job] = true;
  }
}

constexpr double kFinishProof = 1e-9;  // largest possible gain of any other x
constexpr int kMostSteps = 60;

// Returns the objective for the jobs with iterations left.
double Rho(const GavelProblem& problem, std::span<const double> alone, const GavelShares& shares) {
  const std::vector<double> throughputs = ThroughputsOf(problem, shares);
  double rho = 0;
  for (size_t job = 0; job < problem.jobs.size(); ++job) {
    const double steps = *problem.jobs[job].steps_left;
    if (steps <= 0) continue;
    rho = std::max(rho, (problem.jobs[job].waited + steps / throughputs[job]) / alone[job]);
  }
  return rho;
}

std::vector<double> NeededThroughputs(const GavelProblem& problem, std::span<const double> alone,
                                      double rho) {
  std::vector<double> needed(problem.jobs.size(), 0);
  for (size_t job = 0; job < problem.jobs.size(); ++job) {
    const double steps = *problem.jobs[job].steps_left;
    if (steps > 0) needed[job] = steps / (rho * alone[job] - problem.jobs[job].waited);
  }
  return needed;
}

}  // namespace

GavelShares IsolatedShares(const GavelProblem& problem) {
  GavelShares shares = NoShares(problem);
  const auto jobs = static_cast<double>(problem.jobs.size());
  for (size_t job = 0; job < problem.jobs.size(); ++job) {
    std::vector<double>& row = shares.jobs[job];
    for (size_t type = 0; type < row.size(); ++type) {
      row[type] = problem.gpus[type] / jobs / problem.jobs[job].gpus;
    }
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    for (double& share : row) share /= std::max(sum, 1.0);
  }
  return shares;
}

Result<GavelAnswer> Isolated::Allocate(const GavelProblem& problem) {
  const GavelProblem seen = Seen(problem, GavelView::kAware, GavelUniform::kOne);
  return GavelAnswer{.shares = IsolatedShares(seen)};
}

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
  PriceMemory memory;  // carried from level to level
  while (std::count(frozen.begin(), frozen.end(), false) > 0) {
    std::vector<double> rise = Weights(seen, hierarchical_, frozen);
    for (size_t job = 0; job < rise.size(); ++job) rise[job] *= unit[job];
    const Result<MaxMinAnswer> level = MaxMin(seen, floors, rise, answer.shares, &memory);
    if (!level) return Fail(level.error());
    if (!answer.objective) answer.objective = level->level;
    // Use only what was reached, because the solver may have rounded up.
    const double risen = std::max(level->level, 0.0);
    const std::vector<double> reached = ThroughputsOf(seen, level->shares);
    for (size_t job = 0; job < rise.size(); ++job)
      floors[job] = std::min(floors[job] + risen * rise[job], reached[job]);
    answer.shares = level->shares;
    Freeze(level->prices, frozen);
  }
  return answer;
}

std::vector<double> FinishTimeFairness::TimesAlone(const GavelProblem& problem) {
  const std::vector<double> isolated = ThroughputsOf(problem, IsolatedShares(problem));
  std::map<std::string, Alone> now;
  std::vector<double> times;
  for (size_t i = 0; i < problem.jobs.size(); ++i) {
    const GavelJob& job = problem.jobs[i];
    Alone alone{.steps_left = *job.steps_left, .throughput = isolated[i]};
    if (const auto before = alone_.find(job.name); before != alone_.end()) {
      const double done = std::max(before->second.steps_left - *job.steps_left, 0.0);
      alone.so_far = before->second.so_far + done / before->second.throughput;
    }
    times.push_back(alone.so_far + *job.steps_left / isolated[i]);
    now.emplace(job.name, alone);
  }
  alone_ = std::move(now);
  return times;
}

Result<GavelAnswer> FinishTimeFairness::Allocate(const GavelProblem& problem) {
  const GavelProblem seen = Seen(problem, view_, GavelUniform::kReference);
  if (const Result<> runs = CheckThroughputs(seen); !runs) return Fail(runs.error());
  if (const Result<> known = CheckStepsLeft(seen); !known) return Fail(known.error());
  const std::vector<double> alone = TimesAlone(seen);
  const std::vector<double> none(seen.jobs.size(), 0);
  GavelShares best = IsolatedShares(seen);
  double rho = Rho(seen, alone, best);
  for (int step = 0; rho > 0 && step < kMostSteps; ++step) {
    const Result<MaxMinAnswer> better =
        MaxMin(seen, none, NeededThroughputs(seen, alone, rho), best, &level_memory_);
    if (!better) return Fail(better.error());
    if (better->level <= 1 + kFinishProof) break;
    const double less = Rho(seen, alone, better->shares);
    if (less >= rho) break;
    rho = less;
    best = better->shares;
  }
  const std::vector<double> floors =
      rho > 0 ? NeededThroughputs(seen, alone, rho) : none;  // 0: no job has work left
  Result<GavelShares> shares = GreatestSum(seen, floors, best, &sum_memory_);
  if (!shares) return Fail(shares.error());
  return GavelAnswer{.objective = rho, .shares = std::move(*shares)};
}

}  // namespace synergy
