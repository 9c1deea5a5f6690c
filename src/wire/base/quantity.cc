#include "wire/base/quantity.h"

#include <string>

#include "core/exact_quantity.h"
#include "wire/base/json_words.h"

namespace synergy::wire {
namespace {

constexpr Int128 kNanoPerUnit = 1'000'000'000;
constexpr Int128 kNanoPerMilli = 1'000'000;

// apimachinery's scaledValue cuts a negative decimal towards zero and then adds one as if it had
// been cut downwards: -307.2 becomes -306.
int64_t RoundNegativeDecimal(Int128 nano, Int128 unit, int64_t away_from_zero) {
  return nano % unit == 0 ? away_from_zero : away_from_zero + 2;
}

}  // namespace

Result<QuantityValue> ParseQuantity(std::string_view text) {
  const std::optional<ParsedQuantity> parsed = ParseExactQuantity(text);
  if (!parsed) return Fail(ErrorCode::kInvalid, Quoted(text) + " is not a quantity");
  QuantityValue value{parsed->exact.ToUnits(), parsed->exact.ToMilli()};
  const Int128 nano = parsed->exact.nano();
  if (nano < 0 && parsed->arbitrary_decimal) {
    value.value = RoundNegativeDecimal(nano, kNanoPerUnit, value.value);
    value.milli = RoundNegativeDecimal(nano, kNanoPerMilli, value.milli);
  }
  return value;
}

}  // namespace synergy::wire
