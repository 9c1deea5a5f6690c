#pragma once

// Readers that only this folder uses.
//
// Threading: pure.

#include "wire/base/json_words.h"
#include "wire/kueue/kueue.h"

namespace synergy::wire {

// Returns the controlling owner.
WorkloadOwner ReadOwner(FieldReader& fields, Value metadata);

// Returns whether these conditions show that a Job, a JobSet or a Workload has ended, or is about
// to.
bool HasEnded(FieldReader& fields, Value conditions);

// Returns whether the Job has several pods that train independently, so that one may fail while
// others succeed: they are not a gang (gang_owner.h).
bool HasIndependentCompletions(Value job);

}  // namespace synergy::wire
