#pragma once

// Bounds as the COIN-OR libraries take them. Private to this folder.

#include <cmath>

#include <CoinFinite.hpp>

namespace synergy {

// COIN-OR has a number for infinity.
inline double ToCoin(double bound) {
  return std::isinf(bound) ? std::copysign(COIN_DBL_MAX, bound) : bound;
}

}  // namespace synergy
