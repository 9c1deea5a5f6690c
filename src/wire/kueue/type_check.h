#pragma once

// Writes the answers of the admission check at which jobs wait for their GPU type
// (queues/kueue.h; kueue.x-k8s.io/v1beta2).
//
// Threading: pure.

#include <cstddef>
#include <string>

#include "core/clock.h"
#include "queues/kueue.h"

namespace synergy::wire {

// Body of PATCH workloads/{name}/status as application/json-patch+json. `check`: the index of ours
// in Workload::checks. Refused (409) if the Workload has changed in any way since it was read:
// Kueue writes there too, and an outdated answer would block a job permanently.
std::string WriteCheckAnswer(const Workload& workload, size_t check, const CheckAnswer& answer);

// Body of PATCH admissionchecks/{name}/status as application/merge-patch+json: marks the check as
// active. Until then Kueue admits nothing.
std::string WriteCheckActive(const AdmissionCheck& check, WallTime at);

}  // namespace synergy::wire
