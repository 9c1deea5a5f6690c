#pragma once

// The runs of synergy-lab.
//
// Threading: one owner. Failures: kInvalid and kNotFound, naming file or option.

#include <vector>

#include "cli/commands/reported_runs.h"
#include "cli/simulate/simulation.h"
#include "core/result.h"
#include "research/lab/lab_options.h"

namespace synergy::cli {

// Every workload at every load, under every policy and mechanism: in rounds, or by events where the
// mechanism is the product.
Result<std::vector<RunResult>> RunAllInRounds(const LabArguments& arguments,
                                              const LabOptions& options, const ModelFacts& facts,
                                              const PresentCluster* cluster,
                                              const std::vector<TraceWorkload>& workloads,
                                              const TellProgress& tell);

// The same, by the simulator of Synergy's authors.
Result<std::vector<RunResult>> RunAllReference(const LabArguments& arguments,
                                               const LabOptions& options, const ModelFacts& facts,
                                               const std::vector<TraceWorkload>& workloads);

// Both, for RunAndReport(). They refer to the arguments and options.
Simulator OurRounds(const LabArguments& arguments, const LabOptions& options);
Simulator ReferenceRuns(const LabArguments& arguments, const LabOptions& options);

// By the simulator of Tiresias' authors: every trace under every schedule.
Result<std::vector<RunResult>> RunAllTiresias(const LabArguments& arguments);

// By that of Gavel's authors: every workload under every policy.
Result<std::vector<RunResult>> RunAllGavel(const LabArguments& arguments, const TellProgress& tell);

// Jobs with more or fewer workers: every workload under every policy.
Result<std::vector<RunResult>> RunAllElastic(const LabArguments& arguments,
                                             const TellProgress& tell);

}  // namespace synergy::cli
