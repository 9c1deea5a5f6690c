#include "core/exact_quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>

namespace synergy {
namespace {

constexpr int64_t kNanoPerUnit = 1'000'000'000;
constexpr int64_t kNanoPerMilli = 1'000'000;
// apimachinery's maxAllowed; it applies only to values with a binary suffix.
constexpr Int128 kBinaryCap = std::numeric_limits<int64_t>::max();

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsZero(char c) { return c == '0'; }

// The parts of a quantity's text, split as parseQuantityString of k8s.io/apimachinery does.
struct Parts {
  bool negative = false;
  bool any_digit = false;     // also true for leading zeros
  std::string_view whole;     // digits before the point, without leading zeros
  std::string_view fraction;  // digits after the point
  std::string_view suffix;
};

std::string_view TakeWhile(std::string_view& rest, bool (*wanted)(char)) {
  const auto end = std::find_if_not(rest.begin(), rest.end(), wanted);
  const std::string_view taken = rest.substr(0, static_cast<size_t>(end - rest.begin()));
  rest.remove_prefix(taken.size());
  return taken;
}

bool IsSuffixLetter(char c) {
  return std::string_view("eEinumkKMGTP").find(c) != std::string_view::npos;
}

// Returns nullopt if the part after the number cannot be a suffix. An empty number means zero.
std::optional<Parts> Split(std::string_view text) {
  if (text.empty()) return std::nullopt;
  Parts parts;
  std::string_view rest = text;
  if (rest.front() == '-' || rest.front() == '+') {
    parts.negative = rest.front() == '-';
    rest.remove_prefix(1);
  }
  const std::string_view zeros = TakeWhile(rest, IsZero);
  parts.whole = TakeWhile(rest, IsDigit);
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    parts.fraction = TakeWhile(rest, IsDigit);
  }
  parts.any_digit = !zeros.empty() || !parts.whole.empty() || !parts.fraction.empty();
  parts.suffix = rest;
  TakeWhile(rest, IsSuffixLetter);
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) rest.remove_prefix(1);
  TakeWhile(rest, IsDigit);
  if (!rest.empty()) return std::nullopt;
  return parts;
}

struct Unit {
  int base = 10;
  int32_t exponent = 0;
};

std::optional<Unit> InterpretSuffix(std::string_view suffix) {
  struct Known {
    std::string_view suffix;
    Unit unit;
  };
  static constexpr std::array kKnown = {
      Known{"", {10, 0}},   Known{"Gi", {2, 30}}, Known{"Mi", {2, 20}}, Known{"m", {10, -3}},
      Known{"Ki", {2, 10}}, Known{"Ti", {2, 40}}, Known{"Pi", {2, 50}}, Known{"Ei", {2, 60}},
      Known{"n", {10, -9}}, Known{"u", {10, -6}}, Known{"k", {10, 3}},  Known{"M", {10, 6}},
      Known{"G", {10, 9}},  Known{"T", {10, 12}}, Known{"P", {10, 15}}, Known{"E", {10, 18}},
  };
  for (const Known& known : kKnown) {
    if (known.suffix == suffix) return known.unit;
  }
  if (suffix.front() != 'e' && suffix.front() != 'E') return std::nullopt;
  std::string_view digits = suffix.substr(1);
  // from_chars accepts no plus sign.
  if (digits.size() > 1 && digits.front() == '+' && IsDigit(digits[1])) digits.remove_prefix(1);
  int64_t exponent = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  // apimachinery truncates the exponent to 32 bits without a check, so 1e4294967296 is 1.
  return Unit{10, static_cast<int32_t>(static_cast<uint64_t>(exponent))};
}

Int128 AppendDigit(Int128 number, char digit) {
  return std::min<Int128>(number * 10 + (digit - '0'), ExactQuantity::kLimit);
}

