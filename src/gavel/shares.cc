#include "gavel/shares.h"

#include <algorithm>
#include <limits>

#include "solver/column_generation.h"

namespace synergy {
namespace {

constexpr size_t kNone = std::numeric_limits<size_t>::max();

}  // namespace

SharesProgram::SharesProgram(const GavelProblem& problem) : problem_(problem) {
  program_.sense = Sense::kMaximize;
  const size_t types = problem.types.size();
  std::vector<Row> capacity(types);
  for (size_t type = 0; type < types; ++type) capacity[type].upper = problem.gpus[type];
  std::vector<Row> time(problem.jobs.size());
  columns_.resize(problem.jobs.size());
  for (size_t job = 0; job < problem.jobs.size(); ++job) {
    time[job].upper = 1;
    std::vector<size_t>& variables = job_variables_.emplace_back(types, kNone);
    for (size_t type = 0; type < types; ++type) {
      const double throughput = problem.jobs[job].throughput[type];
      if (throughput <= 0 || problem.gpus[type] <= 0) continue;
      const size_t variable = variables[type] = AddVariable({});
      capacity[type].terms.push_back({variable, problem.jobs[job].gpus});
      time[job].terms.push_back({variable, 1});
      columns_[job].push_back({variable, type, throughput});
    }
  }
  for (const GavelPair& pair : problem.pairs) {
    std::vector<size_t>& variables = pair_variables_.emplace_back(types, kNone);
    for (size_t type = 0; type < types; ++type) {
      const auto& [first, second] = pair.throughput[type];
      if (first + second <= 0 || problem.gpus[type] <= 0) continue;
      const size_t variable = variables[type] = AddVariable({});
      capacity[type].terms.push_back({variable, problem.jobs[pair.first].gpus});
      time[pair.first].terms.push_back({variable, 1});
      time[pair.second].terms.push_back({variable, 1});
      columns_[pair.first].push_back({variable, type, first});
      columns_[pair.second].push_back({variable, type, second});
    }
  }
  program_.rows = std::move(capacity);
  std::move(time.begin(), time.end(), std::back_inserter(program_.rows));
}

void SharesProgram::SetGain(size_t job, double gain) {
  for (const Column& column : columns_[job]) {
    program_.variables[column.variable].objective += gain * column.throughput;
  }
}

void SharesProgram::SetGain(size_t job, std::span<const double> gain_by_type) {
  for (const Column& column : columns_[job]) {
    program_.variables[column.variable].objective += gain_by_type[column.type] * column.throughput;
  }
}

std::vector<Term> SharesProgram::Throughput(size_t job, double factor) const {
  std::vector<Term> terms;
  for (const Column& column : columns_[job]) {
    if (column.throughput > 0) terms.push_back({column.variable, factor * column.throughput});
  }
  return terms;
}

size_t SharesProgram::AddVariable(const Variable& variable) {
  program_.variables.push_back(variable);
  return program_.variables.size() - 1;
}

Result<Solution> SharesProgram::Solve(const GavelShares& known) const {
  if (pair_variables_.empty()) return synergy::Solve(program_, {});
  std::vector<bool> start(program_.variables.size(), true);
  for (size_t pair = 0; pair < pair_variables_.size(); ++pair) {
    for (size_t type = 0; type < problem_.types.size(); ++type) {
      const size_t variable = pair_variables_[pair][type];
      if (variable == kNone) continue;
      start[variable] = !known.pairs.empty() && known.pairs[pair][type] > 0;
    }
  }
  return SolveByColumns(program_, start, {});
}

GavelShares SharesProgram::Shares(const Solution& solution) const {
  GavelShares shares = NoShares(problem_);
  const auto read = [&](const std::vector<size_t>& variables, std::vector<double>& values) {
    for (size_t type = 0; type < variables.size(); ++type) {
      if (variables[type] != kNone) values[type] = std::min(solution.values[variables[type]], 1.0);
    }
  };
  for (size_t job = 0; job < job_variables_.size(); ++job)
    read(job_variables_[job], shares.jobs[job]);
  for (size_t pair = 0; pair < pair_variables_.size(); ++pair)
    read(pair_variables_[pair], shares.pairs[pair]);
  return shares;
}

}  // namespace synergy
