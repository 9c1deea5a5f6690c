#pragma once

// Bounds the next value of a sequence by the values before it.
//
// Source: order statistics as prediction bounds (Wilks, 1941). With n known values, the next one is
// at most the k-th smallest with probability k / (n + 1). This holds for any distribution, if every
// order of the values is equally likely.
//
// Threading: pure.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace synergy {

// Returns the least `known` value that the next one does not exceed, with the given confidence;
// nullopt if too few are known. `growing`: values that are not complete yet. Those that already
// exceed the bound count as larger than all known values. REQUIRES: 0 < confidence < 1.
template <class Value>
std::optional<Value> BoundOfNext(std::vector<Value> known, std::span<const Value> growing,
                                 double confidence) {
  std::sort(known.begin(), known.end());
  size_t larger = 0;
  for (;;) {
    const auto all = static_cast<double>(known.size() + larger + 1);
    // Without this, rounding could turn 4 of 5 into 5 of 5.
    const auto rank = static_cast<size_t>(std::ceil(confidence * all - 1e-9));
    if (rank > known.size()) return std::nullopt;
    const Value bound = known[rank - 1];
    const auto now_larger = static_cast<size_t>(std::count_if(
        growing.begin(), growing.end(), [&](const Value& value) { return value > bound; }));
    // A larger bound has fewer values above it, so the count cannot grow without end.
    if (now_larger <= larger) return bound;
    larger = now_larger;
  }
}

}  // namespace synergy
