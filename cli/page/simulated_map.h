#pragma once

// Converts a simulated run for the page: the map at its beginning, and every change.
//
// Threading: pure.

#include <string>
#include <vector>

#include "cli/simulate/simulation.h"
#include "core/clock.h"
#include "sim/cluster/product_simulator.h"

namespace synergy::cli {

struct SimulatedMap {
  struct Change {
    Seconds at{};
    std::string patch;  // see MapRecorder::TakePatch()
  };
  std::string state;            // see MapRecorder::State(); before the first job arrives
  std::vector<Change> changes;  // by time, at most one per time
};

// Returns the job's name, such as "job-7".
std::string JobName(const JobTimes& job);

// REQUIRES: `run` began with `start` and recorded its changes. A waiting job is shown as one pod,
// named after the job, with the GPUs that the job lacks.
SimulatedMap MapOfRun(const StartingCluster& start, const RunResult& run);

}  // namespace synergy::cli
