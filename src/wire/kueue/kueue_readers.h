#pragma once

// Private to this folder.
//
// Threading: pure.

#include "wire/base/json_words.h"
#include "wire/kueue/kueue.h"

namespace synergy::wire {

// Returns the controlling owner.
WorkloadOwner ReadOwner(FieldReader& fields, Value metadata);

// Returns whether pods of the Job train apart from each other, so that one may fail and others
// succeed: there are several, and they are no gang (gang_owner.h).
bool HasIndependentCompletions(Value job);

}  // namespace synergy::wire
