#pragma once

// Linear least squares with unknowns that are not negative (Lawson and Hanson, "Solving Least
// Squares Problems", chapter 23), for a handful of unknowns. The solution is the unbounded one over
// those columns that it does not leave at 0, so every set of columns is solved (by orthogonal
// columns, modified Gram-Schmidt) and the best one without a negative value is taken. With at most
// kMostUnknowns that is as quick as an active-set method, and there is nothing that could cycle.
//
// Threading: pure.

#include <cstddef>
#include <span>
#include <vector>

namespace synergy {

inline constexpr size_t kMostUnknowns = 8;

struct LeastSquares {
  std::vector<double> x;        // per column
  double sum_of_squares = 0.0;  // of what is left over
};

// The x >= 0 with the least sum over the rows of (sum_j columns[j][row] x_j - target[row])^2. Every
// column is as long as `target`; at most kMostUnknowns. A column that others make up, or that is 0
// everywhere, gets 0.
LeastSquares NonNegativeLeastSquares(std::span<const std::vector<double>> columns,
                                     std::span<const double> target);

}  // namespace synergy
