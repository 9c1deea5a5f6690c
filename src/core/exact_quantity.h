#pragma once

// A quantity before it is rounded to whole units. Sums and maxima inside one pod use exact
// quantities and round only the total (docs/internals/accounting.md): two containers that request
// 500m bytes each request one byte together.
//
// Threading: values.

#include <cstdint>
#include <optional>
#include <string_view>

namespace synergy {

__extension__ using Int128 = __int128;

// Counts units of 10^-9, the finest that Kubernetes keeps. Saturates far beyond what an int64 can
// hold in whole or milli units, so that no sum can wrap.
class ExactQuantity {
 public:
  static constexpr Int128 kLimit = static_cast<Int128>(1) << 100;

  constexpr ExactQuantity() = default;
  constexpr explicit ExactQuantity(Int128 nano) : nano_(Clamp(nano)) {}

  constexpr Int128 nano() const { return nano_; }
  // Return the value in whole units or in thousandths, rounded away from zero and clamped to the
  // range of an int64.
  int64_t ToUnits() const;
  int64_t ToMilli() const;

  constexpr auto operator<=>(const ExactQuantity&) const = default;
  constexpr ExactQuantity& operator+=(ExactQuantity other) {
    nano_ = Clamp(nano_ + other.nano_);
    return *this;
  }

 private:
  static constexpr Int128 Clamp(Int128 nano) {
    return nano > kLimit ? kLimit : nano < -kLimit ? -kLimit : nano;
  }

  Int128 nano_ = 0;
};

struct ParsedQuantity {
  ExactQuantity exact;
  // Whether apimachinery keeps the value as an arbitrary decimal (inf.Dec) rather than as a scaled
  // int64. apimachinery rounds negative values of the two kinds differently.
  bool arbitrary_decimal = false;
};

// Returns nullopt if `text` is not a quantity.
std::optional<ParsedQuantity> ParseExactQuantity(std::string_view text);

}  // namespace synergy
