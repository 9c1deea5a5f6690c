#pragma once

// Private to this folder.
//
// Threading: pure.

#include "wire/base/json_words.h"
#include "wire/kueue/kueue.h"

namespace synergy::wire {

// Returns the controlling owner.
WorkloadOwner ReadOwner(FieldReader& fields, Value metadata);

}  // namespace synergy::wire
