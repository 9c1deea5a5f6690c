#pragma once

// Writes the status of RoundPolicies (queues/round_policy.h); ObjectReader (objects.h) reads them.
//
// Threading: pure.

#include <string>

#include "queues/round_policy.h"

namespace synergy::wire {

// Body of PATCH roundpolicies/{name}/status as application/merge-patch+json; refused (409) for a
// namesake.
std::string WriteRoundPolicyStatus(const RoundPolicy& policy, const RoundPolicyStatus& status);

}  // namespace synergy::wire
