#pragma once

// Former spellings of commands and options that have moved to synergy-lab: parsing one fails with
// the new spelling in the error.
//
// Threading: one caller at a time.
//
// Apart because it goes away with the old spellings.

#include <CLI/CLI.hpp>

namespace synergy::cli {

// Adds `synergy gavel`, hidden from help.
void AddMovedCommands(CLI::App& app);

// Adds hidden options to `synergy simulate`. REQUIRES: called before its own options are added,
// whose errors say less.
void AddMovedOptions(CLI::App& simulate);

}  // namespace synergy::cli
