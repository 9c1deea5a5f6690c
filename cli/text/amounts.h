#pragma once

// What people write on the command line, durations and sizes, and how sizes are shown to them.
//
// Threading: pure. Failures: kInvalid, with what it may be.

#include <string>
#include <string_view>

#include "core/clock.h"
#include "core/result.h"
#include "core/units.h"

namespace synergy::cli {

// "10ms", "300s", "5m", "1.5h", "2d".
Result<Seconds> ParseDuration(std::string_view text);
// "500GB", "500G", "500Gi", "500000000000".
Result<Bytes> ParseSize(std::string_view text);

// As a quantity where that is short ("62500M", "4Gi"), else rounded ("31.4Gi").
std::string ToReadableText(Bytes size);

// In one unit: "90s", "45m", "30h", "9d". Nothing is less than "0s".
std::string ToShortText(Duration duration);
std::string ToShortText(Seconds seconds);

}  // namespace synergy::cli
