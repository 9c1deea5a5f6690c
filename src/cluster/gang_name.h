#pragma once

// What a gang is called by the labels of its pods (docs/gangs.md has the table).
//
// Threading: pure.

#include <string>
#include <string_view>

#include "cluster/gang.h"

namespace synergy {

// A label of a gang's pods: "node" or "rack", what it waits for, whatever a profile says of it.
inline constexpr std::string_view kGangWithinLabel = "synergy.io/gang-within";

// With the namespace: "team/bert"; empty where none of the labels names a gang.
std::string GangNameOf(std::string_view pod_namespace, const TextOfKey& label);
// The label that has the name, or the first part of it; empty where none does.
std::string_view GangLabelOf(const TextOfKey& label);

}  // namespace synergy
