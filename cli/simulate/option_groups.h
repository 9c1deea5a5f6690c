#pragma once

// The options of simulations, in groups as help shows them.
//
// Threading: one caller at a time.

#include <CLI/CLI.hpp>

#include "cli/simulate/simulate_options.h"

namespace synergy::cli {

// Adds them to `command`; parsing fills `arguments`, which has to stay where it is. --policy is
// there and no help shows it.
void AddSimulateOptions(CLI::App& command, SimulateArguments& arguments);

}  // namespace synergy::cli
