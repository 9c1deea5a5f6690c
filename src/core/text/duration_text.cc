#include "core/text/duration_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace synergy {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 7> kUnits = {{{"ns", 1e-9},
                                                                        {"us", 1e-6},
                                                                        {"\u00b5s", 1e-6},
                                                                        {"ms", 1e-3},
                                                                        {"s", 1},
                                                                        {"m", 60},
                                                                        {"h", 3600}}};
// About the most seconds that an int64 of nanoseconds can hold.
constexpr double kMostSeconds = 9e9;

}  // namespace

Result<Duration> ParseGoDuration(std::string_view text) {
  const auto malformed = [text] {
    return Fail(ErrorCode::kInvalid,
                fmt::format("\"{}\" is not a duration: write it as 5s, 1m30s or 500ms", text));
  };
  double seconds = 0;
  std::string_view rest = text;
  do {
    double number = 0;
    const auto [after, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc() || !std::isfinite(number) || number < 0) return malformed();
    rest.remove_prefix(static_cast<size_t>(after - rest.data()));
    const std::string_view unit = rest.substr(0, rest.find_first_of("0123456789."));
    const auto* const known = std::find_if(kUnits.begin(), kUnits.end(),
                                           [&](const auto& each) { return each.first == unit; });
    if (known == kUnits.end()) return malformed();
    seconds += number * known->second;
    rest.remove_prefix(unit.size());
  } while (!rest.empty());
  if (seconds >= kMostSeconds) return malformed();
  return std::chrono::round<Duration>(Seconds(seconds));
}

}  // namespace synergy
