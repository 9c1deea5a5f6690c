#pragma once

// The linear program that Gavel's policies have in common: a variable for each job or pair and type
// on which it runs, the rows that hold always (problem.h), and what a policy adds to them.
//
// Threading: one owner. `problem` outlives it.

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

  // What is optimised: a factor for each job's throughput (gain), or for each type too.
  void SetGain(size_t job, double gain);
  void SetGain(size_t job, std::span<const double> gain_by_type);
  // thr_m * factor, to go into a row.
  std::vector<Term> Throughput(size_t job, double factor) const;
  size_t AddVariable(const Variable& variable);
  void AddRow(Row row) { program_.rows.push_back(std::move(row)); }

  // Greatest. An answer without values: there is no solution. Pairs join as they are needed; first
  // come those that have a part of `known`, which is of the same problem.
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
  std::vector<std::vector<Column>> columns_;  // per job, of pairs too
  // Per job or pair, and type: the variable, or kNone.
  std::vector<std::vector<size_t>> job_variables_;
  std::vector<std::vector<size_t>> pair_variables_;
};

}  // namespace synergy
