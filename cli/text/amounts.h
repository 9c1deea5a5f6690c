#pragma once

// Parses durations and sizes from the command line, and formats them for people.
//
// Threading: pure. Failures: kInvalid, with the valid forms.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "core/gpu_amount.h"
#include "core/result.h"
#include "core/units.h"

namespace synergy::cli {

// Parses a number that consists only of digits, such as an id; nullopt for other text and for
// numbers that are too large.
std::optional<int64_t> ParseWholeNumber(std::string_view text);
// Parses "10ms", "300s", "5m", "1.5h", "2d".
Result<Seconds> ParseDuration(std::string_view text);
// Parses a duration like kubectl's --request-timeout: "90" is in seconds; "1m30s" and "500ms" are
// Go durations.
Result<Duration> ParseTimeout(std::string_view text);
// Parses "500GB", "500G", "500 gb", "500Gi", "500GiB", "500000000000B". A number without a unit is
// an error, because 500 could mean 500 GB.
Result<Bytes> ParseSize(std::string_view text);

// Returns text such as "2"; "1 slice" if there are only slices; "2 + 3 slices" for both.
std::string ToText(const GpuAmount& amount);
// Returns a quantity if it is short ("62500M", "4Gi"), otherwise a rounded one ("31.4Gi").
std::string ToReadableText(Bytes size);
// Returns text such as "31.4 MB/s".
std::string ToRateText(double bytes_per_second);

// Formats in one unit: "90s", "45m", "30h", "9d". Negative durations give "0s".
std::string ToShortText(Duration duration);
std::string ToShortText(Seconds seconds);

}  // namespace synergy::cli
