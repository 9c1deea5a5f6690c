#pragma once

// Pages of metrics that pods serve: how they are read, and the counters on them.
//
// Threading: from any thread.

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/result.h"

namespace synergy::nodeagent {

// Over HTTP. Failures: as http::Client says; kInvalid for an answer other than 200
// and for a page that is too large. Nothing is followed elsewhere.
Result<std::string> ReadPage(const std::string& ip, uint16_t port, const std::string& path,
                             const std::stop_token& stop);

// A counter on a page in Prometheus' text format: the sum of its series: one for each of several
// processes, or whatever they are told apart by. `name` as on the page, with "_total" where the
// page has it. kNotFound: there is no such counter; kInvalid: its value is none.
Result<double> FindCounter(std::string_view page, std::string_view name);

}  // namespace synergy::nodeagent
