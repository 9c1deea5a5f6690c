#pragma once

// Reads from a container's status how its last run ended. Private to src/wire.
//
// This file is separate because the readers of failures and of the pods on a node share it.
//
// Threading: pure.

#include <cstdint>
#include <optional>

#include "wire/base/json_words.h"

namespace synergy::wire {

struct LastEnd {
  int32_t run = 0;  // how often the container had been restarted before
  Value terminated;
};

// `status`: a v1.ContainerStatus. Returns nullopt if no run has ended.
std::optional<LastEnd> ReadLastEnd(FieldReader& fields, Value status);

// Returns how often the container was restarted.
int32_t ReadRestarts(FieldReader& fields, Value status);

}  // namespace synergy::wire
