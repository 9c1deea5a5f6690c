#pragma once

// Builds the page: one HTML file that contains its style, script and data, and loads nothing from
// the network. Its sources are in cli/page/web; docs/internals/page.md describes it.
//
// Threading: pure.

#include <span>
#include <string>

#include "cli/simulate/simulation.h"
#include "sim/cluster/product_simulator.h"

namespace synergy::cli {

// Returns the page that shows the live cluster, which it requests from its server
// (cli/page/ui_server.h).
std::string ClusterPage();

// Returns the page with runs that began with `start` and recorded their changes.
std::string SimulationPage(const StartingCluster& start, std::span<const RunResult> runs);

}  // namespace synergy::cli
