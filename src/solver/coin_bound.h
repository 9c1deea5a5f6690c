#pragma once

// Converts bounds for the COIN-OR libraries. Private to this folder.

#include <cmath>

#include <CoinFinite.hpp>

namespace synergy {

// COIN-OR represents infinity by a finite number.
inline double ToCoin(double bound) {
  return std::isinf(bound) ? std::copysign(COIN_DBL_MAX, bound) : bound;
}

}  // namespace synergy
