#pragma once

// The programs' own health check, for whoever runs them without Kubernetes' probes
// (Docker's HEALTHCHECK).
//
// Threading: any.

#include <string>

#include "core/result.h"

namespace synergy::daemon {

// Asks the program that listens on `listen` of this machine for /healthz; with `tls`, whatever its
// certificate says. Failures: kUnavailable, with the answer where there is one.
Result<> CheckHealth(const std::string& listen, bool tls);

}  // namespace synergy::daemon
