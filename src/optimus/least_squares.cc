#include "optimus/least_squares.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/check.h"

namespace synergy {
namespace {

// A column depends on the others if less than this fraction of its length remains after its
// projection on them is subtracted.
constexpr double kDependent = 1e-10;

double Dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Subtracts from `vector` its projection on `unit`, and returns the projection's length.
double TakeAway(std::span<const double> unit, std::vector<double>& vector) {
  const double length = Dot(unit, vector);
  for (size_t row = 0; row < vector.size(); ++row) vector[row] -= length * unit[row];
  return length;
}

// Solves without bounds, using only the `chosen` columns. Returns nullopt if they are linearly
// dependent.
std::optional<LeastSquares> Solve(std::span<const std::vector<double>> columns,
                                  std::span<const size_t> chosen, std::span<const double> target) {
  const size_t size = chosen.size();
  std::vector<std::vector<double>> units;
  std::vector<std::vector<double>> upper(size, std::vector<double>(size));
  std::vector<double> right(size);
  std::vector<double> rest(target.begin(), target.end());
  for (size_t j = 0; j < size; ++j) {
    std::vector<double> column = columns[chosen[j]];
    const double length = std::sqrt(Dot(column, column));
    for (size_t i = 0; i < j; ++i) upper[i][j] = TakeAway(units[i], column);
    upper[j][j] = std::sqrt(Dot(column, column));
    if (!(upper[j][j] > kDependent * length)) return std::nullopt;
    for (double& value : column) value /= upper[j][j];
    right[j] = TakeAway(column, rest);
    units.push_back(std::move(column));
  }
  LeastSquares solution{.x = std::vector<double>(columns.size()),
                        .sum_of_squares = Dot(rest, rest)};
  for (size_t j = size; j-- > 0;) {
    double value = right[j];
    for (size_t i = j + 1; i < size; ++i) value -= upper[j][i] * solution.x[chosen[i]];
    solution.x[chosen[j]] = value / upper[j][j];
  }
  return solution;
}

}  // namespace

LeastSquares NonNegativeLeastSquares(std::span<const std::vector<double>> columns,
                                     std::span<const double> target) {
  SYNERGY_CHECK(columns.size() <= kMostUnknowns, "every set of unknowns is tried");
  LeastSquares best{.x = std::vector<double>(columns.size()),
                    .sum_of_squares = Dot(target, target)};
  for (size_t set = 1; set < size_t{1} << columns.size(); ++set) {
    std::vector<size_t> chosen;
    for (size_t j = 0; j < columns.size(); ++j) {
      if ((set >> j & 1) != 0) chosen.push_back(j);
    }
    auto solution = Solve(columns, chosen, target);
    if (!solution || solution->sum_of_squares >= best.sum_of_squares) continue;
    const bool negative =
        std::any_of(solution->x.begin(), solution->x.end(), [](double x) { return x < 0; });
    if (!negative) best = *std::move(solution);
  }
  return best;
}

}  // namespace synergy
