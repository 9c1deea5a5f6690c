#include "core/wall_time.h"

#include <charconv>
#include <cstdint>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace synergy {
namespace {

// Removes `digits` digits from the front of `text`, and returns their number.
std::optional<int> TakeNumber(std::string_view& text, size_t digits) {
  int number = 0;
  if (text.size() < digits || text.front() == '-') return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, number);
  if (error != std::errc() || end != text.data() + digits) return std::nullopt;
  text.remove_prefix(digits);
  return number;
}

bool Take(std::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

// Removes the fraction of a second and returns it in nanoseconds; finer digits are dropped.
std::optional<int64_t> TakeFraction(std::string_view& text) {
  if (!Take(text, '.')) return 0;
  int64_t fraction = 0;
  int64_t unit = 1'000'000'000;
  size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    unit /= 10;
    fraction += unit * (text[digits] - '0');
  }
  if (digits == 0) return std::nullopt;
  text.remove_prefix(digits);
  return fraction;
}

std::optional<std::chrono::minutes> TakeOffset(std::string_view& text) {
  if (Take(text, 'Z')) return std::chrono::minutes(0);
  const bool west = !text.empty() && text.front() == '-';
  if (!Take(text, west ? '-' : '+')) return std::nullopt;
  const auto hours = TakeNumber(text, 2);
  if (!hours || *hours > 23 || !Take(text, ':')) return std::nullopt;
  const auto minutes = TakeNumber(text, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  const std::chrono::minutes offset(*hours * 60 + *minutes);
  return west ? -offset : offset;
}

}  // namespace

std::string ToTimeText(WallTime time) {
  const auto micro = std::chrono::floor<std::chrono::microseconds>(time);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(micro);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)),
                     (micro - seconds).count());
}

std::optional<WallTime> ParseTime(std::string_view text) {
  const auto year = TakeNumber(text, 4);
  if (!year || !Take(text, '-')) return std::nullopt;
  const auto month = TakeNumber(text, 2);
  if (!month || !Take(text, '-')) return std::nullopt;
  const auto day = TakeNumber(text, 2);
  if (!day || !Take(text, 'T')) return std::nullopt;
  const auto hour = TakeNumber(text, 2);
  if (!hour || *hour > 23 || !Take(text, ':')) return std::nullopt;
  const auto minute = TakeNumber(text, 2);
  if (!minute || *minute > 59 || !Take(text, ':')) return std::nullopt;
  const auto second = TakeNumber(text, 2);
  if (!second || *second > 60) return std::nullopt;
  const auto fraction = TakeFraction(text);
  if (!fraction) return std::nullopt;
  const auto offset = TakeOffset(text);
  if (!offset || !text.empty()) return std::nullopt;

  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  // These years fit into 64 bits of nanoseconds, with room for additions.
  if (!date.ok() || *year < 1700 || *year > 2200) return std::nullopt;
  return WallTime(std::chrono::sys_days(date).time_since_epoch() + std::chrono::hours(*hour) +
                  std::chrono::minutes(*minute) + std::chrono::seconds(*second) - *offset +
                  std::chrono::nanoseconds(*fraction));
}

}  // namespace synergy
