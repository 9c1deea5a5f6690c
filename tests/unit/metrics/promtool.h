#pragma once

// Checks the text exposition with Prometheus' own tool.

#include <string>

namespace synergy::testing {

// Returns the output of `promtool check metrics`; empty if it finds nothing.
std::string PromtoolComplaints(const std::string& exposition);

}  // namespace synergy::testing
