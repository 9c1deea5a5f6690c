#pragma once

// Parses durations as Go programs, such as kubectl and Kubernetes, write them.
//
// This file is separate because few of the readers of other texts read durations.
//
// Threading: pure.

#include <string_view>

#include "core/clock.h"
#include "core/result.h"

namespace synergy {

// Parses "1m30s", "1.5h", "500ms": numbers with the units ns, us, ms, s, m and h. Returns kInvalid,
// with the valid forms, for other text and for values too long for a Duration.
Result<Duration> ParseGoDuration(std::string_view text);

}  // namespace synergy
