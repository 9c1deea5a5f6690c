#include "gavel/policies/job_order.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace synergy {
namespace {

// Tracks the free GPUs of each type. REQUIRES: `problem` outlives this object.
class WholeTypes {
 public:
  explicit WholeTypes(const GavelProblem& problem) : problem_(problem), free_(problem.gpus) {}

  bool HasRoom(size_t job) const {
    for (const double gpus : free_) {
      if (gpus >= problem_.jobs[job].gpus) return true;
    }
    return false;
  }

  // Returns the type with room for the job on which the job is fastest or, if throughput does not
  // count, the type with the most free GPUs; the first on a tie. Returns nullopt if the job runs on
  // no type with room.
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

constexpr double kWorthPacking = 1.5;  // the authors' threshold

// Returns the sum of the pair's throughputs, each relative to the job's own when alone.
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

// Joins `job` to the single job with which it gains most.
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

namespace {

using MadeOrder = std::unique_ptr<GavelPolicy>;

template <class Order, GavelView kView>
MadeOrder MakeOrder() {
  return std::make_unique<Order>(kView);
}

constexpr std::array<std::pair<std::string_view, MadeOrder (*)()>, 5> kOrders = {
    {{"fifo", MakeOrder<GavelFifo, GavelView::kAgnostic>},
     {"fifo_perf", MakeOrder<GavelFifo, GavelView::kAware>},
     {"fifo_packed", MakeOrder<GavelFifo, GavelView::kPacked>},
     {"shortest_job_first", MakeOrder<ShortestFirst, GavelView::kAgnostic>},
     {"shortest_job_first_perf", MakeOrder<ShortestFirst, GavelView::kAware>}}};

}  // namespace

std::vector<std::string_view> JobOrderNames() {
  std::vector<std::string_view> names;
  for (const auto& [name, make] : kOrders) names.push_back(name);
  return names;
}

Result<std::unique_ptr<GavelPolicy>> MakeJobOrder(std::string_view name) {
  for (const auto& [known, make] : kOrders) {
    if (known == name) return make();
  }
  return Fail(ErrorCode::kInvalid,
              fmt::format("policy '{}' needs a solver, which this program does not have", name));
}

}  // namespace synergy
