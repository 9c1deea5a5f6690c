#pragma once

// Workloads as Gavel's authors make them (OSDI'20, section 7.1): exponential gaps between arrivals;
// models drawn evenly from those that run on as many GPUs; durations on the fastest type of
// 60 x 10^U(1.5, 3) s for four of five jobs and 60 x 10^U(3, 4) s for the rest.
//
// Threading: pure. The same options give the same jobs everywhere.

#include <string>
#include <vector>

#include "core/result.h"
#include "research/gavel/gavel_input.h"
#include "sim/workload.h"

namespace synergy {

// `split` of the options does not count: it is about other models. kInvalid where no model runs on
// so many GPUs of the type.
Result<std::vector<GavelTraceJob>> GenerateGavelWorkload(const WorkloadOptions& options,
                                                         const GavelThroughputs& throughputs,
                                                         const std::string& fastest_type);

}  // namespace synergy
