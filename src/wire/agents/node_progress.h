#pragma once

// The response of a node agent's /progress in JSON: the progress of the pods on its node.
//
// Threading: pure. Strings are UTF-8.

#include <string>
#include <string_view>

#include "core/result.h"
#include "profile/pod_progress.h"

namespace synergy::wire {

// Longest response that is read, far more than the pods of a node need.
inline constexpr size_t kLongestNodeProgress = size_t{1} << 20;

std::string WriteNodeProgress(const NodeProgress& progress);
// kInvalid, with the path to what is wrong. Ignores what a newer version has added.
Result<NodeProgress> ReadNodeProgress(std::string_view text);

}  // namespace synergy::wire
