#include "engine/reservations/remaining_time.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace synergy {
namespace {

constexpr Duration kLeastEstimate = std::chrono::minutes(1);
constexpr Duration kFirstDistance = std::chrono::minutes(1);
// Ten years in nanoseconds.
constexpr double kMostTime = 1e9 * 10 * 365 * 86400;

Duration Scaled(Duration duration, double factor) {
  const double product = static_cast<double>(duration.count()) * factor;
  return Duration(static_cast<int64_t>(std::clamp(product, 0.0, kMostTime)));
}

// Returns the least value that is at least as large as the fraction `part` of the values, counting
// one additional value above all.
double UpperQuantile(std::vector<double>& values, double part) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<size_t>(std::ceil(part * static_cast<double>(values.size() + 1)));
  return values[std::clamp<size_t>(rank, 1, values.size()) - 1];
}

}  // namespace

void RemainingTimes::EstimateMade(const std::string& training, const std::string& workload,
                                  Duration remaining, Instant now) {
  if (remaining < kLeastEstimate) return;
  Running& running = running_[training];
  if (running.estimates.empty()) running.workload = workload;
  if (running.estimates.size() == kMostEstimates || now < running.next) return;
  const Duration since =
      running.estimates.empty() ? Duration::zero() : now - running.estimates.front().at;
  running.next = now + std::max<Duration>(since, kFirstDistance);
  running.estimates.push_back({now, remaining});
}

void RemainingTimes::Ended(const std::string& training, Instant now) {
  auto found = running_.extract(training);
  if (found.empty() || found.mapped().estimates.empty()) return;
  const Running& running = found.mapped();
  EndedTraining ended;
  double sum = 0;
  for (const Estimate& estimate : running.estimates) {
    // A training that ends within a minute of an estimate counts as having taken a minute.
    const Duration took = std::max<Duration>(now - estimate.at, kLeastEstimate);
    const double ratio =
        static_cast<double>(took.count()) / static_cast<double>(estimate.remaining.count());
    const bool is_first = &estimate == &running.estimates.front();
    ended.ratios.least = is_first ? ratio : std::min(ended.ratios.least, ratio);
    ended.ratios.most = is_first ? ratio : std::max(ended.ratios.most, ratio);
    sum += std::log(ratio);
  }
  ended.ratios.likely = std::exp(sum / static_cast<double>(running.estimates.size()));
  const Ratios& until_now = RatiosFor(running.workload);
  ended.held = until_now.least <= ended.ratios.least && ended.ratios.most <= until_now.most;
  Add(ended, histories_.Use(running.workload));
  Add(ended, all_);
}

std::optional<TimeRange> RemainingTimes::EndOf(const std::string& workload, Duration remaining,
                                               Instant now) const {
  if (!Holds(workload)) return std::nullopt;
  const Ratios& ratios = RatiosFor(workload);
  return TimeRange{now + Scaled(remaining, ratios.least), now + Scaled(remaining, ratios.likely),
                   now + Scaled(remaining, ratios.most)};
}

bool RemainingTimes::Holds(const std::string& workload) const {
  const History* const history = histories_.Find(workload);
  return history == nullptr || history->holds;
}

const RemainingTimes::Ratios& RemainingTimes::RatiosFor(const std::string& workload) const {
  static constexpr Ratios kPrior{0.5, 1, 2};
  const History* const history = histories_.Find(workload);
  if (history != nullptr && history->trainings.size() >= kLeastEnded) return history->ratios;
  return all_.trainings.size() >= kLeastEnded ? all_.ratios : kPrior;
}

void RemainingTimes::Add(const EndedTraining& ended, History& history) const {
  history.trainings.push_back(ended);
  if (history.trainings.size() > kMostEnded) history.trainings.pop_front();
  if (history.trainings.size() < kLeastEnded) return;
  std::vector<double> least;  // reciprocals
  std::vector<double> likely;
  std::vector<double> most;
  double held = 0;
  for (const EndedTraining& each : history.trainings) {
    least.push_back(1 / each.ratios.least);
    likely.push_back(each.ratios.likely);
    most.push_back(each.ratios.most);
    held += each.held ? 1 : 0;
  }
  const double part = (1 + confidence_) / 2;
  Ratios& ratios = history.ratios;
  ratios = {1 / UpperQuantile(least, part), UpperQuantile(likely, 0.5), UpperQuantile(most, part)};
  ratios.likely = std::clamp(ratios.likely, ratios.least, ratios.most);
  // The limit is three standard deviations below the confidence, so that chance hardly ever causes
  // a failure.
  const auto count = static_cast<double>(history.trainings.size());
  history.holds =
      held >= count * confidence_ - 3 * std::sqrt(count * confidence_ * (1 - confidence_));
}

}  // namespace synergy
