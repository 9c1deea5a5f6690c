#include "engine/profiler/publishing.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "profile/measured/measured_curve.h"

namespace synergy {
namespace {

std::shared_ptr<const JobProfile> CurveOf(const MeasuredProfile& measured) {
  Result<JobProfile> profile = MakeJobProfile(measured);
  return profile ? std::make_shared<const JobProfile>(*std::move(profile)) : nullptr;
}

// More than any training needs.
constexpr Bytes kPlenty = Bytes(int64_t{1} << 50);

// Returns the largest difference between two curves at the amounts of either, as a fraction.
double Difference(const JobProfile& a, const JobProfile& b) {
  double most = 0;
  for (const JobProfile* const profile : {&a, &b}) {
    for (const MilliCpu cpu : profile->cpus()) {
      const double one = a.ThroughputAt(cpu, kPlenty);
      const double other = b.ThroughputAt(cpu, kPlenty);
      most = std::max(most, std::abs(one - other) / std::max(one, other));
    }
  }
  return most;
}

bool IsNews(const Measurement& known, const MeasuredProfile& now, const JobProfile& curve,
            double agreement) {
  if (!known.published || !known.curve) return true;
  const MeasuredProfile& before = *known.published;
  if (before.confirmed != now.confirmed || before.drifted != now.drifted ||
      before.censored != now.censored || before.estimate != now.estimate ||
      before.note != now.note || before.alike != now.alike || before.taken != now.taken ||
      before.memory.has_value() != now.memory.has_value() ||
      (now.memory && Differ(*before.memory, *now.memory, agreement)) ||
      HasGuessAbove(before) != HasGuessAbove(now)) {
    return true;
  }
  if (known.complete && before.probes != now.probes) return true;
  return Difference(*known.curve, curve) > agreement;
}

// Returns the most CPU that may help. A GPU cannot be busy for more than 100 % of the time, so more
// CPU does not improve an estimate.
MilliCpu MostThatHelps(const Measurement& measurement) {
  if (!measurement.estimate || measurement.points.empty()) return measurement.node_cpu;
  const CurvePoint& most = measurement.points.back();
  return std::min(measurement.node_cpu,
                  FromCores(InCores(most.cpu) / std::max(most.throughput, 1e-3)));
}

void Ask(ProfilerPass& pass, const MeasurementKey& key, Measurement& measurement,
         MeasuredProfile measured, std::string why) {
  measured.revision = measurement.published ? measurement.published->revision + 1 : 1;
  measured.at = pass.at.wall;
  measurement.publishing = true;
  ProfilerAction action;
  action.profile_namespace = key.profile_namespace;
  action.measured = std::move(measured);
  action.why = std::move(why);
  pass.Do(std::move(action));
}

// Continues from a profile that was published before.
void Recall(Measurement& measurement, const MeasuredProfile& published, Instant now) {
  Published(measurement, published);
  measurement.probes = published.probes;
  // The time of the loss is unknown, so it counts as recent.
  if (published.lost_iterations > 0) {
    measurement.costs.push_back({.best = published.lost_iterations, .seconds = 1});
    measurement.hour_from = now;
  }
  measurement.confirmed = published.confirmed && !published.drifted;
  measurement.complete = measurement.confirmed;
  measurement.drifted = published.drifted;
  measurement.estimate = published.estimate;
  measurement.node = published.node;
  measurement.note = published.note;
  measurement.memory = published.memory;
  measurement.alike = published.alike;
  measurement.taken = published.taken;
  if (published.drifted) {
    measurement.probes = 0;
    return;
  }
  TakePoints(measurement, published);
}

}  // namespace

void TakePoints(Measurement& measurement, const MeasuredProfile& published) {
  const bool climbs = HasGuessAbove(published);
  double best = 0;
  for (const MeasuredPoint& point : published.points) {
    if (point.certainty != PointCertainty::kGuess) best = std::max(best, point.throughput);
  }
  for (const MeasuredPoint& point : published.points) {
    if (point.certainty == PointCertainty::kGuess) continue;
    const bool bound = climbs || point.throughput < 0.95 * best;
    const bool busy = point.certainty == PointCertainty::kAtLeast;
    const double used =
        (bound || busy) && published.cpu_seconds ? *published.cpu_seconds * point.throughput : 0;
    measurement.points.push_back({.cpu = point.cpu,
                                  .throughput = point.throughput,
                                  .used = used,
                                  .bound = bound,
                                  .quota = published.confirmed,
                                  .certainty = point.certainty,
                                  .windows = std::max(point.windows, 1),
                                  .spread = point.spread});
  }
}

bool HasGuessAbove(const MeasuredProfile& measured) {
  return measured.points.back().certainty == PointCertainty::kGuess;
}

void Published(Measurement& measurement, const MeasuredProfile& measured) {
  measurement.published = measured;
  measurement.curve = CurveOf(measured);
}

Measurement& Recalled(ProfilerPass& pass, const MeasurementKey& key) {
  const auto [measurement, is_new] = pass.memory.measurements.try_emplace(key);
  if (is_new) {
    const auto published = pass.catalog.Find(key.profile_namespace, NameOf(key));
    if (published) Recall(measurement->second, *published, pass.at.now);
  }
  return measurement->second;
}

void Publish(ProfilerPass& pass, const MeasurementKey& key, Measurement& measurement) {
  if (measurement.publishing || pass.at.now < measurement.next_publish) return;
  if (measurement.drifted && !measurement.complete) {
    if (!measurement.published || measurement.published->drifted) return;
    MeasuredProfile marked = *measurement.published;
    marked.drifted = true;
    marked.confirmed = false;
    Ask(pass, key, measurement, std::move(marked),
        "its speed no longer follows the curve; it is measured again");
    return;
  }
  if (measurement.note == kUnsettledNote) {
    // The measurement allows no conclusion, so add its note to the published profile.
    if (!measurement.published || measurement.published->note == measurement.note) return;
    MeasuredProfile marked = *measurement.published;
    marked.note = measurement.note;
    marked.confirmed = false;
    if (HasGuessAbove(marked) && marked.points.size() > 1) marked.points.pop_back();
    Ask(pass, key, measurement, std::move(marked), measurement.note);
    return;
  }
  measurement.drifted = false;
  MeasuredProfile measured;
  measured.workload = key.workload;
  measured.alike = measurement.alike;
  if (measurement.complete) measured.taken = measurement.taken;
  measured.gpu_product = key.gpu_product;
  measured.gpus = key.gpus;
  measured.gang_size = key.gang_size;
  measured.node = measurement.node;
  measured.points = Claim(measurement.points, {.node = MostThatHelps(measurement),
                                               .fair_share = measurement.fair_share,
                                               .agreement = pass.settings.agreement,
                                               .confirmed = measurement.confirmed,
                                               .estimate = measurement.estimate});
  if (measured.points.empty()) return;
  measured.cpu_seconds = CpuSecondsOf(measurement.points);
  measured.confirmed = measurement.confirmed;
  measured.estimate = measurement.estimate;
  measured.censored =
      measurement.estimate || IsCensored(measurement.points, pass.settings.agreement);
  measured.probes = measurement.probes;
  measured.lost_iterations = measurement.lost_before + measurement.Lost();
  measured.memory = measurement.memory;
  measured.note = measurement.note;
  const auto curve = CurveOf(measured);
  if (!curve || !IsNews(measurement, measured, *curve, pass.settings.agreement)) return;
  const std::string why =
      measured.taken       ? fmt::format("a window agrees with profile {}, found by {}",
                                         measured.taken->profile, ToText(measured.taken->by))
      : measured.confirmed ? fmt::format("{} probes", measured.probes)
                           : std::string(measured.estimate ? "estimated by GPU busy time"
                                                           : "by progress and CPU time alone");
  Ask(pass, key, measurement, std::move(measured), why);
}

}  // namespace synergy
