#pragma once

// How jobs fail in a simulation: a table of assumptions, which users may replace
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
  double jobs = 0;  // fraction of all jobs that encounter it
  // The running time of an attempt until it fails: log-normal, with this median and mean.
  Seconds median{};
  Seconds mean{};
  // The probability that a retry fails again: on other nodes, and on a node of the failed attempt.
  // With 1, it always fails.
  double again = 1;
  double again_same_node = 1;
  uint32_t tries = 1;  // the attempts that the job's owner allows
  // How often checkpoints are made, from which a retry continues. Zero: a retry starts over.
  Seconds checkpoint{};
};

// Parses CSV with the columns category, jobs, median_minutes, mean_minutes, again, again_same_node,
// tries, checkpoint_minutes; ignores other columns, such as one that gives the source of a line.
// `file_name` names the text in errors.
Result<std::vector<FailureAssumption>> ParseFailureAssumptions(std::string_view text,
                                                               std::string_view file_name);

}  // namespace synergy
