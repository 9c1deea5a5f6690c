#include "progress/numbers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "core/rounding.h"

namespace synergy {
namespace {

// Returns the factor of a suffix; 0 if the character is not one.
double Multiplier(char suffix) {
  switch (suffix) {
    case 'k':
    case 'K':
      return 1e3;
    case 'M':
      return 1e6;
    case 'G':
      return 1e9;
    case 'T':
      return 1e12;
    default:
      return 0;
  }
}

// Parses the number at the beginning of `text`.
std::optional<double> Leading(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  return number;
}

// Also accepts a decimal comma, which has a digit on both sides; a comma in a list has no digit
// after it.
std::optional<double> LeadingWithComma(std::string_view text) {
  const size_t whole = std::min(text.find_first_not_of("-0123456789"), text.size());
  if (whole == 0 || whole + 1 >= text.size() || text[whole] != ',' || !IsDigit(text[whole + 1])) {
    return Leading(text);
  }
  std::string number(text.substr(0, 64));
  number[whole] = '.';
  return Leading(number);
}

// Returns whether `text` ends with a word for evaluation, ignoring spaces and underscores after it.
bool EndsWithEvaluation(std::string_view text) {
  while (text.ends_with('_') || text.ends_with(' ')) text.remove_suffix(1);
  constexpr std::array<std::string_view, 6> kWords = {"val",        "eval", "valid",
                                                      "validation", "test", "Val"};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    return text.ends_with(word) &&
           (text.size() == word.size() || !IsLetter(text[text.size() - word.size() - 1]));
  });
}

// Returns "1200" for "1,200"; nullopt if a comma does not separate groups of three digits.
std::optional<std::string> WithoutGroups(std::string_view text) {
  std::string plain(text.substr(0, text.find(',')));
  for (size_t at = plain.size(); at < text.size(); at += 4) {
    const std::string_view group = text.substr(at, 4);
    if (group.size() < 4 || group[0] != ',' || plain.empty()) return std::nullopt;
    plain += group.substr(1);
  }
  return plain;
}

// "Ep 3", "ep=3".
std::optional<double> FindShortEpoch(std::string_view text) {
  for (const std::string_view name : {"Ep", "ep"}) {
    const size_t at = text.find(name);
    if (at == std::string_view::npos || (at > 0 && text[at - 1] != ' ' && text[at - 1] != '[')) {
      continue;
    }
    std::string_view rest = text.substr(at + name.size());
    const size_t marks = std::min(rest.find_first_not_of(" =:#"), rest.size());
    rest.remove_prefix(marks);
    if (marks > 0 && !rest.empty() && IsDigit(rest.front())) return Leading(rest);
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> ReadNumber(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) {
    return std::nullopt;
  }
  return number;
}

std::optional<int64_t> ReadCount(std::string_view text) {
  double multiplier = 1;
  if (!text.empty() && Multiplier(text.back()) != 0) {
    multiplier = Multiplier(text.back());
    text.remove_suffix(1);
  }
  const auto plain = WithoutGroups(text);
  if (!plain) return std::nullopt;
  const std::optional<double> number = ReadNumber(*plain);
  // More than any training counts; sums of many such numbers fit into an int64_t.
  constexpr double kMost = 1e12;
  if (!number || *number < 0 || *number * multiplier > kMost) return std::nullopt;
  return ToNearest(*number * multiplier);
}

// "3m 4s", "5.61s".
std::optional<Duration> ReadSpoken(std::string_view text) {
  double seconds = 0;
  while (!text.empty()) {
    const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    const std::optional<double> number = ReadNumber(text.substr(0, digits));
    text.remove_prefix(digits);
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view unit = text.substr(0, end);
    const double factor = unit == "us"   ? 1e-6
                          : unit == "ms" ? 1e-3
                          : unit == "s"  ? 1
                          : unit == "m"  ? 60
                          : unit == "h"  ? 3600
                          : unit == "d"  ? 86400
                                         : -1;
    constexpr double kMost = 1e8;
    if (!number || factor < 0 || *number > kMost / factor) return std::nullopt;
    seconds += *number * factor;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::chrono::duration_cast<Duration>(Seconds(seconds));
}

std::optional<Duration> ReadElapsed(std::string_view text) {
  if (!text.empty() && IsLetter(text.back())) return ReadSpoken(text);
  int64_t seconds = 0;
  while (!text.empty()) {
    int64_t part = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), part);
    if (error != std::errc() || part < 0 || part > 1'000'000) return std::nullopt;
    seconds = seconds * 60 + part;
    if (seconds > 10'000'000'000 / 60) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (text.empty()) break;
    if (text.front() != ':') return std::nullopt;
    text.remove_prefix(1);
  }
  return std::chrono::seconds(seconds);
}

std::optional<double> FindLoss(std::string_view text) {
  for (size_t at = text.find("oss"); at != std::string_view::npos; at = text.find("oss", at + 3)) {
    if (at == 0 || (text[at - 1] != 'l' && text[at - 1] != 'L')) continue;
    if (EndsWithEvaluation(text.substr(0, at - 1))) continue;
    std::string_view rest = text.substr(at + 3);
    if (rest.starts_with(" Total :")) rest.remove_prefix(sizeof(" Total :") - 1);  // HiFi-GAN
    if (!rest.empty() && (IsLetter(rest.front()) || rest.front() == '_')) continue;
    // Skip a dict's quotes, a colon or an equals sign, and spaces.
    rest.remove_prefix(std::min(rest.find_first_not_of("'\":= \t"), rest.size()));
    if (const std::optional<double> loss = LeadingWithComma(rest)) return loss;
  }
  return std::nullopt;
}

std::optional<double> FindEpoch(std::string_view text) {
  const size_t at = text.find("poch");
  if (at == std::string_view::npos) {
    // "ep:3 it:100/10009"
    const size_t ep = text.find("ep:");
    if (ep != std::string_view::npos && (ep == 0 || text[ep - 1] == ' ')) {
      return Leading(text.substr(ep + 3));
    }
    if (const std::optional<double> short_form = FindShortEpoch(text)) return short_form;
    // "1/100  2.61G  1.142": Ultralytics begins the line with the epoch.
    const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const size_t total = std::min(text.find_first_not_of("0123456789", digits + 1), text.size());
    if (digits == 0 || text.substr(digits, 1) != "/" || total == digits + 1 ||
        text.substr(total, 2) != "  ") {
      return std::nullopt;
    }
    return Leading(text);
  }
  std::string_view rest = text.substr(at + 4);
  rest.remove_prefix(std::min(rest.find_first_not_of("'\":=[( #\t"), rest.size()));
  if (rest.empty() || !IsDigit(rest.front())) return std::nullopt;
  return Leading(rest);
}

}  // namespace synergy
