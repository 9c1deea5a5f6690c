#pragma once

// A seeded generator with its own distributions: those of the standard library differ between
// implementations, so one seed would not give the same run everywhere.
//
// Threading: one owner at a time.

#include <cstdint>

namespace synergy {

// xoshiro256** (Blackman and Vigna, 2018), seeded through splitmix64.
class Random {
 public:
  explicit Random(uint64_t seed);

  uint64_t Next();
  // Uniform in [0, bound); bound > 0. Without modulo bias (Lemire, 2019).
  uint64_t Below(uint64_t bound);
  // Uniform in [0, 1), 53 bits.
  double Uniform();

 private:
  uint64_t state_[4];
};

}  // namespace synergy
