#pragma once

// Failures of simulated jobs as options: `--with failures=philly,stop-futile`.
//
// The folder also has the built-in tables, philly.csv and acme.csv.
//
// Threading: pure but for the file that it reads.

#include <string_view>

#include "core/result.h"
#include "sim/failures/failing_jobs.h"

namespace synergy::cli {

// Reads "philly", "acme" or a file's name, then any of stop-futile, elsewhere and prerun, separated
// by commas. kInvalid and kNotFound name the word or the file.
Result<FailureSettings> ReadFailures(std::string_view text);

}  // namespace synergy::cli
