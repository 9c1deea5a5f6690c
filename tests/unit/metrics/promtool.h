#pragma once

// The text exposition as Prometheus itself judges it.

#include <string>

namespace synergy::testing {

// What `promtool check metrics` says; empty when it has nothing to complain about.
std::string PromtoolComplaints(const std::string& exposition);

}  // namespace synergy::testing
