#pragma once

// ResourceSlices, with which DRA drivers offer devices (resource.k8s.io/v1).
//
// This file is separate because readers of claims need no slices.
//
// Threading: pure.

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace synergy::wire {

// Returns the drivers' names in a list of ResourceSlices, sorted, without duplicates; kInvalid if
// the text is not JSON. Ignores slices that name no driver.
Result<std::vector<std::string>> ReadSliceDrivers(std::string_view list);

}  // namespace synergy::wire
