#pragma once

// Spellings of research, which synergy-lab has: parsing one ends with the new spelling as an error.
//
// Threading: one caller at a time.
//
// Apart because it goes away with the old spellings.

#include <CLI/CLI.hpp>

namespace synergy::cli {

// `synergy gavel`; no help shows it.
void AddMovedCommands(CLI::App& app);

// Options of `synergy simulate`; no help shows them. They go before its own, whose errors say less.
void AddMovedOptions(CLI::App& simulate);

}  // namespace synergy::cli
