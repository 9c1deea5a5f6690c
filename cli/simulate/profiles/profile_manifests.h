#pragma once

// Reads TrainingProfiles from a file of --profiles: manifests in YAML or JSON, or a List of
// `kubectl get trainingprofiles -o yaml`. A simulated job uses the one that its model names.
//
// This file is separate because model_facts_file.h reads another form. Threading: pure. Failures:
// kInvalid with file and object.

#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "profile/profile_object.h"

namespace synergy::cli {

// Returns nullopt if the text contains no Kubernetes objects. Omits objects of other kinds, and
// profiles for which nothing was measured yet. The simulated GPUs count as those that were
// measured, so no profile has a GPU product.
Result<std::optional<std::vector<ProfileObject>>> ParseProfileManifests(const std::string& text,
                                                                        const std::string& name);

}  // namespace synergy::cli
