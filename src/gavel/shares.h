#pragma once

// The linear program that Gavel's policies share: a variable for each job or pair and each type on
// which it runs, the general constraints (problem.h), and rows that a policy adds.
//
// Threading: one owner. REQUIRES: `problem` outlives this object.

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "core/result.h"
#include "gavel/problem.h"
#include "solver/program.h"
#include "solver/solve.h"

namespace synergy {

class SharesProgram {
 public:
  explicit SharesProgram(const GavelProblem& problem);

  // Sets the objective: a factor (gain) for each job's throughput, or for each job and type.
  void SetGain(size_t job, double gain);
  void SetGain(size_t job, std::span<const double> gain_by_type);
  // Returns thr_m * factor, as terms of a row.
  std::vector<Term> Throughput(size_t job, double factor) const;
  size_t AddVariable(const Variable& variable);
  void AddRow(Row row) { program_.rows.push_back(std::move(row)); }

  // Maximises the objective. Returns a Solution without values if the solver found none; the status
  // gives the reason. Adds pairs as needed, starting with those that have time in `known`, which
  // are shares of the same problem.
  Result<Solution> Solve(const GavelShares& known = {}) const;
  GavelShares Shares(const Solution& solution) const;

 private:
  struct Column {
    size_t variable;
    size_t type;
    double throughput;
  };

  const GavelProblem& problem_;
  Program program_;
  std::vector<std::vector<Column>> columns_;  // per job; includes its pairs
  // By job or pair, and type: the variable, or kNone.
  std::vector<std::vector<size_t>> job_variables_;
  std::vector<std::vector<size_t>> pair_variables_;
};

}  // namespace synergy
