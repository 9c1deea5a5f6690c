#pragma once

// A page that a pod serves over HTTP.
//
// Threading: from any thread. Failures: as http::Client says; kInvalid for an answer other than 200
// and for a page that is too large. Nothing is followed elsewhere.

#include <cstdint>
#include <stop_token>
#include <string>

#include "core/result.h"

namespace synergy::nodeagent {

Result<std::string> ReadPage(const std::string& ip, uint16_t port, const std::string& path,
                             const std::stop_token& stop);

}  // namespace synergy::nodeagent
