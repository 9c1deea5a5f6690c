#pragma once

// Failures of simulated jobs as options: `--with failures=philly,stop-futile`.
//
// The folder also has the built-in tables, philly.csv and acme.csv.
//
// This file is separate because the other options of a simulation need no tables of failures.
//
// Threading: pure, except for the file that it reads.

#include <string_view>

#include "core/result.h"
#include "sim/failures/failing_jobs.h"

namespace synergy::cli {

// Reads "philly", "acme" or a file's name, followed by any of stop-futile, elsewhere and prerun,
// separated by commas. Returns kInvalid or kNotFound, which name the word or the file.
Result<FailureSettings> ReadFailures(std::string_view text);

}  // namespace synergy::cli
