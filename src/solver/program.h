#pragma once

// A linear program, with integer variables or without, as plain data:
//
//   least or greatest  sum of objective[i] x[i]
//   with               row lower    <= sum of coefficient x[variable] <= row upper
//                      lower[i]     <= x[i]                           <= upper[i],  some x[i]
//                      integer
//
// The solver calculates in doubles and takes a row to hold within about a millionth: choose units
// (cores, GB) in which coefficients and bounds are neither tiny nor huge.
//
// Threading: values.

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"

namespace synergy {

inline constexpr double kUnbounded = std::numeric_limits<double>::infinity();

struct Variable {
  double lower = 0;
  double upper = kUnbounded;
  double objective = 0;
  bool integer = false;
};

struct Term {
  size_t variable = 0;
  double coefficient = 0;
};

struct Row {
  double lower = -kUnbounded;
  double upper = kUnbounded;
  std::vector<Term> terms;  // a variable at most once
};

enum class Sense { kMinimize, kMaximize };

struct Program {
  Sense sense = Sense::kMinimize;
  std::vector<Variable> variables;
  std::vector<Row> rows;
};

// kInvalid with the variable or row, by its position: a figure that is no number, a lower bound
// above its upper bound, a coefficient that is not finite, a variable that does not exist or comes
// twice in one row.
Result<> Validate(const Program& program);

double Objective(const Program& program, std::span<const double> values);

// The first thing that `values` break by more than the solver's tolerance, in words; empty when
// they are a solution.
std::string Violation(const Program& program, std::span<const double> values);

}  // namespace synergy
