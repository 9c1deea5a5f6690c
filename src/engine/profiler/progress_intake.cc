#include "engine/profiler/progress_intake.h"

#include <algorithm>
#include <limits>

#include "core/rounding.h"
#include "engine/profiler/measuring.h"
#include "engine/profiler/profiler_pass.h"

namespace synergy {
namespace {

// Returns the rest of the warm-up. A log that is rarely flushed shows its first iterations only
// after many were done.
Duration LeftToWarmUp(const ProfilerSettings& settings, const PodProgress& progress) {
  if (!progress.rate || *progress.rate <= 0) return settings.warm_up;
  const Seconds trained(progress.iterations / *progress.rate);
  if (trained >= settings.warm_up) return {};
  return settings.warm_up - ToDuration(trained);
}

// Processes the report about a probe.
void ObserveProbe(const ProfilerSettings& settings, WatchedPod& pod, const PodProgress& progress) {
  const auto same = [](const ProbeReading& a, const ProbeReading& b) {
    return a.cpu == b.cpu && a.since == b.since;
  };
  const MilliCpu before = AmountOf(pod);
  // Drop the samples, but keep the last window, which shows the pod without a probe.
  if (progress.probe && !(pod.probe && same(*pod.probe, *progress.probe))) {
    BreakOff(pod, progress.probe->since + settings.probe_lead);
  } else if (pod.probe && !progress.probe) {
    BreakOff(pod, *progress.last + settings.probe_lead);
  }
  pod.probe = progress.probe;
  if (AmountOf(pod) != before) pod.window.reset();
}

}  // namespace

double WatchedPod::MeanSpeed() const {
  if (!last || *last <= first) return 0;
  return (iterations - first_iterations) / Seconds(*last - first).count();
}

std::optional<PodProgress> EstimatedProgress(const PodProgress& progress) {
  if (!progress.format.empty() || !progress.estimate) return std::nullopt;
  PodProgress estimated = progress;
  estimated.format = "gpu busy";
  estimated.iterations = progress.estimate->busy;
  estimated.rate = progress.estimate->rate;
  estimated.last = progress.estimate->at;
  return estimated;
}

bool Counts(ProfilerMemory& memory, const WatchedPod& pod) {
  Measurement& measurement = memory.measurements.at(pod.key);
  if (pod.estimates == measurement.estimate) return true;
  if (pod.estimates) {
    const bool reports =
        std::any_of(measurement.pods.begin(), measurement.pods.end(), [&](const std::string& uid) {
          const WatchedPod& other = memory.pods.at(uid);
          return other.ReportsProgress() && !other.estimates;
        });
    if (reports || !measurement.points.empty() || measurement.published) return false;
    measurement.estimate = true;
    return true;
  }
  measurement.estimate = false;
  measurement.points.clear();
  measurement.least_cost = std::numeric_limits<double>::infinity();
  measurement.complete = measurement.confirmed = measurement.drifted = false;
  measurement.curve.reset();
  measurement.note.clear();
  measurement.let_be_until = {};
  measurement.on_trial_until = {};
  for (const std::string& uid : measurement.pods) {
    WatchedPod& other = memory.pods.at(uid);
    other.window.reset();
    other.off_since.reset();
    if (!other.estimates) continue;
    other.samples.clear();
    other.last.reset();
  }
  return true;
}

bool SameAmounts(const Pod& a, const Pod& b) {
  return a.fungible->requested == b.fungible->requested &&
         a.fungible->cpu_limit == b.fungible->cpu_limit &&
         a.fungible->in_force == b.fungible->in_force;
}

std::optional<ProgressSample> Listen(const ProfilerSettings& settings, WatchedPod& pod,
                                     const PodProgress& progress, WallTime since) {
  const bool is_first = !pod.last;
  if (pod.since != since || pod.format != progress.format || progress.iterations < pod.iterations) {
    pod.samples.clear();
    pod.since = since;
    pod.format = progress.format;
    pod.iterations = pod.first_iterations = progress.iterations;
    pod.first = *progress.last;
  }
  ObserveProbe(settings, pod, progress);
  if (is_first) pod.count_from = *progress.last + LeftToWarmUp(settings, progress);
  const bool is_news =
      is_first || (*progress.last > *pod.last && progress.iterations > pod.iterations);
  if (!is_news) return std::nullopt;
  pod.last = progress.last;
  pod.iterations = progress.iterations;
  if (pod.count_from && *progress.last < *pod.count_from) return std::nullopt;
  return ProgressSample{progress.iterations, *progress.last, progress.cpu};
}

}  // namespace synergy
