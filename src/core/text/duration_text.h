#pragma once

// Parses durations as Go's programs write them, kubectl and Kubernetes among them.
//
// Threading: pure.

#include <string_view>

#include "core/clock.h"
#include "core/result.h"

namespace synergy {

// Parses "1m30s", "1.5h", "500ms": numbers with the units ns, us, ms, s, m and h. kInvalid, with
// the valid forms; also for what is too long for a Duration.
Result<Duration> ParseGoDuration(std::string_view text);

}  // namespace synergy
