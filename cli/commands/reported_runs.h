#pragma once

// Runs from checked options to their report, for any simulator: reads the cluster, profiles and
// workloads, shows the runs' progress, and writes figures and files.
//
// Threading: one caller at a time. Output goes to standard output and the requested files, progress
// and warnings to standard error.

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "cli/simulate/simulate_options.h"
#include "cli/simulate/simulation.h"
#include "core/result.h"
#include "core/units.h"

namespace synergy::cli {

struct Simulator {
  // The most GPUs of a job; none: all GPUs.
  std::optional<Gpus> most_gpus;
  // Returns the nodes and pods that runs start with.
  std::function<StartingCluster(const PresentCluster* cluster)> start;
  std::function<Result<std::vector<RunResult>>(
      const ModelFacts& facts, const PresentCluster* cluster,
      const std::vector<TraceWorkload>& workloads, const ReportProgress& report)>
      run;
};

// `options` are those of `arguments`; if the runs start from a cluster, their server becomes its
// fair share. `simulator` may refer to them.
Result<> RunAndReport(const SimulateArguments& arguments, SimulateOptions& options,
                      const Simulator& simulator);

// Like the above, if `run` reads all its input itself.
Result<> RunAndReport(
    const SimulateArguments& arguments,
    const std::function<Result<std::vector<RunResult>>(const ReportProgress& report)>& run);

}  // namespace synergy::cli
