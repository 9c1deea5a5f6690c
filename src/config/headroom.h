#pragma once

// CPU and memory to keep free on every GPU node for later pods without GPUs.
//
// Threading: constants.

#include "core/resources.h"

namespace synergy::config {

// Enough for the agents of one or two more DaemonSets (docs/internals/sizing.md, Headroom).
inline constexpr ResourceVector kDefaultHeadroom{Gpus(0), MilliCpu(500), GiB(1)};

}  // namespace synergy::config
