#include "gavel/round_mechanism.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace synergy {

RoundMechanism::RoundMechanism(std::vector<double> gpus, GavelRoundOptions options)
    : gpus_(std::move(gpus)), options_(options), given_(gpus_.size(), 0) {}

void RoundMechanism::Add(const std::string& name, double gpus, std::vector<double> throughput) {
  positions_.emplace(name, jobs_.size());
  jobs_.push_back({.name = name,
                   .gpus = gpus,
                   .throughput = std::move(throughput),
                   .shares = std::nullopt,
                   .received = std::vector<double>(gpus_.size(), 0),
                   .deficit = std::vector<double>(gpus_.size(), 0)});
  changed_ = true;
}

void RoundMechanism::Remove(const std::string& name) {
  const auto gone = positions_.find(name);
  if (gone == positions_.end()) return;
  const size_t position = gone->second;
  jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(position));
  positions_.erase(gone);
  for (size_t i = position; i < jobs_.size(); ++i) positions_[jobs_[i].name] = i;
  changed_ = true;
}

bool RoundMechanism::SolveIsDue(double now) const {
  if (!changed_ || jobs_.empty()) return false;
  if (!last_solve_ || *last_solve_ == 0) return true;
  const bool knows_nobody = std::none_of(
      jobs_.begin(), jobs_.end(), [](const Standing& job) { return job.shares.has_value(); });
  return knows_nobody || now - *last_solve_ >= options_.between_solves;
}

void RoundMechanism::Solved(double now, const std::vector<Shares>& allocation) {
  const double passed = last_solve_ ? now - *last_solve_ : 0;
  for (Standing& job : jobs_) {
    for (size_t type = 0; job.shares && type < gpus_.size(); ++type) {
      job.deficit[type] += (*job.shares)[type] * passed - job.received[type];
    }
    std::fill(job.received.begin(), job.received.end(), 0.0);
    job.shares.reset();
  }
  for (const Shares& each : allocation) {
    if (positions_.count(each.job) > 0) At(each.job).shares = each.shares;
  }
  const double start = options_.round / 2 * static_cast<double>(jobs_.size());
  std::fill(given_.begin(), given_.end(), start);
  last_solve_ = now;
  changed_ = false;
}

void RoundMechanism::Book(const std::string& name, size_t type, double seconds) {
  given_[type] += seconds;
  if (positions_.count(name) > 0) At(name).received[type] += seconds;
}

double RoundMechanism::Priority(const Standing& job, size_t type) const {
  if (!job.shares || (*job.shares)[type] <= 0 || job.throughput[type] <= 0) return 0;
  return (*job.shares)[type] * given_[type] / (options_.round / 2 + job.received[type]);
}

double RoundMechanism::Priority(const std::string& name, size_t type) const {
  return Priority(At(name), type);
}

double RoundMechanism::Deficit(const std::string& name, size_t type) const {
  return At(name).deficit[type];
}

std::vector<size_t> RoundMechanism::Order(size_t type) const {
  using Rank = std::tuple<double, double, double>;
  std::vector<Rank> ranks;
  for (const Standing& job : jobs_) {
    ranks.emplace_back(Priority(job, type), job.deficit[type],
                       job.shares ? (*job.shares)[type] : 0);
  }
  std::vector<size_t> order(jobs_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return ranks[a] > ranks[b]; });
  return order;
}

void RoundMechanism::FillIdle(std::vector<double>& free, std::vector<bool>& placed,
                              std::vector<GavelPick>& picks) const {
  for (size_t i = 0; i < jobs_.size(); ++i) {
    const Standing& job = jobs_[i];
    if (placed[i] || job.shares) continue;
    std::optional<size_t> best;
    for (size_t type = 0; type < free.size(); ++type) {
      if (free[type] < job.gpus || job.throughput[type] <= 0) continue;
      if (!best || job.throughput[type] > job.throughput[*best]) best = type;
    }
    if (!best) continue;
    free[*best] -= job.gpus;
    placed[i] = true;
    picks.push_back({job.name, *best});
  }
}

std::vector<GavelPick> RoundMechanism::Picks() const {
  std::vector<double> free = gpus_;
  std::vector<bool> placed(jobs_.size(), false);
  std::vector<GavelPick> picks;
  for (size_t type = 0; type < gpus_.size(); ++type) {
    for (const size_t i : Order(type)) {
      const Standing& job = jobs_[i];
      if (placed[i] || job.gpus > free[type]) continue;
      if (!job.shares && options_.newcomers == GavelNewcomers::kFill) continue;
      if (Priority(job, type) <= 0 && (options_.fifo || job.throughput[type] <= 0)) continue;
      free[type] -= job.gpus;
      placed[i] = true;
      if (job.shares) picks.push_back({job.name, type});
    }
  }
  if (options_.newcomers == GavelNewcomers::kFill) FillIdle(free, placed, picks);
  std::stable_sort(picks.begin(), picks.end(),
                   [](const GavelPick& a, const GavelPick& b) { return a.type < b.type; });
  return picks;
}

}  // namespace synergy
