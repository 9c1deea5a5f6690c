#include "solver/best_mean.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace synergy {
namespace {

constexpr double kNothingToGain = 1e-13;  // relative to the greatest value
constexpr double kNoPivot = 1e-11;        // entries of the inverse's columns are about 1
constexpr int kMostSteps = 2000;
constexpr int kBlandAfter = 200;  // steps in one solve

}  // namespace

BestMean::BestMean(size_t limits)
    : rows_(limits + 1), basis_(rows_), inside_(limits, true), prices_(limits, 0) {
  for (size_t row = 0; row < rows_; ++row) basis_[row] = row;  // the last one is the first plan
}

void BestMean::Add(double value, std::span<const double> usage) {
  inside_.push_back(values_.empty());
  values_.push_back(value);
  usages_.insert(usages_.end(), usage.begin(), usage.end());
}

double BestMean::CostOf(size_t column) const {
  return column < rows_ - 1 ? 0 : values_[column - (rows_ - 1)];
}

double BestMean::EntryOf(size_t column, size_t row) const {
  const size_t limits = rows_ - 1;
  if (column < limits) return row == column ? 1 : 0;
  return row == limits ? 1 : usages_[(column - limits) * limits + row];
}

// Gauss-Jordan elimination of the basis next to the identity matrix.
bool BestMean::Invert() {
  const size_t width = 2 * rows_;
  std::vector<double> both(rows_ * width, 0);
  for (size_t row = 0; row < rows_; ++row) {
    for (size_t i = 0; i < rows_; ++i) both[row * width + i] = EntryOf(basis_[i], row);
    both[row * width + rows_ + row] = 1;
  }
  for (size_t i = 0; i < rows_; ++i) {
    size_t most = i;
    for (size_t row = i + 1; row < rows_; ++row) {
      if (std::abs(both[row * width + i]) > std::abs(both[most * width + i])) most = row;
    }
    const double pivot = both[most * width + i];
    if (std::abs(pivot) < kNoPivot) return false;
    std::swap_ranges(&both[i * width], &both[i * width] + width, &both[most * width]);
    for (size_t k = 0; k < width; ++k) both[i * width + k] /= pivot;
    for (size_t row = 0; row < rows_; ++row) {
      const double factor = both[row * width + i];
      if (row == i || factor == 0) continue;
      for (size_t k = i; k < width; ++k) both[row * width + k] -= factor * both[i * width + k];
    }
  }
  inverse_.resize(rows_ * rows_);
  solution_.assign(rows_, 0);
  for (size_t row = 0; row < rows_; ++row) {
    for (size_t i = 0; i < rows_; ++i) {
      inverse_[row * rows_ + i] = both[row * width + rows_ + i];
      solution_[row] += inverse_[row * rows_ + i];  // all limits and the sum are 1
    }
    solution_[row] = std::max(solution_[row], 0.0);
  }
  return true;
}

void BestMean::Price() {
  const size_t limits = rows_ - 1;
  for (size_t i = 0; i < rows_; ++i) {
    double price = 0;
    for (size_t row = 0; row < rows_; ++row)
      price += CostOf(basis_[row]) * inverse_[row * rows_ + i];
    (i < limits ? prices_[i] : own_price_) = price;
  }
}

size_t BestMean::Entering(bool bland) const {
  const size_t limits = rows_ - 1;
  double greatest = 0;
  for (const double value : values_) greatest = std::max(greatest, std::abs(value));
  double most = kNothingToGain * greatest;
  size_t best = columns();
  for (size_t column = 0; column < columns(); ++column) {
    if (inside_[column]) continue;
    double gain = -own_price_;
    if (column < limits) {
      gain = -prices_[column];
    } else {
      gain += values_[column - limits];
      const double* const usage = &usages_[(column - limits) * limits];
      for (size_t i = 0; i < limits; ++i) gain -= prices_[i] * usage[i];
    }
    if (gain <= most) continue;
    best = column;
    if (bland) break;
    most = gain;
  }
  return best;
}

bool BestMean::Pivot(size_t entering, bool bland) {
  std::vector<double> direction(rows_, 0);
  for (size_t row = 0; row < rows_; ++row) {
    for (size_t i = 0; i < rows_; ++i)
      direction[row] += inverse_[row * rows_ + i] * EntryOf(entering, i);
  }
  size_t leaving = rows_;
  double least = std::numeric_limits<double>::infinity();
  for (size_t row = 0; row < rows_; ++row) {
    if (direction[row] <= kNoPivot) continue;
    const double ratio = solution_[row] / direction[row];
    const bool before = ratio == least && (bland ? basis_[row] < basis_[leaving]
                                                 : direction[row] > direction[leaving]);
    if (ratio < least || before) {
      least = ratio;
      leaving = row;
    }
  }
  if (leaving == rows_) return false;
  inside_[basis_[leaving]] = false;
  inside_[entering] = true;
  basis_[leaving] = entering;
  double* const pivot_row = &inverse_[leaving * rows_];
  for (size_t i = 0; i < rows_; ++i) pivot_row[i] /= direction[leaving];
  for (size_t row = 0; row < rows_; ++row) {
    if (row == leaving) continue;
    for (size_t i = 0; i < rows_; ++i) inverse_[row * rows_ + i] -= direction[row] * pivot_row[i];
    solution_[row] = std::max(solution_[row] - direction[row] * least, 0.0);
  }
  solution_[leaving] = least;
  return true;
}

bool BestMean::Solve() {
  if (!Invert()) return false;
  size_t entering = 0;
  int step = 0;
  for (; step < kMostSteps; ++step) {
    Price();
    const bool bland = step >= kBlandAfter;
    entering = Entering(bland);
    if (entering == columns()) break;
    if (!Pivot(entering, bland)) return false;
  }
  if (step == kMostSteps) return false;
  value_ = 0;
  weights_.assign(values_.size(), 0);
  for (size_t row = 0; row < rows_; ++row) {
    value_ += CostOf(basis_[row]) * solution_[row];
    if (basis_[row] >= rows_ - 1) weights_[basis_[row] - (rows_ - 1)] = solution_[row];
  }
  for (double& price : prices_) price = std::max(price, 0.0);
  return true;
}

}  // namespace synergy