// Returns |whole.fraction| x 10^exponent in nano units, rounded up.
Int128 DecimalNano(const Parts& parts, int32_t exponent) {
  const int64_t digits = static_cast<int64_t>(parts.whole.size() + parts.fraction.size());
  const int64_t shift = int64_t{exponent} + 9 - static_cast<int64_t>(parts.fraction.size());
  // Keep the digits of whole nano units; later digits can only round up.
  const int64_t kept = std::clamp<int64_t>(digits + shift, 0, digits);
  Int128 nano = 0;
  bool rest = false;
  int64_t place = 0;
  for (const std::string_view part : {parts.whole, parts.fraction}) {
    for (const char digit : part) {
      if (place++ < kept) {
        nano = AppendDigit(nano, digit);
      } else {
        rest = rest || digit != '0';
      }
    }
  }
  for (int64_t i = 0; i < shift && nano != 0 && nano < ExactQuantity::kLimit; ++i) {
    nano = AppendDigit(nano, '0');
  }
  return rest ? nano + 1 : nano;
}

// Returns |whole.fraction| x 2^exponent in nano units, rounded up and capped.
Int128 BinaryNano(const Parts& parts, int32_t exponent) {
  const uint64_t factor = uint64_t{1} << exponent;
  Int128 units = 0;
  for (const char digit : parts.whole) units = AppendDigit(units, digit);
  units = std::min<Int128>(units, kBinaryCap) * static_cast<Int128>(factor);  // below 2^123

  // Long multiplication, starting at the last digit. The final carry is whole units; it stays below
  // `factor`, so neither it nor a digit's product (10 x 2^60) overflows.
  std::string fraction(parts.fraction);
  uint64_t carry = 0;
  for (auto digit = fraction.rbegin(); digit != fraction.rend(); ++digit) {
    const uint64_t product = static_cast<uint64_t>(*digit - '0') * factor + carry;
    *digit = static_cast<char>('0' + product % 10);
    carry = product / 10;
  }
  units = std::min<Int128>(units + carry, kBinaryCap);

  Parts rest;
  rest.fraction = fraction;
  return std::min(units * kNanoPerUnit + DecimalNano(rest, 0), kBinaryCap * kNanoPerUnit);
}

// Returns whether apimachinery's ParseQuantity takes its fast path, which produces a scaled int64.
bool FitsScaledInt64(const Parts& parts, const Unit& unit) {
  constexpr int64_t kMaxDigits = 18;
  const int64_t whole = std::max<int64_t>(static_cast<int64_t>(parts.whole.size()), 1);
  const int64_t fraction = static_cast<int64_t>(parts.fraction.size());
  if (unit.base == 2) return fraction == 0 && 15 - whole - unit.exponent * 3 / 10 - 1 >= 0;
  return kMaxDigits - whole - fraction >= 0 && unit.exponent - fraction >= -9;
}

int64_t RoundAwayFromZero(Int128 nano, int64_t unit) {
  const Int128 magnitude = ((nano < 0 ? -nano : nano) + unit - 1) / unit;
  const Int128 rounded = nano < 0 ? -magnitude : magnitude;
  return static_cast<int64_t>(std::clamp<Int128>(rounded, std::numeric_limits<int64_t>::min(),
                                                 std::numeric_limits<int64_t>::max()));
}

}  // namespace

int64_t ExactQuantity::ToUnits() const { return RoundAwayFromZero(nano_, kNanoPerUnit); }
int64_t ExactQuantity::ToMilli() const { return RoundAwayFromZero(nano_, kNanoPerMilli); }

std::optional<ParsedQuantity> ParseExactQuantity(std::string_view text) {
  const std::optional<Parts> parts = Split(text);
  if (!parts) return std::nullopt;
  const std::optional<Unit> unit = InterpretSuffix(parts->suffix);
  if (!unit) return std::nullopt;
  const bool scaled_int64 = FitsScaledInt64(*parts, *unit);
  // Only the fast path accepts a missing number as zero: "Ti" is a quantity, "Ei" is not.
  if (!scaled_int64 && !parts->any_digit) return std::nullopt;
  const Int128 magnitude =
      unit->base == 2 ? BinaryNano(*parts, unit->exponent) : DecimalNano(*parts, unit->exponent);
  return ParsedQuantity{ExactQuantity(parts->negative ? -magnitude : magnitude), !scaled_int64};
}

}  // namespace synergy
