#include "engine/profiler/probes/probe_cost.h"

#include <algorithm>
#include <chrono>

namespace synergy {
namespace {

// Time from the request to end a probe until the quota is removed.
constexpr Duration kTail = std::chrono::seconds(4);
constexpr Duration kHour = std::chrono::hours(1);

}  // namespace

double AtBest(double best, double used, double least_cost) {
  return used > 0 ? std::max(best, used / least_cost) : best;
}

double LostTo(const ProbeCost& cost, double least_cost) {
  const double without = AtBest(cost.best, cost.used, least_cost) * cost.seconds;
  return std::max(0.0, without - cost.iterations);
}

double Measurement::Lost() const {
  double lost = 0;
  for (const ProbeCost& cost : costs) lost += LostTo(cost, least_cost);
  return lost;
}

bool Measurement::IsProbing(const std::string& uid) const {
  return std::any_of(running.begin(), running.end(),
                     [&](const RunningProbe& probe) { return probe.uid == uid; });
}

ProbeCost CostSoFar(const RunningProbe& probe, const WatchedPod& pod) {
  ProbeCost cost{.best = probe.best, .used = probe.used};
  if (!probe.begun_at || !pod.last) return cost;
  cost.seconds = Seconds(*pod.last - *probe.begun_at).count();
  cost.iterations = pod.iterations - probe.iterations;
  return cost;
}

ProbeCost CostUntilItsEnd(const ProfilerPass& pass, const RunningProbe& probe,
                          const WatchedPod& pod, Duration later) {
  const ProbeCost so_far = CostSoFar(probe, pod);
  double rate = probe.expected;
  if (so_far.seconds > 0) rate = std::min(rate, so_far.iterations / so_far.seconds);
  const Duration since = pod.last ? pass.at.wall - *pod.last : Duration::zero();
  const Duration left = std::clamp(since, Duration::zero(), kLongestProbe) + later + kTail;
  const double seconds = Seconds(left).count();
  return {.best = probe.best, .used = probe.used, .seconds = seconds, .iterations = rate * seconds};
}

double Budget(const ProfilerPass& pass, const Measurement& measurement, const WatchedPod& pod) {
  double budget = pass.settings.most_loss * Seconds(kHour).count() * pod.MeanSpeed();
  budget -= measurement.Lost();
  for (const RunningProbe& probe : measurement.running) {
    if (probe.uid != pod.pod->uid) budget -= probe.most_loss;
  }
  return budget;
}

void CountHours(const ProfilerPass& pass, Measurement& measurement) {
  const bool over = measurement.hour_from && pass.at.now >= *measurement.hour_from + kHour;
  if (measurement.hour_from && !(over && measurement.drifted)) return;
  measurement.hour_from = pass.at.now;
  measurement.lost_before += measurement.Lost();
  measurement.costs.clear();
  if (measurement.note == kTooDearNote) measurement.note.clear();
}

}  // namespace synergy
