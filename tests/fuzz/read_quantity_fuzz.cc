// Reads any text as a quantity.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "core/check.h"
#include "core/exact_quantity.h"

namespace synergy {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

void CheckText(std::string_view text) {
  const std::optional<ParsedQuantity> quantity = ParseExactQuantity(text);
  if (!quantity) return;
  const int64_t units = quantity->exact.ToUnits();
  const int64_t milli = quantity->exact.ToMilli();
  if (units >= 0 && milli > 0 && milli < kMost) {
    SYNERGY_CHECK(units == (milli - 1) / 1000 + 1, "both readings are rounded up from one number");
  }
  // Neither a leading zero nor a plus sign changes anything.
  if (text.front() >= '0' && text.front() <= '9') {
    for (const char* const prefix : {"0", "+", "+000"}) {
      const std::optional<ParsedQuantity> prefixed = ParseExactQuantity(prefix + std::string(text));
      SYNERGY_CHECK(prefixed && prefixed->exact == quantity->exact,
                    "a prefix without meaning has none");
    }
    const std::optional<ParsedQuantity> negative = ParseExactQuantity("-" + std::string(text));
    SYNERGY_CHECK(negative && quantity->exact.nano() == -negative->exact.nano(),
                  "a sign changes nothing else");
  }
}

}  // namespace
}  // namespace synergy

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  synergy::CheckText(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
