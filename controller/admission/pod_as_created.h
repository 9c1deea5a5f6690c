#pragma once

// Admission again, of a pod that is there already: as it was when it was created, as far as sizes
// go.
//
// Threading: pure.

#include <string>

#include "admission/pod_to_admit.h"
#include "cluster/pod.h"

namespace synergy::controller {

// `pod.fungible` is not null. `scheduler` is Synergy's, whose pod it is.
PodToAdmit AsCreated(const Pod& pod, const std::string& scheduler);

}  // namespace synergy::controller
