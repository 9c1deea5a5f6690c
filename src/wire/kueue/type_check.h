#pragma once

// Writes answers of the admission check by which jobs wait for their GPU type
// (queues/type_check.h; kueue.x-k8s.io/v1beta2).
//
// Threading: pure.

#include <cstddef>
#include <string>

#include "core/clock.h"
#include "queues/kueue.h"
#include "queues/type_check.h"

namespace synergy::wire {

// Body of PATCH workloads/{name}/status as application/json-patch+json. `check`: the place of ours
// in Workload::checks. Refused (409) when the Workload has changed in any way since it was read:
// Kueue writes there too, and an answer to what is no longer so would keep a job out for good.
std::string WriteCheckAnswer(const Workload& workload, size_t check, const CheckAnswer& answer);

// Body of PATCH admissionchecks/{name}/status as application/merge-patch+json: that somebody
// answers it. Without that Kueue admits nothing.
std::string WriteCheckActive(const QueuePart& check, WallTime at);

}  // namespace synergy::wire
