#pragma once

// Makes runs from checked options and reports them, for any simulator: it reads the cluster,
// profiles and workloads, shows the runs' progress, and writes figures and files.
//
// Threading: one caller at a time. Standard output and the requested files receive output; standard
// error receives progress and warnings.

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
  // The most GPUs of a job; absent: all GPUs.
  std::optional<Gpus> most_gpus;
  // Returns the nodes and pods with which runs start.
  std::function<StartingCluster(const PresentCluster* cluster)> start;
  std::function<Result<std::vector<RunResult>>(
      const ModelFacts& facts, const PresentCluster* cluster,
      const std::vector<TraceWorkload>& workloads, const ReportProgress& report)>
      run;
};

// `options` come from `arguments`. If the runs start from a cluster, `options.server` becomes the
// cluster's fair share. `simulator` may refer to both.
Result<> RunAndReport(const SimulateArguments& arguments, SimulateOptions& options,
                      const Simulator& simulator);

// Does the same for a `run` that reads all of its input itself.
Result<> RunAndReport(
    const SimulateArguments& arguments,
    const std::function<Result<std::vector<RunResult>>(const ReportProgress& report)>& run);

}  // namespace synergy::cli
