#pragma once

// The jobs of the runs: from traces, or generated.
//
// Threading: values. Failures: kInvalid and kNotFound, which name the file or option; kNotFound if
// a file has no job to simulate.

#include <cstddef>
#include <string>
#include <vector>

#include "cli/simulate/simulate_options.h"
#include "core/result.h"
#include "core/units.h"
#include "sim/model_facts.h"
#include "sim/trace.h"

namespace synergy::cli {

struct TraceWorkload {
  std::string name;
  std::vector<TraceJob> jobs;
  // The number of jobs that no run includes, because they request more GPUs than all servers have.
  size_t left_out = 0;
  // How the file was read, as text; empty for traces with iterations and generated workloads.
  std::string reading = {};
  // The number of jobs whose model is drawn, because the trace names none, or one without a
  // profile.
  size_t drawn_models = 0;
};

// Reads the files of --trace, each in any of the supported forms, takes the history of --since, and
// generates the jobs of --generate. The two tables of Alibaba's PAI trace form one workload.
// `most`: the largest GPU count of a job.
Result<std::vector<TraceWorkload>> LoadWorkloads(const SimulateArguments& arguments,
                                                 const ModelFacts& facts, Gpus most);

// Returns kInvalid, with the option, if servers have less CPU or memory per GPU than a model of the
// jobs was measured with. This includes the servers of the recording. Does not check the servers of
// a cluster.
Result<> CheckServers(const SimulateArguments& arguments, const SimulateOptions& options,
                      const ModelFacts& facts, const TraceWorkload& workload);

// Prints to standard error which TrainingProfiles the file of --profiles has, if it has any.
void PrintManifests(const SimulateArguments& arguments, const ModelFacts& facts);
// Prints notes to standard error if the servers have more CPU or memory per GPU than any model was
// measured with.
void NoteExtrapolation(const SimulateArguments& arguments, const SimulateOptions& options,
                       const ModelFacts& facts);

}  // namespace synergy::cli
