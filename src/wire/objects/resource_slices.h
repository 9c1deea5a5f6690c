#pragma once

// ResourceSlices, by which DRA drivers offer devices (resource.k8s.io/v1).
//
// Threading: pure.

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace synergy::wire {

// Returns the names of the drivers of a list of ResourceSlices, each once, in order. kInvalid: the
// text is not JSON. Ignores slices that name none.
Result<std::vector<std::string>> ReadSliceDrivers(std::string_view list);

}  // namespace synergy::wire
