#pragma once

// Runs the program by which a kubeconfig gets credentials, as kubectl does
// (client.authentication.k8s.io).
//
// Threading: one caller at a time. Failures: kUnavailable when it cannot be run, takes longer than
// a minute, or fails (what it says goes to the terminal); kInvalid when its answer makes no sense.

#include "config/kubeconfig.h"
#include "core/result.h"

namespace synergy::cli {

// `access` with what its plugin gives; unchanged if it has none.
Result<config::ClusterAccess> WithCredentials(config::ClusterAccess access);

}  // namespace synergy::cli
