#pragma once

// A counter on a page of metrics in Prometheus' text format.
//
// Threading: pure.

#include <string_view>

#include "core/result.h"

namespace synergy::nodeagent {

// The sum of its series: one for each of several processes, or whatever they are told apart by.
// `name` as on the page, with "_total" where the page has it. kNotFound: there is no such counter;
// kInvalid: its value is none.
Result<double> FindCounter(std::string_view page, std::string_view name);

}  // namespace synergy::nodeagent
