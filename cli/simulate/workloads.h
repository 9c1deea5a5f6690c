#pragma once

// The jobs that runs are about: of traces, or made.
//
// Threading: values. Failures: kInvalid and kNotFound, naming file or option.

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
  // Jobs of the file that are in no run: they never ran, or ask for more GPUs than all servers
  // have.
  size_t left_out = 0;
};

// Reads --trace, makes what --generate asks for. `most`: the GPUs that a job may have.
Result<std::vector<TraceWorkload>> LoadWorkloads(const SimulateArguments& arguments,
                                                 const ModelFacts& facts, Gpus most);

}  // namespace synergy::cli
