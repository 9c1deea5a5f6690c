#pragma once

// Reads and writes wall times as Kubernetes does (RFC 3339, UTC): "2026-11-21T07:05:03.250000Z".
//
// Threading: pure.

#include <optional>
#include <string>
#include <string_view>

#include "core/clock.h"

namespace synergy {

// Writes microseconds, which every time field of Kubernetes accepts, including MicroTime.
std::string ToTimeText(WallTime time);
// Accepts a time with or without a fraction, with Z or an offset. Returns nullopt if `text` is not
// such a time.
std::optional<WallTime> ParseTime(std::string_view text);

}  // namespace synergy
