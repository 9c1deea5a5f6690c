#pragma once

// The answer of the controller's /progress, in JSON: what it knows of the progress of pods. Of each
// the members that its agent told (node_progress.h), with `node`, `since`, `at` and `age`.
//
// Threading: pure. Strings are UTF-8.

#include <string>
#include <string_view>

#include "core/result.h"
#include "profile/known_progress.h"

namespace synergy::wire {

std::string WriteClusterProgress(const ClusterProgress& progress);
// kInvalid, with the path to what is wrong. What a newer version has added is passed over.
Result<ClusterProgress> ReadClusterProgress(std::string_view text);

}  // namespace synergy::wire
