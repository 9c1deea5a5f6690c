#pragma once

// Reads pages of metrics that pods serve, and counters on them.
//
// Threading: any thread.

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/result.h"

namespace synergy::nodeagent {

// Gets a page over HTTP without following redirects. Failures: as in http::Client; kInvalid for a
// status other than 200, and for a page that is too large.
Result<std::string> ReadPage(const std::string& ip, uint16_t port, const std::string& path,
                             const std::stop_token& stop);

// Returns a counter from a page in Prometheus' text format: the sum of its series (one per process,
// or whatever their labels distinguish). `name`: as on the page, including "_total" if the page has
// it. Returns kNotFound if there is no such counter, and kInvalid if its value is not a number.
Result<double> FindCounter(std::string_view page, std::string_view name);

}  // namespace synergy::nodeagent
