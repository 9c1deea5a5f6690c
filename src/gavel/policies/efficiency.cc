#include "gavel/policies/efficiency.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "gavel/max_min.h"
#include "gavel/priced_plans.h"
#include "gavel/shares.h"

namespace synergy {
namespace {

// The throughput that a deadline requires, relative to the job's best; more than 1 is impossible.
struct Deadline {
  size_t job;
  double part;
};

struct Choice {
  Result<Solution> solution;
  GavelShares shares;
  std::vector<size_t> dropped;  // positions among the deadlines
};

class DeadlineProgram {
 public:
  DeadlineProgram(const GavelProblem& problem, const std::vector<double>& gains,
                  const std::vector<Deadline>& deadlines)
      : problem_(problem), gains_(gains), deadlines_(deadlines) {}

  // Keeps all deadlines; the solution has no values if that is impossible.
  Choice KeepAll() const {
    SharesProgram program = WithGains();
    for (const Deadline& deadline : deadlines_) program.AddRow(Kept(program, deadline));
    Choice choice{.solution = program.Solve(), .shares = {}, .dropped = {}};
    if (Solved(choice)) choice.shares = program.Shares(*choice.solution);
    return choice;
  }

  // Drops as few deadlines as possible.
  Choice DropFewest() const {
    SharesProgram counting(problem_);
    const std::vector<size_t> counted = AddDrops(counting, -1);
    const Result<Solution> fewest = counting.Solve();
    if (!fewest || fewest->values.empty()) {
      return {.solution = fewest, .shares = {}, .dropped = {}};
    }
    SharesProgram program = WithGains();
    const std::vector<size_t> drops = AddDrops(program, 0);
    Row count{.upper = -fewest->objective};
    for (const size_t drop : drops) count.terms.push_back({drop, 1});
    program.AddRow(std::move(count));
    Choice choice{.solution = program.Solve(), .shares = {}, .dropped = {}};
    if (!Solved(choice)) return choice;
    choice.shares = program.Shares(*choice.solution);
    for (size_t i = 0; i < drops.size(); ++i) {
      if (choice.solution->values[drops[i]] > 0) choice.dropped.push_back(i);
    }
    return choice;
  }

  static bool Solved(const Choice& choice) {
    return choice.solution && !choice.solution->values.empty();
  }

 private:
  SharesProgram WithGains() const {
    SharesProgram program(problem_);
    for (size_t job = 0; job < problem_.jobs.size(); ++job) program.SetGain(job, gains_);
    return program;
  }

  Row Kept(const SharesProgram& program, const Deadline& deadline) const {
    const double scale = 1 / BestThroughput(problem_.jobs[deadline.job]);
    return {.lower = deadline.part, .terms = program.Throughput(deadline.job, scale)};
  }

  // Adds a variable for each deadline: 1 if it is dropped.
  std::vector<size_t> AddDrops(SharesProgram& program, double objective) const {
    std::vector<size_t> drops;
    for (const Deadline& deadline : deadlines_) {
      drops.push_back(program.AddVariable({.upper = 1, .objective = objective, .integer = true}));
      Row row = Kept(program, deadline);
      row.terms.push_back({drops.back(), deadline.part});
      program.AddRow(std::move(row));
    }
    return drops;
  }

  const GavelProblem& problem_;
  const std::vector<double>& gains_;
  const std::vector<Deadline>& deadlines_;
};

// Solves by prices, without pairs, with all deadlines kept. Returns nullopt if the deadlines cannot
// all be kept.
std::optional<GavelShares> ByPrices(const GavelProblem& problem, const std::vector<double>& gains,
                                    const std::vector<Deadline>& deadlines, PriceMemory& reach,
                                    PriceMemory& sum) {
  std::vector<double> floors(problem.jobs.size(), 0);
  for (const Deadline& deadline : deadlines)
    floors[deadline.job] = deadline.part * BestThroughput(problem.jobs[deadline.job]);
  GavelShares known = NoShares(problem);
  if (!deadlines.empty()) {
    auto reached = ReachByPrices(problem, floors, &reach);
    if (!reached) return std::nullopt;
    known = *std::move(reached);
  }
  std::vector<double> worth;
  worth.reserve(problem.jobs.size() * gains.size());
  for (const GavelJob& job : problem.jobs) {
    for (size_t type = 0; type < gains.size(); ++type)
      worth.push_back(gains[type] * job.throughput[type]);
  }
  return GreatestSumByPrices(problem, floors, std::move(worth), known, &sum);
}

double TotalGain(const GavelProblem& problem, const GavelShares& shares,
                 const std::vector<double>& gains) {
  double total = 0;
  for (size_t job = 0; job < problem.jobs.size(); ++job) {
    for (size_t type = 0; type < gains.size(); ++type)
      total += gains[type] * problem.jobs[job].throughput[type] * shares.jobs[job][type];
  }
  return total;
}

}  // namespace

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

Result<GavelAnswer> TotalThroughput::Allocate(const GavelProblem& problem) {
  const GavelProblem seen = Seen(problem, view_, GavelUniform::kReference);
  if (const Result<> runs = CheckThroughputs(seen); !runs) return Fail(runs.error());
  std::vector<double> gains(seen.types.size(), 1);
  if (options_.by_cost) {
    if (seen.costs.empty()) {
      return Fail(ErrorCode::kInvalid, "instance_costs: missing; the policy divides by them");
    }
    for (size_t type = 0; type < gains.size(); ++type) gains[type] = 1 / seen.costs[type];
  }
  if (options_.deadlines) {
    if (const Result<> known = CheckStepsLeft(seen); !known) return Fail(known.error());
  }
  GavelAnswer answer;
  std::vector<Deadline> deadlines;
  for (size_t job = 0; options_.deadlines && job < seen.jobs.size(); ++job) {
    const GavelJob& each = seen.jobs[job];
    if (!each.deadline || *each.steps_left <= 0) continue;
    const double most = BestThroughput(each) * *each.deadline;
    // No measurement shows a job faster in a pair than alone, but the input may claim it.
    const bool possible = most >= *each.steps_left || (most > 0 && !seen.pairs.empty());
    if (possible) {
      deadlines.push_back({job, *each.steps_left / most});
    } else {
      answer.missed.push_back(job);
    }
  }
  if (seen.pairs.empty()) {
    if (auto shares = ByPrices(seen, gains, deadlines, reach_memory_, sum_memory_)) {
      answer.objective = TotalGain(seen, *shares, gains);
      answer.shares = *std::move(shares);
      return answer;
    }
  }
  const DeadlineProgram program(seen, gains, deadlines);
  Choice choice = program.KeepAll();
  if (choice.solution && choice.solution->status == SolveStatus::kInfeasible) {
    choice = program.DropFewest();
  }
  if (!choice.solution) return Fail(choice.solution.error());
  if (!DeadlineProgram::Solved(choice)) {
    return Fail(ErrorCode::kUnavailable, "the solver found no allocation within its time limit");
  }
  for (const size_t dropped : choice.dropped) answer.missed.push_back(deadlines[dropped].job);
  std::sort(answer.missed.begin(), answer.missed.end());
  answer.objective = choice.solution->objective;
  answer.shares = std::move(choice.shares);
  return answer;
}

}  // namespace synergy
