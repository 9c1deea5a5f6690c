#pragma once

// For policies that give each job one type for all of its time.
//
// Threading: one owner. `problem` outlives it.

#include <cstddef>
#include <optional>
#include <vector>

#include "gavel/problem.h"

namespace synergy {

class WholeTypes {
 public:
  explicit WholeTypes(const GavelProblem& problem) : problem_(problem), free_(problem.gpus) {}

  bool HasRoom(size_t job) const {
    for (const double gpus : free_) {
      if (gpus >= problem_.jobs[job].gpus) return true;
    }
    return false;
  }

  // The type with room for the job on which it is fastest, or, where throughput does not count, the
  // one with the most free GPUs; of equals the first. None: it runs on no type that has room.
  std::optional<size_t> Best(size_t job, bool by_throughput) const {
    std::optional<size_t> best;
    for (size_t type = 0; type < free_.size(); ++type) {
      const GavelJob& each = problem_.jobs[job];
      if (free_[type] < each.gpus || each.throughput[type] <= 0) continue;
      const std::vector<double>& figure = by_throughput ? each.throughput : free_;
      if (!best || figure[type] > figure[*best]) best = type;
    }
    return best;
  }

  void Take(size_t job, size_t type) { free_[type] -= problem_.jobs[job].gpus; }

 private:
  const GavelProblem& problem_;
  std::vector<double> free_;
};

}  // namespace synergy
