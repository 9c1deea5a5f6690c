#pragma once

// Re-division: a server's CPU and memory are divided again among the jobs that are on it, so that
// their throughput, each in units of its fair share's, adds up to the most; nobody falls below its
// fair share's throughput, whatever it holds. docs/simulator.md shows what it is worth.
//
// A multiple-choice knapsack with two resources: one choice per job. Solved exactly by a search
// over the undominated partial divisions, with the Lagrangian bound cutting off what cannot win. A
// search that grows past its limit goes on with its most promising part and says by how much the
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
  double bound = 0;  // no division is worth more; equal to `value` when it is the best
};

// Divides `cpu` and `memory` among jobs with these choices. No choice at all (`chosen` empty) when
// not even the most modest ones fit together. `max_partial` limits the search.
Division Divide(std::span<const std::span<const DivisionChoice>> jobs, MilliCpu cpu, Bytes memory,
                size_t max_partial = 20'000);

}  // namespace synergy
