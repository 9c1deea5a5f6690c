#pragma once

// A raise of a workload's process memory (engine/retries): a process was killed for lack of memory
// at an amount that Synergy chose. So it needs more than its profile shows. The raise is kept
// beside the measurements (status.memoryRaise), so that neither of their writers overwrites the
// other.
//
// A raise is an assumption. It ends once a later pod with the larger amount has shown its peak, and
// has run for as long as the killed one. From then on the measured peak counts, but never less than
// the amount at which the process was killed.
//
// This file is separate because engine/retries needs nothing else of a profile.
//
// Threading: values, pure functions.

#include <cstdint>

#include "core/clock.h"
#include "core/units.h"

namespace synergy {

// How often a workload's process memory may be raised, for as long as its profile exists.
inline constexpr int32_t kMostMemoryRaises = 2;

struct MemoryRaise {
  Bytes process;      // the memory that processes count as needing
  Bytes too_small;    // the amount at which the last one was killed
  int32_t times = 0;  // how often it was raised
  WallTime at{};      // of the last raise; whole seconds
  Duration ran{};     // how long the killed process had run

  bool operator==(const MemoryRaise&) const = default;
};

// Adds a margin to a process's memory, because the next peak may be higher.
Bytes WithMargin(Bytes process_memory);
// Returns the process memory for which WithMargin() returns `amount`, or up to two bytes less.
Bytes WithoutMargin(Bytes amount);

}  // namespace synergy
