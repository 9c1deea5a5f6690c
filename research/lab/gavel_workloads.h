#pragma once

// Loads the jobs and speeds that options of synergy-lab name, in the format of Gavel's authors.
//
// Threading: values. Failures: kInvalid and kNotFound, which name the file or option.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "research/gavel/gavel_input.h"
#include "research/lab/lab_options.h"

namespace synergy::cli {

// Parses each of `parts`, such as "v100=12". A type may occur only once, and its number must be
// above 0.
Result<std::map<std::string, double>> ParseByType(std::string_view option,
                                                  const std::vector<std::string>& parts,
                                                  std::string_view example);

// Returns the published throughputs if `file` is empty.
Result<GavelThroughputs> LoadThroughputs(const std::string& file);

struct GavelWorkload {
  std::string name;
  std::vector<GavelTraceJob> jobs;
};

// Returns the jobs of --trace, and those that --generate generates, whose durations are times on
// `fastest_type`.
Result<std::vector<GavelWorkload>> LoadGavelWorkloads(const LabArguments& arguments,
                                                      const GavelThroughputs& throughputs,
                                                      const std::string& fastest_type);

}  // namespace synergy::cli
