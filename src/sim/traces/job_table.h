#pragma once

// A table with a row for each job: the plain form, and those of Helios (SC'21) and Acme (NSDI'24).
//
// Apart because each form of a trace is a file.
// Threading: pure. Failures: as recorded_trace.h says.

#include <string_view>

#include "core/result.h"
#include "sim/traces/recorded_trace.h"

namespace synergy {

// REQUIRES: `form` is kPlain or kHelios.
Result<RecordedTrace> ReadJobTable(std::string_view text, std::string_view file,
                                   const RecognizedTrace& form);

}  // namespace synergy
