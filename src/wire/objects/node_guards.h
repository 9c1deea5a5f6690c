#pragma once

// A node's annotations that prevent its scale-down (engine/reservations/autoscaling.h). A separate
// watch reads them, and only if the configuration declares an autoscaler.
//
// This file is separate because other readers of nodes do not need these annotations.
//
// Threading: pure.

#include <string>

#include "engine/reservations/autoscaling.h"

namespace synergy::wire {

// Returns a merge patch, which the API server refuses (409) if the node has changed since.
std::string WriteNodeGuards(const NodeGuardChange& change);

}  // namespace synergy::wire
