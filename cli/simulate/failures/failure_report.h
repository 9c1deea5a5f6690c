#pragma once

// Figures about failures in simulated runs (docs/internals/simulated-failures.md).
//
// This file is separate because only runs with failures have these figures.
//
// Threading: pure.

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/simulate/simulation.h"

namespace synergy::cli {

// Returns a run's figures by their names in JSON and CSV; zeros if its jobs do not fail.
std::vector<std::pair<const char*, std::string>> FailureColumns(const RunResult& run);

// Returns a table; empty if no run has failures.
std::string ToFailureTable(std::span<const RunResult> runs);

}  // namespace synergy::cli
