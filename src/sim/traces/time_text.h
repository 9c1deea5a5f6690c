#pragma once

// Reads points in time and durations as recorded traces write them.
//
// Threading: pure.

#include <optional>
#include <string_view>

#include "core/clock.h"

namespace synergy {

// Returns whether `text` stands for a missing value in a trace: an empty field, None, Unknown,
// null, (null), NaN, NaT, N/A, INVALID or "-", in any case.
bool IsUninformative(std::string_view text);

// Returns a point in time, counted from a fixed one. Reads seconds, or a date with a time; returns
// nullopt for anything else. A number of 1e11 or more is in milliseconds, of 1e14 or more in
// microseconds. A date with a time is "2024-05-01T10:00:00". It may have a space instead of the T,
// slashes instead of hyphens, a fraction, and Z, UTC or an offset such as +08:00, +0800 or +08.
// Without an offset, the time is taken as UTC.
std::optional<Seconds> ReadTimeText(std::string_view text);

// Reads seconds, or Slurm's [DAYS-][HOURS:]MINUTES:SECONDS[.FRACTION]. The duration may be
// negative. Returns nullopt if it is neither, or more than a thousand years.
std::optional<Seconds> ReadDurationText(std::string_view text);

}  // namespace synergy
