#pragma once

// The jobs of the runs: from traces, or generated.
//
// Threading: values. Failures: kInvalid and kNotFound, naming file or option; kNotFound if a file
// has no job to simulate.

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
  // Jobs of the file that no run includes: they never ran, or ask for more GPUs than all servers
  // have.
  size_t left_out = 0;
  // How the file was read, in words; empty for traces with iterations and generated workloads.
  std::string reading = {};
  // Jobs whose model is drawn, because the trace does not name it, or names one without a profile.
  size_t drawn_models = 0;
};

// Reads --trace, whatever form each file has, takes the history of --since, and generates the jobs
// of --generate. The two tables of Alibaba's PAI trace make one workload. `most`: the largest GPU
// count of a job.
Result<std::vector<TraceWorkload>> LoadWorkloads(const SimulateArguments& arguments,
                                                 const ModelFacts& facts, Gpus most);

}  // namespace synergy::cli
