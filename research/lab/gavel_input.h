#pragma once

// Reads the input of `synergy-lab gavel solve`, JSON that docs/internals/gavel.md describes.
//
// Threading: pure.

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "gavel/problem.h"

namespace synergy::cli {

inline constexpr size_t kMostGavelBytes = size_t{64} * 1024 * 1024;
inline constexpr size_t kMostGavelJobs = 16384;
inline constexpr size_t kMostGavelTypes = 64;

struct GavelInput {
  std::vector<GavelProblem> problems;  // in the order of the calls
  bool calls = false;                  // the input is a list, even if it has only one problem
};

// Returns kInvalid, which names the first wrong field with its path. Jobs and types are sorted by
// name; names that are numbers come first, by value.
Result<GavelInput> ReadGavelInput(std::string_view json);

}  // namespace synergy::cli
