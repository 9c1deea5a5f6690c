#include "gavel/round_mechanism.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace synergy {

RoundMechanism::RoundMechanism(std::vector<double> gpus, GavelRoundOptions options)
    : gpus_(std::move(gpus)), options_(options), given_(gpus_.size(), 0) {}

void RoundMechanism::Add(const std::string& name, double gpus, std::vector<double> throughput) {
  std::vector<bool> runs;
  for (const double each : throughput) runs.push_back(each > 0);
  const std::vector<double> none(gpus_.size(), 0);
  standings_.emplace(Candidate{next_number_, std::nullopt}, Standing{.gpus = gpus,
                                                                     .runs = std::move(runs),
                                                                     .shares = std::nullopt,
                                                                     .received = none,
                                                                     .deficit = none});
  jobs_.emplace(next_number_, Job{name, std::move(throughput)});
  numbers_.emplace(name, next_number_++);
  changed_ = true;
}

void RoundMechanism::AddPair(const std::string& first, const std::string& second,
                             std::vector<bool> runs) {
  const auto [earlier, later] = std::minmax(numbers_.at(first), numbers_.at(second));
  const std::vector<double> none(gpus_.size(), 0);
  standings_.emplace(Candidate{later, earlier}, Standing{.gpus = At(first).gpus,
                                                         .runs = std::move(runs),
                                                         .shares = std::nullopt,
                                                         .received = none,
                                                         .deficit = none});
}

void RoundMechanism::Remove(const std::string& name) {
  const auto gone = numbers_.find(name);
  if (gone == numbers_.end()) return;
  std::erase_if(standings_, [&](const auto& each) {
    return each.first.job == gone->second || each.first.partner == gone->second;
  });
  jobs_.erase(gone->second);
  numbers_.erase(gone);
  changed_ = true;
}

void RoundMechanism::SetGpus(std::vector<double> gpus) {
  changed_ |= gpus != gpus_;
  gpus_ = std::move(gpus);
}

void RoundMechanism::SetThroughput(const std::string& name, std::vector<double> throughput) {
  const size_t number = numbers_.at(name);
  Job& job = jobs_.at(number);
  if (job.throughput == throughput) return;
  Standing& standing = standings_.at({number, std::nullopt});
  for (size_t type = 0; type < throughput.size(); ++type)
    standing.runs[type] = throughput[type] > 0;
  job.throughput = std::move(throughput);
  changed_ = true;
}

RoundMechanism::Standing* RoundMechanism::Find(const std::string& name,
                                               const std::string& partner) {
  const auto job = numbers_.find(name);
  if (job == numbers_.end()) return nullptr;
  Candidate candidate{job->second, std::nullopt};
  if (!partner.empty()) {
    const auto other = numbers_.find(partner);
    if (other == numbers_.end()) return nullptr;
    candidate = {std::max(job->second, other->second), std::min(job->second, other->second)};
  }
  const auto found = standings_.find(candidate);
  return found == standings_.end() ? nullptr : &found->second;
}

bool RoundMechanism::SolveIsDue(double now) const {
  if (!changed_ || standings_.empty()) return false;
  if (!last_solve_ || *last_solve_ == 0) return true;
  const bool has_no_shares =
      std::none_of(standings_.begin(), standings_.end(),
                   [](const auto& each) { return each.second.shares.has_value(); });
  return has_no_shares || now - *last_solve_ >= options_.between_solves;
}

void RoundMechanism::Solved(double now, const std::vector<Shares>& allocation) {
  const double passed = last_solve_ ? now - *last_solve_ : 0;
  for (auto& [candidate, standing] : standings_) {
    for (size_t type = 0; standing.shares && type < gpus_.size(); ++type) {
      standing.deficit[type] += (*standing.shares)[type] * passed - standing.received[type];
    }
    std::fill(standing.received.begin(), standing.received.end(), 0.0);
    standing.shares.reset();
  }
  for (const Shares& each : allocation) {
    if (!each.partner.empty()) continue;
    if (Standing* const standing = Find(each.job, "")) standing->shares = each.shares;
  }
  for (auto& [candidate, standing] : standings_) {
    if (candidate.partner && standings_.at({candidate.job}).shares &&
        standings_.at({*candidate.partner}).shares)
      standing.shares.emplace(gpus_.size(), 0);
  }
  for (const Shares& each : allocation) {
    if (each.partner.empty()) continue;
    if (Standing* const standing = Find(each.job, each.partner)) standing->shares = each.shares;
  }
  const double start = options_.round / 2 * static_cast<double>(standings_.size());
  std::fill(given_.begin(), given_.end(), start);
  last_solve_ = now;
  changed_ = false;
}

