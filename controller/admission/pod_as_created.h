#pragma once

// Restores, as far as sizing needs it, the form that an existing pod had at its creation, so that
// admission can decide about it again.
//
// Threading: pure.

#include <string>

#include "admission/pod_to_admit.h"
#include "cluster/pod.h"

namespace synergy::controller {

// REQUIRES: `pod.fungible` is not null. `scheduler`: the name of Synergy's scheduler.
PodToAdmit AsCreated(const Pod& pod, const std::string& scheduler);

}  // namespace synergy::controller
