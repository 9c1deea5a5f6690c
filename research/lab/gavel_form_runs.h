#pragma once

// Runs jobs in the format of Gavel's authors: every workload under every policy.
//
// Threading: one owner. Failures: kInvalid and kNotFound, which name the file or option.

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
  std::string_view mechanism;  // name of the mechanism in the figures
  std::string fastest_type;    // type for which durations are generated
  // Simulates the workload under RunResult::policy; fills jobs and figures.
  std::function<Result<>(const GavelWorkload& workload,
                         const std::function<void(size_t)>& on_finished, RunResult& result)>
      simulate;
};

// Reads the workloads and runs them; writes the file of --save.
Result<std::vector<RunResult>> RunEach(const LabArguments& arguments,
                                       const GavelThroughputs& throughputs,
                                       const GavelFormSimulator& simulator,
                                       const ReportProgress& report);

}  // namespace synergy::cli
