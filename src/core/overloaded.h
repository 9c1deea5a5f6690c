#pragma once

// A visitor of a std::variant, put together from one function per alternative.
//
// Threading: as the functions.

namespace synergy {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

}  // namespace synergy
