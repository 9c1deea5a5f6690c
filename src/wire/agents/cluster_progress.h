#pragma once

// The answer of the controller's /progress, in JSON: what it knows of the progress of pods. Of each
// the members that its agent told (node_progress.h), with `node`, `since`, `at` and `age`.
//
// Threading: pure. Strings are UTF-8.

#include <string>
#include <string_view>

#include "core/result.h"
#include "profile/pod_progress.h"

namespace synergy::wire {

// The header for a token of the reader's service account: the API server's proxy passes on none
// that is in Authorization.
inline constexpr std::string_view kProgressTokenHeader = "Synergy-Token";
// The audience of such a token.
inline constexpr std::string_view kProgressAudience = "progress.synergy.io";

std::string WriteClusterProgress(const ClusterProgress& progress);
// kInvalid, with the path to what is wrong. What a newer version has added is passed over.
Result<ClusterProgress> ReadClusterProgress(std::string_view text);

}  // namespace synergy::wire
