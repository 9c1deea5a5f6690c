#pragma once

// What a gang is called by the labels of its pods (docs/gangs.md has the table).
//
// Threading: pure.

#include <string>
#include <string_view>

#include "cluster/gang.h"

namespace synergy {

// With the namespace: "team/bert"; empty where none of the labels names a gang.
std::string GangNameOf(std::string_view pod_namespace, const TextOfKey& label);
// The label that has the name, or the first part of it; empty where none does.
std::string_view GangLabelOf(const TextOfKey& label);

}  // namespace synergy
