#pragma once

// The options of simulations, in groups as help shows them.
//
// Threading: one caller at a time.

#include <CLI/CLI.hpp>

#include "cli/simulate/simulate_options.h"

namespace synergy::cli {

// Adds the options to `command`; parsing fills `arguments`. REQUIRES: `arguments` keeps its
// address. The option --policy is hidden from help.
void AddSimulateOptions(CLI::App& command, SimulateArguments& arguments);

}  // namespace synergy::cli
