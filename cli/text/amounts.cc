#include "cli/text/amounts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/rounding.h"
#include "core/text/duration_text.h"
#include "core/text/quantity_text.h"

namespace synergy::cli {
namespace {

// About thirty thousand years, in seconds.
constexpr double kLongest = 1e12;
// In seconds; a Duration cannot hold more.
constexpr int64_t kMostTimeout = 9'000'000'000;

struct Amount {
  double number;
  std::string_view unit;
};

std::optional<Amount> Read(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  return Amount{number, text.substr(static_cast<size_t>(end - text.data()))};
}

template <size_t kCount>
std::optional<double> Factor(const std::array<std::pair<std::string_view, double>, kCount>& units,
                             std::string_view unit) {
  for (const auto& [name, factor] : units) {
    if (name == unit) return factor;
  }
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> ParseWholeNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

Result<Seconds> ParseDuration(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 5> kUnits = {
      {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}}};
  const auto amount = Read(text);
  const auto factor = amount ? Factor(kUnits, amount->unit) : std::nullopt;
  if (!factor || amount->number * *factor > kLongest) {
    return Fail(
        ErrorCode::kInvalid,
        fmt::format("\"{}\" is not a duration: write it as 10ms, 300s, 5m, 1.5h or 2d", text));
  }
  return Seconds(amount->number * *factor);
}

Result<Duration> ParseTimeout(std::string_view text) {
  if (const std::optional<int64_t> seconds = ParseWholeNumber(text)) {
    if (*seconds < kMostTimeout) return std::chrono::seconds(*seconds);
  }
  return ParseGoDuration(text);
}

Result<Bytes> ParseSize(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 11> kUnits = {
      {{"B", 1},
       {"K", 1e3},
       {"M", 1e6},
       {"G", 1e9},
       {"T", 1e12},
       {"P", 1e15},
       {"Ki", 1024.0},
       {"Mi", 1048576.0},
       {"Gi", 1073741824.0},
       {"Ti", 1099511627776.0},
       {"Pi", 1125899906842624.0}}};
  const auto amount = Read(text);
  std::string_view written = amount ? amount->unit : std::string_view();
  written.remove_prefix(std::min(written.find_first_not_of(' '), written.size()));
  if (amount && written.empty()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("\"{0}\" has no unit: write {1:g}GB or {1:g}Gi", text, amount->number));
  }
  // In Kubernetes, `m` means a thousandth, so a unit of one letter must be a capital, except k.
  std::string unit(written);
  if (unit.size() > 1 || unit == "k" || unit == "b")
    unit.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(unit.front())));
  if (unit.size() > 1 && (unit.back() == 'B' || unit.back() == 'b')) unit.pop_back();
  if (unit.size() == 2 && unit.back() == 'I') unit.back() = 'i';
  const auto factor = amount ? Factor(kUnits, unit) : std::nullopt;
  if (!factor || amount->number * *factor > 1e18) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("\"{}\" is not a size: write it as 500GB or 500Gi", text));
  }
  return Bytes(ToNearest(amount->number * *factor));
}

std::string ToText(const GpuAmount& amount) {
  if (amount.slices <= Slices(0)) return fmt::format("{}", amount.gpus.count());
  const int64_t slices = amount.slices.count();
  return fmt::format("{}{} slice{}",
                     amount.gpus > Gpus(0) ? fmt::format("{} + ", amount.gpus.count()) : "", slices,
                     slices == 1 ? "" : "s");
}

std::string ToReadableText(Bytes size) {
  constexpr size_t kShort = 6;
  std::string exact = ToQuantityText(size);
  if (exact.size() <= kShort) return exact;
  double amount = static_cast<double>(size.count());
  const char* suffix = "";
  for (const char* next : {"Ki", "Mi", "Gi", "Ti", "Pi"}) {
    if (std::abs(amount) < 1024) break;
    amount /= 1024;
    suffix = next;
  }
  return fmt::format("{:.1f}{}", amount, suffix);
}

std::string ToRateText(double bytes_per_second) {
  return fmt::format("{:.1f} MB/s", bytes_per_second / 1e6);
}

std::string ToShortText(Duration duration) {
  using std::chrono::duration_cast;
  const int64_t seconds =
      std::max<int64_t>(0, duration_cast<std::chrono::seconds>(duration).count());
  constexpr int64_t kMinute = 60;
  constexpr int64_t kHour = 60 * kMinute;
  constexpr int64_t kDay = 24 * kHour;
  if (seconds < 2 * kMinute) return fmt::format("{}s", seconds);
  if (seconds < 2 * kHour) return fmt::format("{}m", seconds / kMinute);
  if (seconds < 2 * kDay) return fmt::format("{}h", seconds / kHour);
  return fmt::format("{}d", seconds / kDay);
}

std::string ToShortText(Seconds seconds) { return ToShortText(ToDuration(seconds)); }

}  // namespace synergy::cli
