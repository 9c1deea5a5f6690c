#pragma once

// Reads Philly's public trace (github.com/msr-fiddle/philly-traces, cluster_job_log): a JSON array
// of
//
//   {"jobid": "application_...", "submitted_time": "2017-10-09 07:00:46", "status": "Pass",
//    "attempts": [{"start_time": "...", "end_time": "...", "detail": [{"ip": "m1", "gpus":
//    ["gpu0"]}]}]}
//
// A job gets the largest GPU count of its attempts, and the duration that preserves their total GPU
// time. Attempts without a start, an end or GPUs, and those that end before they start, do not
// count.
//
// Threading: pure.

#include <string_view>

#include "core/result.h"
#include "sim/traces/recorded_trace.h"

namespace synergy::cli {

// Returns kInvalid, with the position, if `text` is not such an array, or if a time is neither
// valid nor missing (null, "None"). Returns kNotFound if no job is left. `file`: its name in
// errors.
Result<RecordedTrace> ReadPhillyTrace(std::string_view text, std::string_view file);

}  // namespace synergy::cli
