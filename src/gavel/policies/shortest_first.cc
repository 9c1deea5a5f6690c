#include "gavel/policies/shortest_first.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "gavel/whole_types.h"

namespace synergy {

Result<GavelAnswer> ShortestFirst::Allocate(const GavelProblem& problem) {
  const GavelProblem seen = Seen(problem, view_, GavelUniform::kReference);
  if (const Result<> runs = CheckThroughputs(seen); !runs) return Fail(runs.error());
  if (const Result<> known = CheckStepsLeft(seen); !known) return Fail(known.error());
  std::vector<double> times;
  for (const GavelJob& job : seen.jobs) times.push_back(*job.steps_left / BestThroughput(job));
  std::vector<size_t> order(times.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return times[a] < times[b]; });
  GavelAnswer answer{.shares = NoShares(seen)};
  WholeTypes types(seen);
  for (const size_t job : order) {
    const std::optional<size_t> type = types.Best(job, view_ != GavelView::kAgnostic);
    if (!type) continue;
    types.Take(job, *type);
    answer.shares.jobs[job][*type] = 1;
    if (!answer.objective) {
      answer.objective = *seen.jobs[job].steps_left / seen.jobs[job].throughput[*type];
    }
  }
  return answer;
}

}  // namespace synergy
