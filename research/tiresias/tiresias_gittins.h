#pragma once

// The Gittins index as the simulator of Tiresias' authors computes it: with one fixed stretch of
// service, and with whole sizes where remaining sizes would be correct. policy/gittins.h has the
// correct index.
//
// Threading: values; any number of readers.

#include <cstdint>
#include <vector>

namespace synergy {

class TiresiasGittins {
 public:
  static constexpr int64_t kStretch = 3250;  // GPU-seconds

  struct Value {
    double chance = 0;  // probability that the job ends within the stretch, rounded to 5 decimals
    double cost = 0;    // rounded to 5 decimals
    double index = 0;   // 1e6 x chance / cost, rounded to 4 decimals
  };

  TiresiasGittins() = default;
  // Takes `sizes` in any order.
  explicit TiresiasGittins(std::vector<int64_t> sizes, int64_t stretch = kStretch);

  // Let x be the n samples, i the number of those up to `attained`, and k the number of those up to
  // `attained` + stretch, or n - 1 if that reaches the largest. Then chance is (k - i) / (n - i),
  // and cost is (x[i..k) + stretch (n - k)) / (n - i). Returns 0 past the largest sample.
  Value At(int64_t attained) const;
  // Returns the job's rank: the index just below the smallest size that exceeds `attained`.
  double Rank(int64_t attained) const;

 private:
  std::vector<int64_t> sizes_;  // ascending
  std::vector<double> sums_;    // for each size, the sum of the smaller ones
  std::vector<double> ranks_;   // for each size, the rank just below it
  int64_t stretch_ = kStretch;
};

}  // namespace synergy
