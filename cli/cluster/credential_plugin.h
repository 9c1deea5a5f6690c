#pragma once

// Runs the credential plugin of a kubeconfig, as kubectl does (client.authentication.k8s.io).
//
// Threading: one caller at a time. Failures: kUnavailable if the plugin cannot run, takes longer
// than a minute, or fails (its messages go to the terminal); kInvalid if its answer is malformed.

#include "config/kubeconfig.h"
#include "core/result.h"

namespace synergy::cli {

// Returns `access` with the credentials of its plugin; unchanged if it has none.
Result<config::ClusterAccess> WithCredentials(config::ClusterAccess access);

}  // namespace synergy::cli
