#pragma once

// A linear program that variables join, solved again and again: each time the simplex method of
// COIN-OR's CLP goes on from where it ended.
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

  // Of the rows only the bounds count.
  GrowingProgram(Sense sense, std::span<const Row> rows);
  ~GrowingProgram();
  GrowingProgram(const GrowingProgram&) = delete;
  GrowingProgram& operator=(const GrowingProgram&) = delete;

  // No integer; each row at most once; figures as Validate (program.h) wants them.
  void Add(const Variable& variable, std::span<const Entry> entries);

  // kOptimal, kInfeasible, or kUnknown for a time limit, a missing bound or numerical difficulties.
  SolveStatus Solve(const SolveLimits& limits);

  // Of the last optimum. Values are in the order in which the variables joined, prices as those of
  // a Solution.
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
