#pragma once

// The answer of a node agent's /progress, in JSON: what it knows of the progress of its pods.
//
// Threading: pure. Strings are UTF-8.

#include <string>
#include <string_view>

#include "core/result.h"
#include "profile/pod_progress.h"

namespace synergy::wire {

// The longest answer that is read: far more than the pods of a node need.
inline constexpr size_t kLongestNodeProgress = size_t{1} << 20;

std::string WriteNodeProgress(const NodeProgress& progress);
// kInvalid, with the path to what is wrong. What a newer version has added is passed over.
Result<NodeProgress> ReadNodeProgress(std::string_view text);

}  // namespace synergy::wire
