#pragma once

// Reads a table with a row for each job, in the plain form or in those of Helios (SC'21) and Acme
// (NSDI'24).
//
// This file is separate because each form of a trace has its own file. Threading: pure. Failures:
// as in recorded_trace.h.

#include <string_view>

#include "core/result.h"
#include "sim/traces/recorded_trace.h"

namespace synergy {

// REQUIRES: `form` is kPlain or kHelios.
Result<RecordedTrace> ReadJobTable(std::string_view text, std::string_view file,
                                   const RecognizedTrace& form);

}  // namespace synergy
