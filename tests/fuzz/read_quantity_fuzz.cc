// Any text as a quantity.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "core/check.h"
#include "core/exact_quantity.h"
#include "json/text.h"
#include "wire/base/quantity.h"

namespace synergy::wire {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

void CheckText(std::string_view text) {
  const Result<QuantityValue> quantity = ParseQuantity(text);
  if (!quantity) {
    SYNERGY_CHECK(json::IsUtf8(quantity.error().message), "messages are UTF-8");
    return;
  }
  if (quantity->value >= 0 && quantity->milli > 0 && quantity->milli < kMost) {
    SYNERGY_CHECK(quantity->value == (quantity->milli - 1) / 1000 + 1,
                  "both readings are rounded up from one number");
  }
  // Neither a leading zero nor a plus sign changes anything.
  if (text.front() >= '0' && text.front() <= '9') {
    for (const char* const prefix : {"0", "+", "+000"}) {
      const Result<QuantityValue> prefixed = ParseQuantity(prefix + std::string(text));
      SYNERGY_CHECK(prefixed && *prefixed == *quantity, "a prefix without meaning has none");
    }
    const Result<QuantityValue> negative = ParseQuantity("-" + std::string(text));
    SYNERGY_CHECK(negative && ParseExactQuantity(text)->exact.nano() ==
                                  -ParseExactQuantity("-" + std::string(text))->exact.nano(),
                  "a sign changes nothing else");
  }
}

}  // namespace
}  // namespace synergy::wire

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  synergy::wire::CheckText(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
