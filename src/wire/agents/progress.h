#pragma once

// The responses of /progress as JSON: a node agent's, with the pods on its node, and the
// controller's, with all pods. In the controller's response, each pod has the members that its node
// agent reported, plus `node`, `since`, `at` and `age`.
//
// Threading: pure. Strings are UTF-8.

#include <string>
#include <string_view>

#include "core/result.h"
#include "profile/pod_progress.h"

namespace synergy::wire {

// The longest response to read, in bytes; far more than the pods of a node need.
inline constexpr size_t kLongestNodeProgress = size_t{1} << 20;

std::string WriteNodeProgress(const NodeProgress& progress);
// Returns kInvalid, with the path to the error. Ignores additions of newer versions.
Result<NodeProgress> ReadNodeProgress(std::string_view text);

// The header for a token of the reader's service account, because the API server's proxy does not
// forward a token in Authorization.
inline constexpr std::string_view kProgressTokenHeader = "Synergy-Token";
// The audience of such a token.
inline constexpr std::string_view kProgressAudience = "progress.synergy.io";

std::string WriteClusterProgress(const ClusterProgress& progress);
// Returns kInvalid, with the path to the error. Ignores additions of newer versions.
Result<ClusterProgress> ReadClusterProgress(std::string_view text);

}  // namespace synergy::wire
