#pragma once

// CPU and memory as in Synergy's annotations: {"cpu":"1500m","memory":"4Gi"}. Private to this
// folder.
//
// Threading: pure.

#include <optional>
#include <string>

#include "core/resources.h"
#include "wire/base/json_words.h"

namespace synergy::wire {

// Reads an object with `cpu`, `memory` or both; an absent one is 0. None, and a finding, for
// anything else.
std::optional<ResourceVector> ReadAmounts(FieldReader& fields, Value object);
// Reads an annotation whose text is such an object. None, without a finding, if there is no
// annotation.
std::optional<ResourceVector> ReadAmountsAnnotation(FieldReader& fields, Value annotation);

std::string WriteAmounts(const ResourceVector& amounts);

}  // namespace synergy::wire
