#pragma once

// Writes the answers to the admission check at which jobs wait for their GPU type (queues/kueue.h;
// kueue.x-k8s.io/v1beta2).
//
// Threading: pure.

#include <cstddef>
#include <string>

#include "core/clock.h"
#include "queues/kueue.h"

namespace synergy::wire {

// Returns the body of PATCH workloads/{name}/status as application/json-patch+json. `check`: the
// index of Synergy's check in Workload::checks. The API server refuses it (409) if the Workload has
// changed in any way since it was read. This matters because Kueue also writes there, and an
// outdated answer would block a job permanently.
std::string WriteCheckAnswer(const Workload& workload, size_t check, const CheckAnswer& answer);

// Returns the body of PATCH admissionchecks/{name}/status as application/merge-patch+json, which
// marks the check as active. Until then Kueue admits nothing.
std::string WriteCheckActive(const AdmissionCheck& check, WallTime at);

}  // namespace synergy::wire
