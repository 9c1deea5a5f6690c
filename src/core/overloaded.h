#pragma once

// Builds a visitor of a std::variant from one function per alternative.
//
// Threading: the same as that of the functions.

namespace synergy {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

}  // namespace synergy
