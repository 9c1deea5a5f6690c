#include "gavel/policies/fifo.h"

#include <optional>
#include <vector>

#include "gavel/whole_types.h"

namespace synergy {
namespace {

constexpr double kWorthPacking = 1.5;  // the authors' threshold

// The throughputs of the pair, each as part of the job's alone.
double NormalisedSum(const GavelProblem& problem, const GavelPair& pair, size_t type) {
  double sum = 0;
  const auto add = [&](size_t job, double together) {
    const double alone = problem.jobs[job].throughput[type];
    if (together > 0 && alone > 0) sum += together / alone;
  };
  add(pair.first, pair.throughput[type][0]);
  add(pair.second, pair.throughput[type][1]);
  return sum;
}

// Joins `job` to the single job with which it does best.
void Pack(const GavelProblem& problem, size_t job, std::vector<std::optional<size_t>>& alone_on,
          GavelShares& shares) {
  std::optional<size_t> best;
  double most = kWorthPacking;
  for (size_t i = 0; i < problem.pairs.size(); ++i) {
    const GavelPair& pair = problem.pairs[i];
    if (pair.first != job && pair.second != job) continue;
    const std::optional<size_t> type = alone_on[pair.first == job ? pair.second : pair.first];
    if (!type) continue;
    const double sum = NormalisedSum(problem, pair, *type);
    if (sum > most) {
      most = sum;
      best = i;
    }
  }
  if (!best) return;
  const GavelPair& pair = problem.pairs[*best];
  const size_t other = pair.first == job ? pair.second : pair.first;
  const size_t type = *alone_on[other];
  alone_on[other].reset();
  shares.jobs[other][type] = 0;
  shares.pairs[*best][type] = 1;
}

}  // namespace

Result<GavelAnswer> GavelFifo::Allocate(const GavelProblem& problem) {
  const GavelProblem seen =
      Seen(problem, view_ == GavelView::kPacked ? view_ : GavelView::kAware, GavelUniform::kOne);
  GavelAnswer answer{.shares = NoShares(seen)};
  WholeTypes types(seen);
  std::vector<std::optional<size_t>> alone_on(seen.jobs.size());
  size_t next = 0;
  for (; next < seen.jobs.size() && types.HasRoom(next); ++next) {
    const std::optional<size_t> type = types.Best(next, view_ != GavelView::kAgnostic);
    if (!type) continue;
    types.Take(next, *type);
    alone_on[next] = type;
    answer.shares.jobs[next][*type] = 1;
  }
  if (view_ != GavelView::kPacked) return answer;
  for (; next < seen.jobs.size(); ++next) Pack(seen, next, alone_on, answer.shares);
  return answer;
}

}  // namespace synergy
