#pragma once

// Whether the agent does its work: its copy of the node's pods is whole and fresh.
//
// Threading: from any thread.

#include <chrono>
#include <string>

#include "core/clock.h"
#include "kube/reflector.h"

namespace synergy::nodeagent {

// Empty when ready, else why not.
std::string NotReadyReason(const kube::ReflectorStatus& pods, const Clock& clock,
                           std::chrono::milliseconds staleness_limit);

}  // namespace synergy::nodeagent
