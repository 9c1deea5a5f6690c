#pragma once

// The options of `synergy simulate` that synergy-lab lacks: the product's queues, and the features
// that --with adds to the simulation.
//
// Threading: one caller at a time.

#include <CLI/CLI.hpp>

#include "cli/simulate/simulate_options.h"
#include "core/result.h"

namespace synergy::cli {

// Adds them to `command`, which has the options of AddSimulateOptions(); parsing fills `arguments`,
// which must stay at its address.
void AddProductOptions(CLI::App& command, SimulateArguments& arguments);

// Sets `options` accordingly; returns kInvalid, which names the option, for invalid arguments.
Result<> CheckProductArguments(const SimulateArguments& arguments, SimulateOptions& options);

}  // namespace synergy::cli
