#pragma once

// The measured facts of models, from a JSON (or YAML) file of this form:
//
//   {"_doc": {"rows_cpu_per_gpu": [1, 2, ...], "cols_mem_gb_per_gpu": [20.83, 62.5, ...]},
//    "3": {"alexnet": {"1": {"demand_cpu": 12, "demand_mem_gb": 125, "iter_time_s": 0.6,
//                            "speedup": 2.94, "tput": [[...], ...]}}}}
//
// The keys are the servers' CPUs per GPU, the model, and the job's GPU count. "tput" has a row for
// each CPU amount; a shorter row lacks the smallest memory amounts. Other fields are ignored.
//
// Threading: pure but for reading the file.
// Failures: kInvalid with file, line, column, field and what to write; kNotFound if the file does
// not exist.

#include <string>

#include "core/resources.h"
#include "core/result.h"
#include "sim/model_facts.h"

namespace synergy::cli {

// Returns the facts for servers with as many CPUs per GPU as this one.
Result<ModelFacts> LoadModelFacts(const std::string& file, const ResourceVector& server);
// `name` stands for the file in errors.
Result<ModelFacts> ParseModelFacts(const std::string& text, const std::string& name,
                                   const ResourceVector& server);

}  // namespace synergy::cli
