#pragma once

// The page to look at: one file of HTML with its style, script and data in it, which needs nothing
// from the network. Its sources are in cli/page/web; docs/page.md says what it shows.
//
// Threading: pure.

#include <span>
#include <string>

#include "cli/simulate/simulation.h"
#include "sim/cluster/product_simulator.h"

namespace synergy::cli {

// With the cluster as it is now, which it asks its server for (cli/page/ui_server.h).
std::string ClusterPage();

// Of runs that began with `start` and kept their changes.
std::string SimulationPage(const StartingCluster& start, std::span<const RunResult> runs);

}  // namespace synergy::cli
