#include "controller/preemption/restart_costs.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace synergy::controller {
namespace {

// The start-up of a pod is measured only until the pod has trained for this long.
constexpr Duration kLongestTrained = std::chrono::minutes(10);

}  // namespace

std::optional<Duration> RestartCosts::StartupOf(const std::string& uid, Instant now) const {
  const auto known = progress_(uid, now);
  const auto times = times_.Find(uid);
  // An agent that started after the pod does not count the pod's first iterations.
  if (!known || !times || !times->started || known->since > *times->started) return std::nullopt;
  const PodProgress& report = known->pod;
  if (!report.rate || *report.rate <= 0 || report.iterations <= 0 || !report.last)
    return std::nullopt;
  const Seconds trained(report.iterations / *report.rate);
  if (trained > kLongestTrained) return std::nullopt;
  return std::max<Duration>(
      *report.last - *times->started - std::chrono::duration_cast<Duration>(trained),
      Duration::zero());
}

void RestartCosts::Observe(Instant now) {
  std::map<std::string, Duration> startups;
  for (const auto& [uid, facts] : pods_.Snapshot()) {
    if (!facts->moves) continue;
    std::optional<Duration> startup = StartupOf(uid, now);
    if (const auto before = startups_.find(uid); before != startups_.end())
      startup = std::min(startup.value_or(before->second), before->second);
    if (startup) startups.emplace(uid, *startup);
  }
  startups_ = std::move(startups);
}

std::optional<Duration> RestartCosts::CostOf(Pods pods, Moment at) const {
  std::optional<Duration> cost;
  for (const auto& pod : pods) {
    const auto startup = startups_.find(pod->uid);
    const auto known = progress_(pod->uid, at.now);
    const auto times = times_.Find(pod->uid);
    if (startup == startups_.end() || !known || !known->pod.checkpoint || !times || !times->started)
      continue;
    const Duration lost = std::max<Duration>(
        at.wall - std::max(*known->pod.checkpoint, *times->started), Duration::zero());
    cost = std::max(cost.value_or(Duration::zero()), startup->second + lost);
  }
  return cost;
}

std::optional<double> RestartCosts::RateOf(Pods pods, double least, Instant now) const {
  std::optional<double> rate;
  for (const auto& pod : pods) {
    const auto known = progress_(pod->uid, now);
    if (!known || !known->pod.rate || known->pod.iterations < least) continue;
    rate = std::max(rate.value_or(0), *known->pod.rate);
  }
  return rate;
}

}  // namespace synergy::controller
