#pragma once

// Runs from checked options to their report, whatever simulates: the cluster, profiles and
// workloads are read, runs show how far they are, figures and files are written.
//
// Threading: one caller at a time. Output goes to standard output and the files that were asked
// for, progress and warnings to standard error.

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
  // The GPUs that a job may have; none: all that there are.
  std::optional<Gpus> most_gpus;
  // The nodes and pods that runs start with.
  std::function<StartingCluster(const PresentCluster* cluster)> start;
  std::function<Result<std::vector<RunResult>>(
      const ModelFacts& facts, const PresentCluster* cluster,
      const std::vector<TraceWorkload>& workloads, const TellProgress& tell)>
      run;
};

// `options` are those of `arguments`; their server becomes the fair share of a cluster that the
// runs start from, and `simulator` may refer to them.
Result<> RunAndReport(const SimulateArguments& arguments, SimulateOptions& options,
                      const Simulator& simulator);

// The same where `run` reads all that it needs by itself.
Result<> RunAndReport(
    const SimulateArguments& arguments,
    const std::function<Result<std::vector<RunResult>>(const TellProgress& tell)>& run);

}  // namespace synergy::cli
