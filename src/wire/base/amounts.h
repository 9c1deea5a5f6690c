#pragma once

// CPU and memory as they stand in our annotations: {"cpu":"1500m","memory":"4Gi"}. Private to this
// folder.
//
// Threading: pure.

#include <optional>
#include <string>

#include "core/resources.h"
#include "wire/base/json_words.h"

namespace synergy::wire {

// Of an object that has `cpu`, `memory` or both; what is absent is 0. None, and a finding, for
// anything else.
std::optional<ResourceVector> ReadAmounts(FieldReader& fields, Value object);
// Of an annotation whose text is such an object; none, without a finding, where there is no
// annotation.
std::optional<ResourceVector> ReadAmountsAnnotation(FieldReader& fields, Value annotation);

std::string WriteAmounts(const ResourceVector& amounts);

}  // namespace synergy::wire
