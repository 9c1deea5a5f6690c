#pragma once

// A linear program that is solved repeatedly while variables are added. Each solve continues from
// the last one, with the simplex method of COIN-OR's CLP.
//
// Threading: one owner.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "solver/program.h"
#include "solver/solve.h"

namespace synergy {

class GrowingProgram {
 public:
  struct Entry {
    size_t row = 0;
    double coefficient = 0;
  };

  // Uses only the bounds of the rows.
  GrowingProgram(Sense sense, std::span<const Row> rows);
  ~GrowingProgram();
  GrowingProgram(const GrowingProgram&) = delete;
  GrowingProgram& operator=(const GrowingProgram&) = delete;

  // REQUIRES: not an integer variable; each row at most once; numbers that Validate (program.h)
  // accepts.
  void Add(const Variable& variable, std::span<const Entry> entries);

  // Returns kOptimal or kInfeasible; returns kUnknown at the time limit, for an unbounded program,
  // and after numerical difficulties.
  SolveStatus Solve(const SolveLimits& limits);

  // Results of the last optimum. Values are in the order in which the variables were added, prices
  // as in Solution.
  std::vector<double> Values() const;
  std::vector<double> Prices() const;

 private:
  struct Simplex;

  double sign_;
  size_t rows_;
  std::vector<Variable> variables_;
  std::unique_ptr<Simplex> simplex_;
};

}  // namespace synergy
