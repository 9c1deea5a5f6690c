#pragma once

// How jobs fail in a simulation: a table of assumptions that users may replace
// (docs/internals/simulated-failures.md).
//
// Threading: pure. Failures: kInvalid with file, line, column and the cure.

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "failure/category.h"

namespace synergy {

// A kind of failure; a category may have several.
struct FailureAssumption {
  Category category = Category::kUnknown;
  double jobs = 0;  // the part of all jobs that meet it
  // The running time of an attempt until it fails: log-normal, with this median and mean.
  Seconds median{};
  Seconds mean{};
  // The probability that a retry fails again, elsewhere and on a node of the failed attempt. 1: it
  // always does.
  double again = 1;
  double again_same_node = 1;
  uint32_t tries = 1;  // the attempts that the job's owner allows
  // A retry continues from a checkpoint; checkpoints are made this often. Zero: it starts over.
  Seconds checkpoint{};
};

// Parses CSV with the columns category, jobs, median_minutes, mean_minutes, again, again_same_node,
// tries, checkpoint_minutes; other columns are ignored, such as one that says where a line comes
// from. `file_name` names the text in errors.
Result<std::vector<FailureAssumption>> ParseFailureAssumptions(std::string_view text,
                                                               std::string_view file_name);

}  // namespace synergy
