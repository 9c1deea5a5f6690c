#pragma once

// What became of the jobs of several pods in a simulated run: how far they were spread, and what
// they waited for (docs/simulator.md#figures-gangs).
//
// Threading: pure.

#include <cstddef>
#include <span>
#include <string>

#include "cli/simulate/simulation.h"
#include "core/clock.h"

namespace synergy::cli {

struct GangFigures {
  size_t gangs = 0;  // that have ended
  // Parts of them: on more than one node, and of these in more than one rack (or nobody knows).
  double over_nodes = 0;
  double over_racks = 0;
  Seconds mean_completion{};
  Seconds mean_wait{};  // whatever for
  Seconds mean_locality_wait{};
};

GangFigures FiguresOfGangs(const RunResult& run);

// As a table; nothing where no run has gangs.
std::string ToGangTable(std::span<const RunResult> runs);

}  // namespace synergy::cli
