#pragma once

// The measured facts of models, from a JSON (or YAML) file of this form:
//
//   {"_doc": {"rows_cpu_per_gpu": [1, 2, ...], "cols_mem_gb_per_gpu": [20.83, 62.5, ...]},
//    "3": {"alexnet": {"1": {"demand_cpu": 12, "demand_mem_gb": 125, "iter_time_s": 0.6,
//                            "speedup": 2.94, "tput": [[...], ...]}}}}
//
// The keys are the servers' CPUs per GPU, the model, and the job's GPU count. "tput" has a row for
// each CPU amount. If all rows are shorter than cols_mem_gb_per_gpu, the smallest memory amounts
// are missing. Other fields are ignored.
//
// Facts apply to servers of any shape: the throughput is interpolated between two measured amounts
// of CPU, and above the largest it stays the same. Below the smallest amount nothing is known.
//
// Threading: pure, except for reading the file. Failures: kInvalid with file, line, column, field
// and the cure; kNotFound if the file does not exist.

#include <string>

#include "core/resources.h"
#include "core/result.h"
#include "sim/model_facts.h"

namespace synergy::cli {

// Reads TrainingProfiles (profiles/profile_manifests.h), or the form above. In that form, it takes
// the facts for the server's CPUs per GPU, else for the next lower number, else for the lowest. In
// the last two cases it derives iteration time, demand and speed-up from the matrix, for jobs of
// one GPU only. Returns kInvalid if the server has fewer CPUs per GPU than the smallest measured
// amount.
Result<ModelFacts> LoadModelFacts(const std::string& file, const ResourceVector& server);
// `name` is the file's name in errors.
Result<ModelFacts> ParseModelFacts(const std::string& text, const std::string& name,
                                   const ResourceVector& server);
// Returns the facts of the Synergy paper's models (paper_profiles.h).
Result<ModelFacts> PaperModelFacts(const ResourceVector& server);

}  // namespace synergy::cli
