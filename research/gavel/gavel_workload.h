#pragma once

// Generates workloads by the method of Gavel's authors (OSDI'20, section 7.1). Gaps between
// arrivals are exponential. All models that run on a job's number of GPUs are equally likely. On
// the fastest type, the durations are 60 x 10^U(1.5, 3) s for four of five jobs and 60 x 10^U(3, 4)
// s for the rest.
//
// This file is separate because recorded workloads need no generator.
//
// Threading: pure. The same options give the same jobs everywhere.

#include <string>
#include <vector>

#include "core/result.h"
#include "research/gavel/gavel_input.h"
#include "sim/workload.h"

namespace synergy {

// Ignores `split` in the options, which concerns other models. Returns kInvalid if no model runs on
// that many GPUs of the type.
Result<std::vector<GavelTraceJob>> GenerateGavelWorkload(const WorkloadOptions& options,
                                                         const GavelThroughputs& throughputs,
                                                         const std::string& fastest_type);

}  // namespace synergy
