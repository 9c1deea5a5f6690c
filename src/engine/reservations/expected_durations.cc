#include "engine/reservations/expected_durations.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/reservations/prediction_bound.h"

namespace synergy {
namespace {

// Shorter estimates belong to the first scale, and longer ones than kLongestHours to the last.
constexpr double kShortestHours = 1. / 64;
constexpr double kLongestHours = 1024;

int ScaleOf(Duration expected) {
  const double hours = std::chrono::duration<double, std::ratio<3600>>(expected).count();
  return static_cast<int>(std::floor(std::log2(std::clamp(hours, kShortestHours, kLongestHours))));
}

double RatioOf(const ExpectedDurations::Run& run) {
  return Seconds(run.ran) / Seconds(run.expected);
}

bool HasOverrun(const ExpectedDurations::Run& run) { return run.ran > run.expected; }

}  // namespace

void ExpectedDurations::Ended(const std::string& of_namespace, const Run& run, bool completed) {
  const bool has_overrun = HasOverrun(run);
  if (!has_overrun && (!completed || RatioOf(run) < kLeastPart)) return;
  Known& known = known_.Use(of_namespace);
  known.has_overrun |= has_overrun;
  std::deque<double>& ratios = known.ratios[ScaleOf(run.expected)];
  ratios.push_back(RatioOf(run));
  if (ratios.size() > kMostEnded) ratios.pop_front();
}

std::optional<Duration> ExpectedDurations::LongestOf(const std::string& of_namespace,
                                                     Duration expected,
                                                     std::span<const Run> running) const {
  const int scale = ScaleOf(expected);
  bool has_overrun = std::any_of(running.begin(), running.end(), HasOverrun);
  std::vector<double> ended;
  if (const Known* const known = known_.Find(of_namespace)) {
    has_overrun |= known->has_overrun;
    if (const auto ratios = known->ratios.find(scale); ratios != known->ratios.end())
      ended.assign(ratios->second.begin(), ratios->second.end());
  }
  if (!has_overrun) return expected;
  std::vector<double> growing;
  for (const Run& run : running) {
    if (ScaleOf(run.expected) == scale) growing.push_back(RatioOf(run));
  }
  const std::optional<double> factor = BoundOfNext<double>(std::move(ended), growing, confidence_);
  if (!factor) return std::nullopt;
  const Seconds longest = Seconds(expected) * std::max(*factor, 1.);
  if (longest >= Seconds(Duration::max()) / 2) return std::nullopt;
  return std::chrono::ceil<Duration>(longest);
}

}  // namespace synergy
