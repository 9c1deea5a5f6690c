#pragma once

// A node's annotations against scale-down (engine/reservations/autoscaling.h). They are read by a
// watch of their own, and only where the configuration says that there is an autoscaler.
//
// Threading: pure.

#include <string>

#include "engine/reservations/autoscaling.h"

namespace synergy::wire {

// Returns a merge patch, which the API server refuses (409) if the node has changed since.
std::string WriteNodeGuards(const NodeGuardChange& change);

}  // namespace synergy::wire
