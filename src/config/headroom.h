#pragma once

// CPU and memory kept free on every GPU node for pods without GPUs that come later.
//
// Threading: constants.

#include "core/resources.h"

namespace synergy::config {

// The agents of one more DaemonSet or two (docs/companion.md, Headroom).
inline constexpr ResourceVector kDefaultHeadroom{Gpus(0), MilliCpu(500), GiB(1)};

}  // namespace synergy::config
