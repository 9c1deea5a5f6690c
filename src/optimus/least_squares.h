#pragma once

// Solves non-negative linear least squares (Lawson and Hanson, "Solving Least Squares Problems",
// chapter 23) for a handful of unknowns. The solution equals the unbounded one for the columns
// whose unknowns are not 0. So this function solves the problem for every set of columns (modified
// Gram-Schmidt), and takes the best solution without a negative value. With at most kMostUnknowns
// this is as fast as an active-set method, and cannot cycle.
//
// Threading: pure.

#include <cstddef>
#include <span>
#include <vector>

namespace synergy {

inline constexpr size_t kMostUnknowns = 8;

struct LeastSquares {
  std::vector<double> x;        // per column
  double sum_of_squares = 0.0;  // of the residuals
};

// Returns the x >= 0 that minimizes the sum over the rows of (sum_j columns[j][row] x_j -
// target[row])^2. A column that depends on others, or is 0 everywhere, gets 0.
// REQUIRES: at most kMostUnknowns columns, each as long as `target`.
LeastSquares NonNegativeLeastSquares(std::span<const std::vector<double>> columns,
                                     std::span<const double> target);

}  // namespace synergy
