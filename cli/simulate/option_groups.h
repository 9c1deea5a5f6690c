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

// Returns a check that a number is from `least` to `most`; it refuses NaN.
CLI::Validator NumberBetween(double least, double most);

// Makes all options that the command has refuse an empty value, except those of a kubeconfig.
void RejectEmptyValues(CLI::App& command);

}  // namespace synergy::cli
