#pragma once

// A seeded random number generator with its own distributions. The distributions of the standard
// library differ between implementations, so the same seed would not give the same run everywhere.
//
// This file is separate because simulations and backoffs need the same numbers on every platform.
//
// Threading: one owner at a time.

#include <cstdint>

namespace synergy {

// xoshiro256** (Blackman and Vigna, 2018), seeded through splitmix64.
class Random {
 public:
  explicit Random(uint64_t seed);

  uint64_t Next();
  // Returns a uniform number in [0, bound), without modulo bias (Lemire, 2019). REQUIRES: `bound`
  // is positive.
  uint64_t Below(uint64_t bound);
  // Returns a uniform number in [0, 1) with 53 random bits.
  double Uniform();

 private:
  uint64_t state_[4];
};

}  // namespace synergy
