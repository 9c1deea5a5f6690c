#pragma once

// Points in wall time as text, as Kubernetes writes them (RFC 3339, UTC):
// "2026-11-21T07:05:03.250000Z".
//
// Threading: pure.

#include <optional>
#include <string>
#include <string_view>

#include "core/clock.h"

namespace synergy {

// With microseconds, which every time field of Kubernetes accepts, including MicroTime.
std::string ToTimeText(WallTime time);
// With or without a fraction, with Z or an offset. Returns nullopt if `text` is not such a time.
std::optional<WallTime> ParseTime(std::string_view text);

}  // namespace synergy
