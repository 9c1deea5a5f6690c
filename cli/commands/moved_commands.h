#pragma once

// Former spellings of commands and options that have moved to synergy-lab: parsing one fails, and
// the error contains the new spelling.
//
// Threading: one caller at a time.
//
// This file is separate because it will be removed together with the old spellings.

#include <CLI/CLI.hpp>

namespace synergy::cli {

// Adds `synergy gavel`, hidden from help.
void AddMovedCommands(CLI::App& app);

// Adds hidden options to `synergy simulate`. REQUIRES: this is called before its own options are
// added, because their errors are less specific.
void AddMovedOptions(CLI::App& simulate);

}  // namespace synergy::cli
