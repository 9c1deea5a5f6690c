#pragma once

// `synergy simulate`: its options and its execution.
//
// Threading: one caller at a time. Standard output and the requested files receive output; standard
// error receives progress and warnings.

#include <CLI/CLI.hpp>

#include "cli/simulate/simulate_options.h"
#include "core/result.h"

namespace synergy::cli {

// Adds the command to `app`; parsing fills `arguments`. REQUIRES: `arguments` stays at its address.
CLI::App* AddSimulate(CLI::App& app, SimulateArguments& arguments);

// Returns kInvalid, which names the option, for invalid arguments.
Result<> RunSimulate(const SimulateArguments& arguments);

}  // namespace synergy::cli
