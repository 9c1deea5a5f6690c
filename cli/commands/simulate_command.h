#pragma once

// `synergy simulate`: its options and its execution.
//
// Threading: one caller at a time. Output goes to standard output and the requested files, progress
// and warnings to standard error.

#include <CLI/CLI.hpp>

#include "cli/simulate/simulate_options.h"
#include "core/result.h"

namespace synergy::cli {

// Adds the command to `app`; parsing fills `arguments`. REQUIRES: `arguments` keeps its address.
CLI::App* AddSimulate(CLI::App& app, SimulateArguments& arguments);

// kInvalid names the option.
Result<> RunSimulate(const SimulateArguments& arguments);

}  // namespace synergy::cli
