#pragma once

// The options of simulations, grouped as in the help.
//
// Threading: one caller at a time.

#include <CLI/CLI.hpp>

#include "cli/simulate/simulate_options.h"

namespace synergy::cli {

// Adds the options to `command`; parsing fills `arguments`. REQUIRES: `arguments` stays at its
// address. Hides the option --policy from the help.
void AddSimulateOptions(CLI::App& command, SimulateArguments& arguments);

}  // namespace synergy::cli
