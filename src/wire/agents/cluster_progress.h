#pragma once

// The response of the controller's /progress in JSON: the progress of all pods. Each pod has the
// members that its node agent reported (node_progress.h), with `node`, `since`, `at` and `age`.
//
// Threading: pure. Strings are UTF-8.

#include <string>
#include <string_view>

#include "core/result.h"
#include "profile/pod_progress.h"

namespace synergy::wire {

// The header for a token of the reader's service account: the API server's proxy does not pass on
// one in Authorization.
inline constexpr std::string_view kProgressTokenHeader = "Synergy-Token";
// The audience of such a token.
inline constexpr std::string_view kProgressAudience = "progress.synergy.io";

std::string WriteClusterProgress(const ClusterProgress& progress);
// kInvalid, with the path to what is wrong. Ignores what a newer version has added.
Result<ClusterProgress> ReadClusterProgress(std::string_view text);

}  // namespace synergy::wire
