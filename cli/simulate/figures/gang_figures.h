#pragma once

// Figures about jobs with several pods (gangs) in a simulated run: how far they were spread, and
// what they waited for (docs/evidence/simulations.md#figures-gangs).
//
// Threading: pure.

#include <cstddef>
#include <span>
#include <string>

#include "cli/simulate/simulation.h"
#include "core/clock.h"

namespace synergy::cli {

struct GangFigures {
  size_t gangs = 0;  // gangs that have ended
  // The fractions of these gangs that ran on more than one node, and in more than one rack (or in
  // unknown racks).
  double over_nodes = 0;
  double over_racks = 0;
  Seconds mean_completion{};
  Seconds mean_wait{};  // for any reason
  Seconds mean_locality_wait{};
};

GangFigures FiguresOfGangs(const RunResult& run);

// Returns a table; empty if no run has gangs.
std::string ToGangTable(std::span<const RunResult> runs);

}  // namespace synergy::cli
