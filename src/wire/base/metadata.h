#pragma once

// Reads the parts of metadata that all kinds share. Private to this folder.
//
// Threading: pure.
//
// This file is separate because the readers of all kinds need it.

#include <memory>
#include <string>
#include <string_view>

#include "cluster/gang.h"
#include "cluster/labels.h"
#include "wire/base/json_words.h"

namespace synergy::wire {

std::string ReadText(FieldReader& fields, Value value);
Labels ReadLabels(FieldReader& fields, Value object);
bool ReadDeleting(FieldReader& fields, Value metadata);
// Returns the UID of the object's controller, such as a Job; empty if it has none, or an impossible
// one: the API server accepts any text there.
std::string ReadControllerUid(Value metadata);
// Returns the gang of the pod with this metadata; null for a pod that trains alone.
std::shared_ptr<const Gang> ReadGang(std::string_view pod_namespace, Value metadata);
// Does what WhyNoGang() of cluster/gang.h describes.
std::string ReadWhyNoGang(Value labels, Value annotations);

}  // namespace synergy::wire
