#include "gavel/policies/finish_time.h"

#include <algorithm>
#include <span>

#include "gavel/max_min.h"
#include "gavel/policies/isolated.h"

namespace synergy {
namespace {

constexpr double kFinishProof = 1e-9;  // by how much another x could do better
constexpr int kMostSteps = 60;

// The objective, of the jobs that have iterations left.
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
      rho > 0 ? NeededThroughputs(seen, alone, rho) : none;  // 0: nobody has anything to do
  Result<GavelShares> shares = GreatestSum(seen, floors, best, &sum_memory_);
  if (!shares) return Fail(shares.error());
  return GavelAnswer{.objective = rho, .shares = std::move(*shares)};
}

}  // namespace synergy
