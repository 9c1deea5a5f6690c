#pragma once

// Kubernetes' resource.Quantity as text ("500m", "1.5Gi", "1e3"), read exactly as
// k8s.io/apimachinery reads it.
//
// Threading: pure.

#include <cstdint>
#include <string_view>

#include "core/result.h"

namespace synergy::wire {

// The two readings that scheduling uses, each rounded up as Quantity.Value() and
// Quantity.MilliValue() do.
struct QuantityValue {
  int64_t value = 0;
  int64_t milli = 0;

  bool operator==(const QuantityValue&) const = default;
};

// kInvalid with the text, shortened, in the message when it is no quantity.
Result<QuantityValue> ParseQuantity(std::string_view text);

}  // namespace synergy::wire