void RoundMechanism::Charge(const std::string& name, size_t type, double seconds,
                            const std::string& partner) {
  given_[type] += seconds;
  if (Standing* const standing = Find(name, partner)) standing->received[type] += seconds;
}

double RoundMechanism::Priority(const Standing& standing, size_t type) const {
  if (!standing.shares || (*standing.shares)[type] <= 0 || !standing.runs[type]) return 0;
  return (*standing.shares)[type] * given_[type] / (options_.round / 2 + standing.received[type]);
}

double RoundMechanism::Priority(const std::string& name, size_t type) const {
  return Priority(At(name), type);
}

double RoundMechanism::Deficit(const std::string& name, size_t type) const {
  return At(name).deficit[type];
}

std::vector<const RoundMechanism::Standings::value_type*> RoundMechanism::Order(size_t type) const {
  using Rank = std::tuple<double, double, double>;
  std::vector<std::pair<Rank, const Standings::value_type*>> ranked;
  for (const auto& each : standings_) {
    const Standing& standing = each.second;
    if (!standing.runs[type]) continue;
    ranked.emplace_back(Rank(Priority(standing, type), standing.deficit[type],
                             standing.shares ? (*standing.shares)[type] : 0),
                        &each);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const Standings::value_type*> order;
  for (const auto& [rank, each] : ranked) order.push_back(each);
  return order;
}

void RoundMechanism::FillIdle(std::vector<double>& free, std::vector<bool>& placed,
                              std::vector<GavelPick>& picks) const {
  for (const auto& [candidate, standing] : standings_) {
    if (candidate.partner || placed[candidate.job] || standing.shares) continue;
    const std::vector<double>& throughput = jobs_.at(candidate.job).throughput;
    std::optional<size_t> best;
    for (size_t type = 0; type < free.size(); ++type) {
      if (free[type] < standing.gpus || !standing.runs[type]) continue;
      if (!best || throughput[type] > throughput[*best]) best = type;
    }
    if (!best) continue;
    free[*best] -= standing.gpus;
    placed[candidate.job] = true;
    picks.push_back({jobs_.at(candidate.job).name, *best, {}});
  }
}

std::vector<GavelPick> RoundMechanism::Picks(std::span<const GavelPick> kept,
                                             std::span<const size_t> order) const {
  std::vector<double> free = gpus_;
  std::vector<bool> placed(next_number_, false);
  std::vector<GavelPick> picks;
  for (const GavelPick& pick : kept) {
    const size_t number = numbers_.at(pick.job);
    free[pick.type] -= standings_.at({number, std::nullopt}).gpus;
    placed[number] = true;
    picks.push_back(pick);
  }
  for (size_t place = 0; place < gpus_.size(); ++place) {
    const size_t type = order.empty() ? place : order[place];
    for (const Standings::value_type* const each : Order(type)) {
      const auto& [candidate, standing] = *each;
      if (free[type] <= 0) break;
      if (placed[candidate.job] || (candidate.partner && placed[*candidate.partner])) continue;
      if (standing.gpus > free[type]) continue;
      if (!standing.shares && options_.newcomers == GavelNewcomers::kFill) continue;
      if (Priority(standing, type) <= 0 && options_.fifo) continue;
      free[type] -= standing.gpus;
      placed[candidate.job] = true;
      if (candidate.partner) placed[*candidate.partner] = true;
      if (!standing.shares) continue;
      picks.push_back({jobs_.at(candidate.job).name, type,
                       candidate.partner ? jobs_.at(*candidate.partner).name : std::string()});
    }
  }
  if (options_.newcomers == GavelNewcomers::kFill) FillIdle(free, placed, picks);
  std::stable_sort(picks.begin(), picks.end(),
                   [](const GavelPick& a, const GavelPick& b) { return a.type < b.type; });
  return picks;
}

}  // namespace synergy
