#pragma once

// Runs on jobs of the form that Gavel's authors have: every workload under every policy.
//
// Threading: one owner. Failures: kInvalid and kNotFound, naming file or option.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/simulate/simulation.h"
#include "core/result.h"
#include "research/gavel/gavel_input.h"
#include "research/lab/gavel_workloads.h"

namespace synergy::cli {

struct GavelFormSimulator {
  std::string_view mechanism;  // as figures name it
  std::string fastest_type;    // by which jobs are made
  // The workload under RunResult::policy: sets jobs and figures.
  std::function<Result<>(const GavelWorkload& workload,
                         const std::function<void(size_t)>& tell_finished, RunResult& result)>
      simulate;
};

// Reads the workloads, and saves the one of --save.
Result<std::vector<RunResult>> RunEach(const LabArguments& arguments,
                                       const GavelThroughputs& throughputs,
                                       const GavelFormSimulator& simulator,
                                       const TellProgress& tell);

}  // namespace synergy::cli
