#include "progress/line_time.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/wall_time.h"
#include "progress/numbers.h"

namespace synergy {
namespace {

// Limit in bytes on one prefix, which may name a pod and a container.
constexpr size_t kLongestPrefix = 330;
constexpr int kMostPrefixes = 6;
constexpr Duration kDay = std::chrono::hours(24);

// A time as written. If the text omits the year, or the month and the day, they are 0.
struct TimeFields {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  std::string fraction = "0";
};

bool IsOneOf(std::string_view text, std::string_view set) {
  return !text.empty() && set.find(text.front()) != std::string_view::npos;
}

size_t CountDigits(std::string_view text) {
  return static_cast<size_t>(std::find_if_not(text.begin(), text.end(), IsDigit) - text.begin());
}

// Removes a number of exactly `digits` digits.
bool Take(std::string_view& text, size_t digits, int& number) {
  if (text.size() < digits) return false;
  const char* const end = text.data() + digits;
  const auto [after, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || after != end || number < 0) return false;
  text.remove_prefix(digits);
  return true;
}

bool Take(std::string_view& text, char expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(1);
  return true;
}

// "2026-11-21" and "2026/11/21".
bool TakeLongDate(std::string_view& text, TimeFields& written) {
  if (!Take(text, 4, written.year) || !IsOneOf(text, "-/.")) return false;
  const char mark = text.front();
  return Take(text, mark) && Take(text, 2, written.month) && Take(text, mark) &&
         Take(text, 2, written.day);
}

// "11/21/2026", "21.11.2026", "26-11-21", and "11-21" without a year.
bool TakeShortDate(std::string_view& text, TimeFields& written) {
  if (!Take(text, 2, written.month) || !IsOneOf(text, "-/.")) return false;
  const char mark = text.front();
  if (!Take(text, mark) || !Take(text, 2, written.day)) return false;
  if (!Take(text, mark)) return true;
  if (CountDigits(text) == 4) {
    if (mark == '.' || written.month > 12) std::swap(written.month, written.day);
    return Take(text, 4, written.year);
  }
  written.year = 2000 + written.month;
  written.month = written.day;
  return Take(text, 2, written.day);
}

// "I1121" as glog writes it, and "1121".
bool TakeDigits(std::string_view& text, TimeFields& written) {
  if (IsOneOf(text, "IWEF")) text.remove_prefix(1);
  return CountDigits(text) == 4 && Take(text, 2, written.month) && Take(text, 2, written.day);
}

bool TakeDate(std::string_view& text, TimeFields& written) {
  for (const auto form : {TakeLongDate, TakeShortDate, TakeDigits}) {
    std::string_view rest = text;
    TimeFields date;
    if (!form(rest, date) || !IsOneOf(rest, " T,_")) continue;
    rest.remove_prefix(std::min(rest.find_first_not_of(" T,_"), rest.size()));
    written = date;
    text = rest;
    return true;
  }
  return false;
}

bool TakeTime(std::string_view& text, TimeFields& written) {
  if (!Take(text, 2, written.hour) || !Take(text, ':') || !Take(text, 2, written.minute) ||
      !Take(text, ':') || !Take(text, 2, written.second)) {
    return false;
  }
  if (IsOneOf(text, ",.") && CountDigits(text.substr(1)) > 0) {
    const size_t digits = CountDigits(text.substr(1));
    written.fraction = text.substr(1, std::min<size_t>(digits, 9));
    text.remove_prefix(digits + 1);
  }
  if (text.starts_with(" PM") && written.hour < 12) written.hour += 12;
  if (text.starts_with(" AM") && written.hour == 12) written.hour = 0;
  return true;
}

std::optional<TimeFields> ReadDated(std::string_view text) {
  TimeFields written;
  if (!TakeDate(text, written) || !TakeTime(text, written)) return std::nullopt;
  return written;
}

// "07:05:03 ", "[07:05:03]"; a time in a progress bar is followed by other marks.
std::optional<TimeFields> ReadUndated(std::string_view text) {
  TimeFields written;
  if (!TakeTime(text, written) || !IsOneOf(text, " ]\t")) return std::nullopt;
  return written;
}

// "Wed Jun  6 16:01:01 2018".
std::optional<TimeFields> ReadNamed(std::string_view text) {
  constexpr std::string_view kDays = "Mon Tue Wed Thu Fri Sat Sun ";
  constexpr std::string_view kMonths = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec ";
  if (text.size() < 24 || text[3] != ' ' || kDays.find(text.substr(0, 4)) == kDays.npos) {
    return std::nullopt;
  }
  const size_t month = kMonths.find(text.substr(4, 4));
  if (text[7] != ' ' || month == kMonths.npos) return std::nullopt;
  TimeFields written;
  written.month = static_cast<int>(month / 4) + 1;
  text.remove_prefix(8);
  if (text.starts_with(' ')) text.remove_prefix(1);
  if (!Take(text, CountDigits(text) == 1 ? 1 : 2, written.day) || !Take(text, ' ') ||
      !TakeTime(text, written) || !Take(text, ' ') || !Take(text, 4, written.year)) {
    return std::nullopt;
  }
  return written;
}

std::optional<TimeFields> ReadAny(std::string_view text) {
  if (auto written = ReadNamed(text)) return written;
  if (auto written = ReadDated(text)) return written;
  return ReadUndated(text);
}

// Removes "INFO ", "DLL ", "main: ".
bool TakeOrigin(std::string_view& text) {
  const size_t end = text.find_first_of(" :\t");
  if (end == 0 || end == std::string_view::npos) return false;
  const std::string_view word = text.substr(0, end);
  const bool level =
      std::all_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  if (!level && text.substr(end, 2) != ": ") return false;
  text.remove_prefix(end + 1);
  return true;
}

// Returns the time behind names of the line's origin: "[pod/train-0/main] " from kubectl,
// "[rank0]: ", "main-1 | ", "(Worker pid=1) ".
std::optional<TimeFields> ReadFront(std::string_view text) {
  for (int prefixes = 0; prefixes < kMostPrefixes; ++prefixes) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t:>-"), text.size()));
    if (text.empty()) return std::nullopt;
    if (auto written = ReadAny(text)) return written;
    if (IsOneOf(text, "[(<")) {
      std::string_view inside = text.substr(1);
      inside.remove_prefix(std::min(inside.find_first_not_of(' '), inside.size()));
      if (auto written = ReadAny(inside)) return written;
      if (TakeOrigin(inside)) {
        if (auto written = ReadAny(inside)) return written;
      }
      const char last = text.front() == '[' ? ']' : text.front() == '(' ? ')' : '>';
      const size_t end = text.substr(0, kLongestPrefix).find(last);
      if (end == std::string_view::npos) return std::nullopt;
      text.remove_prefix(end + 1);
    } else if (!TakeOrigin(text)) {
      const size_t end = text.substr(0, kLongestPrefix).find('|');
      if (end == std::string_view::npos) return std::nullopt;
      text.remove_prefix(end + 1);
      text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
      return ReadDated(text);
    }
  }
  return std::nullopt;
}

// Returns whether the line has named values: {"timestamp": ...}, time="..." level=info.
bool HasNames(std::string_view text) {
  constexpr size_t kFront = 16;
  return text.substr(0, kFront).find('{') != std::string_view::npos || text.starts_with("time=") ||
         text.starts_with("ts=");
}

// Returns the position of the next name that begins with "time", or that is "ts".
size_t FindName(std::string_view text, size_t from) {
  const size_t time = text.find("time", from);
  for (size_t at = text.find("ts", from); at < time; at = text.find("ts", at + 1)) {
    const bool begins = at == 0 || text[at - 1] == '"' || text[at - 1] == ' ';
    if (begins && IsOneOf(text.substr(at + 2), "\"=:")) return at;
  }
  return time;
}

std::optional<WallTime> FromSeconds(std::string_view text) {
  const auto end = text.find_first_not_of("0123456789.");
  const std::optional<double> seconds = ReadNumber(text.substr(0, end));
  constexpr double kLeast = 1e9;
  constexpr double kMost = 4e9;
  if (!seconds || *seconds < kLeast || *seconds > kMost) return std::nullopt;
  const double whole = std::floor(*seconds);
  return WallTime(std::chrono::seconds(static_cast<int64_t>(whole))) +
         std::chrono::duration_cast<Duration>(Seconds(*seconds - whole));
}

std::optional<WallTime> Resolve(const TimeFields& written, std::optional<WallTime> last) {
  const auto with_date = [&](int year, int month, int day) {
    return ParseTime(fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{}Z", year, month, day,
                                 written.hour, written.minute, written.second, written.fraction));
  };
  if (written.year > 0) return with_date(written.year, written.month, written.day);
  // A leap year, so that every day exists.
  const std::string known = last ? ToTimeText(*last) : "2000-01-02";
  std::string_view rest = known;
  TimeFields before;
  if (!TakeLongDate(rest, before)) return std::nullopt;
  const bool dated = written.month > 0;
  const auto at = dated ? with_date(before.year, written.month, written.day)
                        : with_date(before.year, before.month, before.day);
  if (!at || !last) return at;
  const Duration round = dated ? 365 * kDay : kDay;
  if (*at < *last - round / 2) {
    return dated ? with_date(before.year + 1, written.month, written.day) : *at + kDay;
  }
  if (*at > *last + round / 2) {
    return dated ? with_date(before.year - 1, written.month, written.day) : *at - kDay;
  }
  return at;
}

}  // namespace

std::optional<WallTime> LineTime::Read(std::string_view text) {
  std::optional<WallTime> time;
  std::optional<WallTime> seconds;  // used if no name has a date
  if (const std::optional<TimeFields> written = ReadFront(text)) time = Resolve(*written, last_);
  for (size_t at = HasNames(text) && !time ? FindName(text, 0) : std::string_view::npos;
       at != std::string_view::npos && !time; at = FindName(text, at + 1)) {
    std::string_view rest = text.substr(at);
    rest.remove_prefix(
        static_cast<size_t>(std::find_if_not(rest.begin(), rest.end(), IsLetter) - rest.begin()));
    rest.remove_prefix(std::min(rest.find_first_not_of("\"' :="), rest.size()));
    if (const std::optional<TimeFields> written = ReadDated(rest)) time = Resolve(*written, last_);
    if (!seconds) seconds = FromSeconds(rest);
  }
  if (!time) time = seconds;
  // A line that begins with a Unix time.
  if (!time && CountDigits(text) == 10 && IsOneOf(text.substr(10), ". ")) time = FromSeconds(text);
  if (time) last_ = time;
  return time;
}

}  // namespace synergy
