#pragma once

// The responses of /progress in JSON: a node agent's, with the pods on its node, and the
// controller's, with all pods. Of the latter, each pod has the members that its node agent
// reported, with `node`, `since`, `at` and `age`.
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

// The header for a token of the reader's service account: the API server's proxy does not pass on
// one in Authorization.
inline constexpr std::string_view kProgressTokenHeader = "Synergy-Token";
// The audience of such a token.
inline constexpr std::string_view kProgressAudience = "progress.synergy.io";

std::string WriteClusterProgress(const ClusterProgress& progress);
// kInvalid, with the path to what is wrong. Ignores what a newer version has added.
Result<ClusterProgress> ReadClusterProgress(std::string_view text);

}  // namespace synergy::wire
