#include "gavel/policies/isolated.h"

#include <algorithm>
#include <numeric>

namespace synergy {

GavelShares IsolatedShares(const GavelProblem& problem) {
  GavelShares shares = NoShares(problem);
  const auto jobs = static_cast<double>(problem.jobs.size());
  for (size_t job = 0; job < problem.jobs.size(); ++job) {
    std::vector<double>& row = shares.jobs[job];
    for (size_t type = 0; type < row.size(); ++type) {
      row[type] = problem.gpus[type] / jobs / problem.jobs[job].gpus;
    }
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    for (double& share : row) share /= std::max(sum, 1.0);
  }
  return shares;
}

Result<GavelAnswer> Isolated::Allocate(const GavelProblem& problem) {
  const GavelProblem seen = Seen(problem, GavelView::kAware, GavelUniform::kOne);
  return GavelAnswer{.shares = IsolatedShares(seen)};
}

}  // namespace synergy
