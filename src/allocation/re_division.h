#pragma once

// Divides a server's CPU and memory again among its jobs (re-division). Maximises the sum of the
// jobs' throughputs, each relative to the throughput at the job's fair share. The caller's choices
// determine the least throughput that each job keeps. docs/internals/simulator.md shows the gain.
//
// The problem is a multiple-choice knapsack with two resources and one choice per job. An exact
// search over the undominated partial divisions solves it. A Lagrangian bound prunes partial
// divisions that cannot win. A search that exceeds its limit continues with the most promising
// partial divisions. The result contains an upper bound on the best value.
//
// Threading: pure.

#include <cstddef>
#include <span>
#include <vector>

#include "core/units.h"

namespace synergy {

// One possible allocation for a job.
struct DivisionChoice {
  MilliCpu cpu;
  Bytes memory;
  double value = 0;

  bool operator==(const DivisionChoice&) const = default;
};

struct Division {
  std::vector<size_t> chosen;  // per job, the index of its choice
  double value = 0;
  double bound = 0;  // no division is worth more; equals `value` if this one is the best
};

// Divides `cpu` and `memory` among jobs with these choices. `chosen` is empty if not even the
// smallest choices fit together. `max_partial`: the largest number of partial divisions to keep per
// job.
Division Divide(std::span<const std::span<const DivisionChoice>> jobs, MilliCpu cpu, Bytes memory,
                size_t max_partial = 20'000);

}  // namespace synergy
