#pragma once

// LimitRanges and ResourceQuotas, from parsed documents. What cannot be read is recorded in
// `fields`. Private to this folder.
//
// Threading: pure.

#include "cluster/namespace_limits.h"
#include "wire/json_words.h"

namespace synergy::wire {

LimitRange ReadLimitRangeObject(FieldReader& fields, Value object);
// What is used counts as all that is hard where the status does not say it yet.
ResourceQuota ReadResourceQuotaObject(FieldReader& fields, Value object);

}  // namespace synergy::wire
