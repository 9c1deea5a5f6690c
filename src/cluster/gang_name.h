#pragma once

// Derives the name of a gang from the labels of its pods (docs/internals/gangs.md has the table).
//
// Threading: pure.

#include <string>
#include <string_view>

#include "cluster/gang.h"

namespace synergy {

// A label of a gang's pods: the tier ("node" or "rack") that the gang waits for, regardless of any
// profile.
inline constexpr std::string_view kGangWithinLabel = "synergy.io/gang-within";

// Returns the name with the namespace, as in "team/bert"; empty if no label names a gang.
std::string GangNameOf(std::string_view pod_namespace, const TextOfKey& label);
// Returns the label that contains the name or its first part; empty if none does.
std::string_view GangLabelOf(const TextOfKey& label);

}  // namespace synergy
