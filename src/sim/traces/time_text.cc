#include "sim/traces/time_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include "sim/traces/trace_fields.h"

namespace synergy {
namespace {

constexpr double kLeastMilliseconds = 1e11;
constexpr double kLeastMicroseconds = 1e14;
constexpr double kMostMicroseconds = 1e17;
constexpr double kMostDuration = 3.2e10;

// Removes and returns `count` digits at the front.
std::optional<int> TakeDigits(std::string_view& text, size_t count) {
  if (text.size() < count) return std::nullopt;
  int number = 0;
  for (const char digit : text.substr(0, count)) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = number * 10 + (digit - '0');
  }
  text.remove_prefix(count);
  return number;
}

// Removes one of these letters from the front, if there is one.
bool TakeOne(std::string_view& text, std::string_view letters) {
  if (text.empty() || letters.find(text.front()) == letters.npos) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<double> AllOf(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number))
    return std::nullopt;
  return number;
}

// Removes and returns ".123" or ",123" at the front; 0 if there is no fraction.
double TakeFraction(std::string_view& text) {
  if (!TakeOne(text, ".,")) return 0;
  double fraction = 0;
  for (double unit = 0.1; !text.empty() && text.front() >= '0' && text.front() <= '9'; unit /= 10) {
    fraction += unit * (text.front() - '0');
    text.remove_prefix(1);
  }
  return fraction;
}

// Returns how far a zone is ahead of UTC.
std::optional<Seconds> ReadZone(std::string_view zone) {
  if (zone.empty() || zone == "Z" || zone == "z" || zone == "UTC" || zone == "GMT")
    return Seconds(0);
  const double sign = zone.front() == '-' ? -1 : 1;
  if (!TakeOne(zone, "+-")) return std::nullopt;
  const auto hours = TakeDigits(zone, 2);
  if (!hours || *hours > 23) return std::nullopt;
  if (zone.empty()) return Seconds(sign * *hours * 3600);
  TakeOne(zone, ":");
  const auto minutes = TakeDigits(zone, 2);
  if (!minutes || *minutes > 59 || !zone.empty()) return std::nullopt;
  return Seconds(sign * (*hours * 3600 + *minutes * 60));
}

std::optional<Seconds> ReadDate(std::string_view text) {
  const auto year = TakeDigits(text, 4);
  if (!year || !TakeOne(text, "-/")) return std::nullopt;
  const auto month = TakeDigits(text, 2);
  if (!month || !TakeOne(text, "-/")) return std::nullopt;
  const auto day = TakeDigits(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  Seconds time(std::chrono::sys_days(date).time_since_epoch());
  if (text.empty()) return time;
  if (!TakeOne(text, "Tt ")) return std::nullopt;
  const auto hour = TakeDigits(text, 2);
  if (!hour || *hour > 23 || !TakeOne(text, ":")) return std::nullopt;
  const auto minute = TakeDigits(text, 2);
  if (!minute || *minute > 59) return std::nullopt;
  time += Seconds(*hour * 3600 + *minute * 60);
  if (TakeOne(text, ":")) {
    const auto second = TakeDigits(text, 2);
    if (!second || *second > 60) return std::nullopt;
    time += Seconds(*second + TakeFraction(text));
  }
  const auto ahead = ReadZone(Trimmed(text));
  if (!ahead) return std::nullopt;
  return time - *ahead;
}

}  // namespace

bool IsUninformative(std::string_view text) {
  constexpr std::array<std::string_view, 12> kNothing = {
      "", "none", "unknown", "null", "(null)", "nan", "nat", "n/a", "na", "-", "\\n", "invalid"};
  constexpr size_t kLongest = 7;
  if (text.size() > kLongest) return false;
  return std::find(kNothing.begin(), kNothing.end(), InLowerCase(text)) != kNothing.end();
}

std::optional<Seconds> ReadTimeText(std::string_view text) {
  if (const auto number = AllOf(text)) {
    const double size = std::abs(*number);
    if (size >= kMostMicroseconds) return std::nullopt;
    if (size >= kLeastMicroseconds) return Seconds(*number / 1e6);
    if (size >= kLeastMilliseconds) return Seconds(*number / 1e3);
    return Seconds(*number);
  }
  return ReadDate(text);
}

std::optional<Seconds> ReadDurationText(std::string_view text) {
  const auto in_range = [](double seconds) {
    return std::abs(seconds) <= kMostDuration ? std::optional(Seconds(seconds)) : std::nullopt;
  };
  if (const auto number = AllOf(text)) return in_range(*number);
  const bool negative = TakeOne(text, "-");
  double seconds = 0;
  const size_t hyphen = text.find('-');
  bool has_days = false;
  if (hyphen != text.npos) {
    std::string_view days = text.substr(0, hyphen);
    if (days.empty() || days.size() > 7) return std::nullopt;
    const auto count = TakeDigits(days, days.size());
    if (!count) return std::nullopt;
    seconds = *count * 86400.0;
    text.remove_prefix(hyphen + 1);
    has_days = true;
  }
  double part = 0;
  int parts = 0;
  for (;;) {
    const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    if (end == 0 || end > 7) return std::nullopt;
    const int digits = *TakeDigits(text, end);
    // Only the first part may exceed the range of a clock, and only if there are no days.
    if ((parts > 0 && digits > 59) || (parts == 0 && has_days && digits > 23)) return std::nullopt;
    part = part * 60 + digits;
    ++parts;
    if (!TakeOne(text, ":")) break;
  }
  part += TakeFraction(text);
  if (!text.empty() || parts > 3 || parts < (has_days ? 3 : 2)) return std::nullopt;
  seconds += part;
  return in_range(negative ? -seconds : seconds);
}

}  // namespace synergy
