#pragma once

// The best mean of plans that stays within limits, a linear program with many variables and few
// rows (the master of Dantzig and Wolfe, "Decomposition Principle for Linear Programs", 1960):
//
//   greatest  sum of value_k y_k
//   with      sum of usage_kj y_k <= 1  for every limit j,    sum of y_k = 1,    y_k >= 0
//
// Plans join, and each time the revised simplex method goes on from where it ended. With few rows
// the inverse of the basis is a small square, and a step costs about a microsecond; a general
// solver takes many times as long to begin.
//
// Threading: one owner.

#include <cstddef>
#include <span>
#include <vector>

namespace synergy {

class BestMean {
 public:
  explicit BestMean(size_t limits);

  // `usage` per limit, as part of it. The first plan stays within all limits; later ones need not.
  void Add(double value, std::span<const double> usage);

  // Some plan is there. False where rounding kept it from an end.
  bool Solve();

  // Of the last solve.
  double value() const { return value_; }
  const std::vector<double>& weights() const { return weights_; }  // y, by plan
  const std::vector<double>& prices() const { return prices_; }    // per limit, 0 or more
  // What a plan has to be worth more than, after its usage is paid for, to make the mean better.
  double own_price() const { return own_price_; }

 private:
  // Columns: what is left of each limit, then the plans. Of these, one is in the basis for each
  // row: the limits, then the sum.
  double CostOf(size_t column) const;
  double EntryOf(size_t column, size_t row) const;
  bool Invert();
  void Price();
  // The column that makes the mean better; `columns()` for none. By Bland's rule the first, which
  // never goes in circles, else the one with the most to gain.
  size_t Entering(bool bland) const;
  // Takes it into the basis; false where nothing has to leave for it.
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
