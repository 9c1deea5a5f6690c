#pragma once

// Reads Philly's public trace (github.com/msr-fiddle/philly-traces, cluster_job_log): a JSON array
// of
//
//   {"jobid": "application_...", "submitted_time": "2017-10-09 07:00:46", "status": "Pass",
//    "attempts": [{"start_time": "...", "end_time": "...", "detail": [{"ip": "m1", "gpus":
//    ["gpu0"]}]}]}
//
// Threading: pure.

#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "core/units.h"

namespace synergy::cli {

struct PhillyJob {
  Seconds submitted{};  // since the first job of the trace
  Gpus gpus;            // of its last attempt
  Seconds duration{};   // total of all attempts
};

// Jobs in the order of submission. Jobs that never ran, or whose times are missing or inconsistent,
// are omitted and counted. Parsing returns kInvalid, with the position, if the text is not such an
// array.
struct PhillyTrace {
  std::vector<PhillyJob> jobs;
  size_t left_out = 0;
};
Result<PhillyTrace> ParsePhillyTrace(std::string_view text);

}  // namespace synergy::cli
