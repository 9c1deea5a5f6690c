#pragma once

// Re-division divides a server's CPU and memory again among its jobs so that the sum of their
// throughputs, each relative to the throughput at the job's fair share, is largest. Each job keeps
// at least the throughput of its fair share, whatever amounts it gets. docs/internals/simulator.md
// shows the gain.
//
// It is a multiple-choice knapsack with two resources: one choice per job. An exact search over the
// undominated partial divisions solves it; a Lagrangian bound prunes those that cannot win. A
// search that exceeds its limit continues with its most promising part and reports how far the
// answer may fall short of the best.
//
// Threading: pure.

#include <cstddef>
#include <span>
#include <vector>

#include "core/units.h"

namespace synergy {

// One way to serve a job.
struct DivisionChoice {
  MilliCpu cpu;
  Bytes memory;
  double value = 0;

  bool operator==(const DivisionChoice&) const = default;
};

struct Division {
  std::vector<size_t> chosen;  // per job, the index of its choice
  double value = 0;
  double bound = 0;  // no division is worth more; equals `value` if that is the best
};

// Divides `cpu` and `memory` among jobs with these choices. `chosen` is empty if not even the
// smallest choices fit together. `max_partial` limits the search.
Division Divide(std::span<const std::span<const DivisionChoice>> jobs, MilliCpu cpu, Bytes memory,
                size_t max_partial = 20'000);

}  // namespace synergy
