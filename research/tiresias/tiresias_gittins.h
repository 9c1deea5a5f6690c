#pragma once

// The Gittins index as in the simulator of Tiresias' authors: with one fixed stretch of service,
// and with whole sizes where the remaining sizes would be correct. policy/gittins.h has the index.
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

  // With the samples x, i those up to `attained`, k those up to `attained` + stretch, but all but
  // one if that reaches the largest: chance (k - i) / (n - i), cost (x[i..k) + stretch (n - k)) /
  // (n - i). 0 past the largest.
  Value At(int64_t attained) const;
  // Returns the job's rank: the index just below the least size above `attained`.
  double Rank(int64_t attained) const;

 private:
  std::vector<int64_t> sizes_;  // ascending
  std::vector<double> sums_;    // sums of the sizes before each
  std::vector<double> ranks_;   // just below each
  int64_t stretch_ = kStretch;
};

}  // namespace synergy
