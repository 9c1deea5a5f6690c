#pragma once

// Writes the status of RoundPolicies (queues/round_policy.h); ObjectReader (objects.h) reads them.
//
// Threading: pure.

#include <string>

#include "queues/round_policy.h"

namespace synergy::wire {

// Returns the body of PATCH roundpolicies/{name}/status as application/merge-patch+json. The API
// server refuses it (409) if the name now belongs to another object.
std::string WriteRoundPolicyStatus(const RoundPolicy& policy, const RoundPolicyStatus& status);

}  // namespace synergy::wire
