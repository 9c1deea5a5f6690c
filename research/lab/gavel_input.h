#pragma once

// What `synergy gavel solve` reads: the JSON that docs/gavel.md describes.
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
  bool calls = false;                  // there is a list of them, be it of one
};

// kInvalid names the first field that is wrong, with its path. Jobs are in the order of their
// names, numbers as numbers; types in the order of theirs.
Result<GavelInput> ReadGavelInput(std::string_view json);

}  // namespace synergy::cli
