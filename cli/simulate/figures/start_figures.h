#pragma once

// Figures about GPU reservations: how many jobs had one, and how accurate the first predicted start
// was (docs/internals/reservations.md).
//
// Threading: pure.

#include <cstddef>
#include <span>
#include <string>

#include "cli/simulate/simulation.h"

namespace synergy::cli {

// The error of a job is |predicted - true| / true, for the wait from its first prediction on. Jobs
// that started within a minute of the prediction do not count.
struct StartFigures {
  size_t predicted = 0;
  double p50 = 0;
  double p90 = 0;
};

StartFigures FiguresOfStarts(const RunResult& run);

// Returns a table; empty if no run has reservations.
std::string ToStartTable(std::span<const RunResult> runs);

}  // namespace synergy::cli
