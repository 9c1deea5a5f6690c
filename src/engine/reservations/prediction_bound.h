#pragma once

// Bounds the next one of a row of values, by those before it.
//
// Source: order statistics as prediction bounds (Wilks, 1941): if n values are known, the next one
// is within the k-th smallest of them with probability k / (n + 1), whatever the distribution, if
// none of them is special.
//
// Threading: pure.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace synergy {

// Returns the least of the `known` values that the next one does not exceed with that confidence;
// nullopt: too few are known. `growing`: values that are not complete yet; those that already
// exceed the bound count as larger than all that are known. REQUIRES: 0 < confidence < 1.
template <class Value>
std::optional<Value> BoundOfNext(std::vector<Value> known, std::span<const Value> growing,
                                 double confidence) {
  std::sort(known.begin(), known.end());
  size_t larger = 0;
  for (;;) {
    const auto all = static_cast<double>(known.size() + larger + 1);
    // Rounding must not make 4 of 5 a fifth of 5.
    const auto rank = static_cast<size_t>(std::ceil(confidence * all - 1e-9));
    if (rank > known.size()) return std::nullopt;
    const Value bound = known[rank - 1];
    const auto now_larger = static_cast<size_t>(std::count_if(
        growing.begin(), growing.end(), [&](const Value& value) { return value > bound; }));
    // A larger bound has fewer above it: what was counted stays counted.
    if (now_larger <= larger) return bound;
    larger = now_larger;
  }
}

}  // namespace synergy
