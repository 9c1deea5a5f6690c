#pragma once

// A simulated run as the page shows it: the map at its beginning, and every change of it.
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
    std::string patch;  // as MapRecorder::TakePatch
  };
  std::string state;            // as MapRecorder::State, before the first job has come
  std::vector<Change> changes;  // in the order of time, one for each moment
};

// "job-7"
std::string JobName(const JobTimes& job);

// `run` began with `start` and kept its changes. Jobs that wait are shown as one pod each, named
// after the job, with the GPUs that it has not got.
SimulatedMap MapOfRun(const StartingCluster& start, const RunResult& run);

}  // namespace synergy::cli
