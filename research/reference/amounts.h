#pragma once

// Amounts of the reference simulator, in its own units: GPUs, cores, GB, MB/s of storage and Gbit/s
// of network. They are doubles, because the simulator's results depend on how their sums are
// rounded.
//
// Threading: values.

#include <array>
#include <cstddef>

#include "core/units.h"

namespace synergy::reference {

// A position in Amounts.
enum : size_t { kGpu, kCpu, kMemory, kStorage, kNetwork };

using Amounts = std::array<double, 5>;

// The storage bandwidth for every GPU of every server and job, regardless of the model.
inline constexpr double kStoragePerGpu = 62.5;

inline double ToCores(MilliCpu cpu) { return static_cast<double>(cpu.count()) / 1e3; }
inline double ToGb(Bytes bytes) { return static_cast<double>(bytes.count()) / 1e9; }

inline Amounts operator*(Amounts amounts, double factor) {
  for (double& amount : amounts) amount *= factor;
  return amounts;
}
inline Amounts operator+(Amounts a, const Amounts& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}
inline Amounts operator-(Amounts a, const Amounts& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}

inline bool FitsWithin(const Amounts& need, const Amounts& free) {
  for (size_t i = 0; i < need.size(); ++i) {
    if (free[i] < need[i]) return false;
  }
  return true;
}

// Returns by how much `amounts` exceeds `limit` in each dimension, at least 0.
inline Amounts Excess(const Amounts& amounts, const Amounts& limit) {
  Amounts excess = amounts - limit;
  for (double& amount : excess) amount = amount > 0 ? amount : 0;
  return excess;
}

}  // namespace synergy::reference
