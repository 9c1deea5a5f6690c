#pragma once

// Finds the best weighted mean of plans within limits, a linear program with many variables and few
// rows (the master problem of Dantzig and Wolfe, "Decomposition Principle for Linear Programs",
// 1960):
//
//   maximize  sum of value_k y_k
//   with      sum of usage_kj y_k <= 1  for every limit j,    sum of y_k = 1,    y_k >= 0
//
// Plans are added over time, and each solve continues the revised simplex method from the last one.
// With few rows the inverse of the basis is a small matrix, and a step takes about a microsecond; a
// general solver takes many times as long to start.
//
// Threading: one owner.

#include <cstddef>
#include <span>
#include <vector>

namespace synergy {

class BestMean {
 public:
  explicit BestMean(size_t limits);

  // `usage`: of each limit, as a fraction of the limit. The first plan must stay within all limits.
  void Add(double value, std::span<const double> usage);

  // Returns false if rounding errors prevented it from finishing, or if it took too many steps.
  // REQUIRES: at least one plan.
  bool Solve();

  // Results of the last solve.
  double value() const { return value_; }
  const std::vector<double>& weights() const { return weights_; }  // y, by plan
  const std::vector<double>& prices() const { return prices_; }    // per limit, 0 or more
  // A plan improves the mean if its value, minus the price of its usage, exceeds this.
  double own_price() const { return own_price_; }

 private:
  // Columns: a slack variable for each limit, then the plans. Rows: the limits, then the sum. The
  // basis has one column for each row.
  double CostOf(size_t column) const;
  double EntryOf(size_t column, size_t row) const;
  bool Invert();
  void Price();
  // Returns a column that improves the mean; `columns()` if there is none. With Bland's rule, which
  // never cycles, it is the first such column; otherwise the one with the greatest gain.
  size_t Entering(bool bland) const;
  // Brings the column into the basis. Returns false if no column must leave for it.
  bool Pivot(size_t entering, bool bland);
  size_t columns() const { return rows_ - 1 + values_.size(); }

  size_t rows_;
  std::vector<double> values_;  // by plan
  std::vector<double> usages_;  // by plan and limit
  std::vector<size_t> basis_;   // column by row
  std::vector<bool> inside_;    // by column
  std::vector<double> inverse_;
  std::vector<double> solution_;  // by row
  double value_ = 0;
  double own_price_ = 0;
  std::vector<double> prices_;
  std::vector<double> weights_;
};

}  // namespace synergy
