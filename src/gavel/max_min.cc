#include "gavel/max_min.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "gavel/priced_plans.h"
#include "gavel/shares.h"

namespace synergy {
namespace {

// Slacks leave room for the solver's rounding if a floor is its own earlier answer. A larger slack
// loses precision, and is tried only if there is no solution with a smaller one.
constexpr double kSlacks[] = {1e-9, 1e-8, 1e-7, 1e-6, 1e-5};

// Returns nullopt if there is no answer with that slack.
Result<std::optional<MaxMinAnswer>> TryMaxMin(const GavelProblem& problem,
                                              std::span<const double> base,
                                              std::span<const double> rise,
                                              const GavelShares& known, double slack) {
  // Scale rows to fractions of each job's best throughput, and the level to about 1, because the
  // solver's tolerances are absolute.
  const size_t jobs = problem.jobs.size();
  std::vector<double> scale;
  double unit = 0;
  for (size_t job = 0; job < jobs; ++job) {
    scale.push_back(1 / BestThroughput(problem.jobs[job]));
    unit = std::max(unit, rise[job] * scale[job]);
  }
  SharesProgram program(problem);
  const size_t level = program.AddVariable({.lower = -kUnbounded, .objective = 1});
  const size_t first_row = problem.types.size() + jobs;
  for (size_t job = 0; job < jobs; ++job) {
    Row row{.lower = base[job] * scale[job] * (1 - slack),
            .terms = program.Throughput(job, scale[job])};
    if (rise[job] > 0) row.terms.push_back({level, -rise[job] * scale[job] / unit});
    program.AddRow(std::move(row));
  }
  const Result<Solution> solution = program.Solve(known);
  if (!solution) return Fail(solution.error());
  if (solution->status != SolveStatus::kOptimal) return std::nullopt;
  MaxMinAnswer answer{.level = solution->values[level] / unit, .shares = program.Shares(*solution)};
  for (size_t job = 0; job < jobs; ++job) {
    const double price = std::abs(solution->prices[first_row + job]);
    answer.prices.push_back(price * rise[job] * scale[job] / unit);
  }
  return answer;
}

}  // namespace

Result<MaxMinAnswer> MaxMin(const GavelProblem& problem, std::span<const double> base,
                            std::span<const double> rise, const GavelShares& known,
                            PriceMemory* memory) {
  if (problem.pairs.empty()) {
    if (auto answer = MaxMinByPrices(problem, base, rise, known, memory)) return *std::move(answer);
  }
  for (const double slack : kSlacks) {
    Result<std::optional<MaxMinAnswer>> answer = TryMaxMin(problem, base, rise, known, slack);
    if (!answer) return Fail(answer.error());
    if (*answer) return std::move(**answer);
  }
  return Fail(ErrorCode::kUnavailable, "the solver found no optimum for these throughputs");
}

Result<GavelShares> GreatestSum(const GavelProblem& problem, std::span<const double> floors,
                                const GavelShares& known, PriceMemory* memory) {
  if (problem.pairs.empty()) {
    std::vector<double> gains;
    gains.reserve(problem.jobs.size() * problem.types.size());
    for (size_t job = 0; job < problem.jobs.size(); ++job) {
      const double gain = 1 / ProportionalThroughput(problem, job);
      for (const double throughput : problem.jobs[job].throughput)
        gains.push_back(gain * throughput);
    }
    if (auto shares = GreatestSumByPrices(problem, floors, std::move(gains), known, memory)) {
      return *std::move(shares);
    }
  }
  SharesProgram program(problem);
  for (size_t job = 0; job < problem.jobs.size(); ++job) {
    const double scale = 1 / BestThroughput(problem.jobs[job]);
    program.SetGain(job, 1 / ProportionalThroughput(problem, job));
    program.AddRow(
        {.lower = floors[job] * scale * (1 - kSlacks[0]), .terms = program.Throughput(job, scale)});
  }
  const Result<Solution> solution = program.Solve(known);
  if (!solution) return Fail(solution.error());
  if (solution->status != SolveStatus::kOptimal) return known;
  return program.Shares(*solution);
}

}  // namespace synergy
