#pragma once

// A linear or mixed-integer program as plain data:
//
//   minimize or maximize  sum of objective[i] x[i]
//   with                  row lower  <= sum of coefficient x[variable] <= row upper
//                         lower[i]   <= x[i]                           <= upper[i],
//                         some x[i] integer
//
// The solver calculates in doubles and accepts a row that holds within about a millionth. Choose
// units (cores, GB) in which coefficients and bounds are neither tiny nor huge.
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

// Fails with kInvalid and the position of the variable or row for a value that is not a number, a
// lower bound above its upper bound, a coefficient that is not finite, or a variable that does not
// exist or occurs twice in one row.
Result<> Validate(const Program& program);

double Objective(const Program& program, std::span<const double> values);

// Returns, as text, the first bound that `values` violate by more than the solver's tolerance;
// empty if they are a solution.
std::string Violation(const Program& program, std::span<const double> values);

}  // namespace synergy
