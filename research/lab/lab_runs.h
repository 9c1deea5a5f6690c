#pragma once

// Runs the simulators of synergy-lab.
//
// Threading: one owner. Failures: kInvalid and kNotFound, which name the file or option.

#include <vector>

#include "cli/commands/reported_runs.h"
#include "cli/simulate/simulation.h"
#include "core/result.h"
#include "research/lab/lab_options.h"

namespace synergy::cli {

// Runs every workload at every load, under every policy and mechanism: in rounds, or by events if
// the mechanism is the product's.
Result<std::vector<RunResult>> RunAllInRounds(const LabArguments& arguments,
                                              const LabOptions& options, const ModelFacts& facts,
                                              const PresentCluster* cluster,
                                              const std::vector<TraceWorkload>& workloads,
                                              const ReportProgress& report);

// Runs the same with the simulator of Synergy's authors.
Result<std::vector<RunResult>> RunAllReference(const LabArguments& arguments,
                                               const LabOptions& options, const ModelFacts& facts,
                                               const std::vector<TraceWorkload>& workloads);

// Return the simulators for RunAndReport(). They refer to the arguments and options.
Simulator OurRounds(const LabArguments& arguments, const LabOptions& options);
Simulator ReferenceRuns(const LabArguments& arguments, const LabOptions& options);

// Runs the simulator of Tiresias' authors: every trace under every schedule.
Result<std::vector<RunResult>> RunAllTiresias(const LabArguments& arguments);

// Runs the simulator of Gavel's authors: every workload under every policy.
Result<std::vector<RunResult>> RunAllGavel(const LabArguments& arguments,
                                           const ReportProgress& report);

// Runs jobs with varying numbers of workers: every workload under every policy.
Result<std::vector<RunResult>> RunAllElastic(const LabArguments& arguments,
                                             const ReportProgress& report);

}  // namespace synergy::cli
