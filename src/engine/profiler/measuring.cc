#include "engine/profiler/measuring.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "engine/profiler/gang_members.h"
#include "engine/profiler/memory_learning.h"
#include "engine/profiler/publishing.h"
#include "profile/measured/curve_probe.h"
#include "profile/measured/measured_curve.h"

namespace synergy {
namespace {

// A pod is CPU-bound if its threads wait for more than this fraction of a window.
constexpr double kWaited = 0.10;
// A CPU-bound pod uses at least this fraction of the CPU that it could have. kUsesMost applies
// while its threads wait, kUsesQuota while a quota throttles it, kUsesAll to any pod with a quota.
constexpr double kUsesMost = 0.8;
constexpr double kUsesQuota = 0.7;
constexpr double kUsesAll = 0.93;
constexpr double kUsesAllUnknown = 0.9;  // if the time its threads wait is unknown

// Number of pods of a workload to measure at a time.
constexpr size_t kMeasuredAtOnce = 4;
// A pod has more CPU than any measured pod if it has this many times as much.
constexpr double kUnexplored = 1.1;
constexpr size_t kChecks = 5;
// How long to leave a training alone if its windows contradict each other.
constexpr Duration kLeaveAlone = std::chrono::minutes(5);
// How long to begin no probes if its windows contradict earlier conclusions.
constexpr Duration kLeaveAloneConcluded = std::chrono::hours(1);
constexpr int32_t kSettledWindows = 3;  // windows that must agree before its points count again
// If the GPU is busy for at least this fraction of the time, more CPU has no visible effect.
constexpr double kAlwaysBusy = 0.95;
constexpr std::string_view kNoCpu = "its CPU time cannot be read";

bool IsQuota(const Pod& pod) { return pod.fungible->cpu_limit.has_value(); }

MilliCpu MostMeasured(const Measurement& measurement) {
  return measurement.points.empty() ? MilliCpu(0) : measurement.points.back().cpu;
}

// Returns whether more CPU may help, and the pod has clearly more CPU than any measured point. For
// a gang, all members must have more.
bool IsUnexplored(const ProfilerMemory& memory, const Measurement& measurement,
                  const WatchedPod& pod) {
  if (!measurement.published || !HasGuessAbove(*measurement.published)) return false;
  const double most = kUnexplored * InCores(MostMeasured(measurement));
  return !AnyTogether(memory, pod,
                      [most](const WatchedPod& each) { return InCores(AmountOf(each)) <= most; });
}

bool WantsACloseLook(const ProfilerPass& pass, const Measurement& measurement,
                     const WatchedPod& pod) {
  const ProfilerSettings& settings = pass.settings;
  const Moment at = pass.at;
  if (!pod.ReportsProgress()) return false;
  if (!measurement.complete || IsUnexplored(pass.memory, measurement, pod)) return true;
  if (at.now < measurement.on_trial_until) return true;
  return pod.off_since && at.now - *pod.off_since >= settings.drift_time / 2;
}

// Restarts the measurement without its previous points.
void StartOver(ProfilerMemory& memory, Measurement& measurement) {
  measurement.drifted = true;
  measurement.points.clear();
  measurement.complete = measurement.confirmed = false;
  measurement.least_cost = std::numeric_limits<double>::infinity();
  for (const std::string& uid : measurement.pods) memory.pods.at(uid).fastest = 0;
  measurement.probes = measurement.informative = measurement.failures = 0;
}

// Draws no conclusion from the points, and leaves the training alone for a while.
void LeaveAlone(Measurement& measurement, Moment at) {
  measurement.note = kUnsettledNote;
  measurement.points.clear();
  measurement.complete = measurement.confirmed = false;
  const bool concluded = at.now < measurement.on_trial_until;
  measurement.let_be_until = at.now + (concluded ? kLeaveAloneConcluded : kLeaveAlone);
}

// Returns the throughput of the published curve with that CPU; nullopt if there is no curve.
std::optional<double> Expected(const ProfilerMemory& memory, const Measurement& measurement,
                               const WatchedPod& pod, MilliCpu cpu) {
  if (!measurement.curve) return std::nullopt;
  Bytes least = pod.pod->fungible->requested.memory;
  for (const std::string& uid : pod.others) {
    least = std::min(least, memory.pods.at(uid).pod->fungible->requested.memory);
  }
  const double expected = measurement.curve->ThroughputAt(cpu, least);
  if (expected <= 0) return std::nullopt;
  return expected;
}

// Returns whether `seen` may differ from the curve although the curve is right. The pod may have
// fewer workers. It may wait for storage, as in the first epoch. Or the slowest pod of its gang may
// not be the one that needs the most CPU.
bool IsExplained(const Measurement& measurement, const WatchedPod& pod, const CurvePoint& seen,
                 double expected, double agreement) {
  return HasFewerWorkers(seen, measurement.points, agreement) ||
         NeedsLess(seen, measurement.points) ||
         (IsStarved(seen, pod) && seen.throughput < expected);
}

// Compares a settled window of a pod with the known curve. `seen`: the window; `point`: the window
// as a point of the curve.
void Compare(const ProfilerPass& pass, Measurement& measurement, WatchedPod& pod,
             const CurvePoint& seen, const CurvePoint& point) {
  const auto expected = Expected(pass.memory, measurement, pod, seen.cpu);
  if (!expected) return;
  if (IsExplained(measurement, pod, seen, *expected, pass.settings.agreement)) {
    pod.off_since.reset();
    return;
  }
  if (IsUnexplored(pass.memory, measurement, pod) ||
      (IsCensored(measurement.points, pass.settings.agreement) &&
       point.throughput > *expected * (1 + pass.settings.agreement))) {
    Add(measurement, point, pass.settings.agreement);
    measurement.complete = false;
    pod.off_since.reset();
    return;
  }
  if (std::abs(point.throughput - *expected) <= pass.settings.drift * *expected) {
    pod.off_since.reset();
    return;
  }
  if (pass.at.now < measurement.on_trial_until) {
    // A different speed at a known amount contradicts the curve; anything else extends it.
    Add(measurement, point, pass.settings.agreement);
    measurement.complete = false;
    pod.off_since.reset();
    return;
  }
  if (!pod.off_since) pod.off_since = pass.at.now;
  if (pass.at.now - *pod.off_since < pass.settings.drift_time) return;
  StartOver(pass.memory, measurement);
  Add(measurement, point, pass.settings.agreement);
  pod.off_since.reset();
}

// Returns whether windows of a workload agree again, after they did not settle or contradicted each
// other.
bool SettledAgain(const Measurement& measurement) {
  return std::any_of(measurement.points.begin(), measurement.points.end(),
                     [](const CurvePoint& point) { return point.windows >= kSettledWindows; });
}

// Busy time is only a lower bound, because the GPU may be busy without progress.
void MarkEstimate(CurvePoint& point) {
  point.certainty = PointCertainty::kAtLeast;
  point.throughput = std::min(point.throughput, 1.0);
  if (point.throughput >= kAlwaysBusy) point.bound = false;
}

// Processes the window of one pod.
void ReadPod(const ProfilerPass& pass, Measurement& measurement, WatchedPod& pod) {
  const WindowRules rules{pass.settings.window, pass.settings.longest_window,
                          pass.settings.agreement};
  const WindowReading reading = ReadWindow(pod.samples, rules);
  if (reading.state == WindowState::kOpen) return;
  if (reading.state == WindowState::kUnsettled) {
    measurement.note = kUnsettledNote;
    pod.samples.erase(pod.samples.begin(),
                      pod.samples.begin() + static_cast<std::ptrdiff_t>(pod.samples.size() / 3));
    return;
  }
  const std::vector<WindowReading> windows = ReadWindows(pod.samples, rules);
  pod.samples.erase(pod.samples.begin(), pod.samples.end() - 1);
  auto point = PointOf(pass.memory, pod, windows);
  if (!point) {
    measurement.note = kNoCpu;
    return;
  }
  NoteCost(measurement, *point);
  const CurvePoint seen = *point;
  MarkStarved(measurement, pod, *point);
  if (measurement.estimate) MarkEstimate(*point);
  if (measurement.note == kNoCpu) measurement.note.clear();
  auto window = windows.begin();
  ForEachTogether(pass.memory, pod, [&window](WatchedPod& each) { each.window = *window++; });
  pod.fastest = std::max(pod.fastest, reading.rate);
  measurement.node = pass.cluster.node(pod.node).detail->name;
  if (measurement.complete) {
    Compare(pass, measurement, pod, seen, *point);
  } else {
    Add(measurement, *point, pass.settings.agreement);
  }
}

// Combines the points of two pods that train together. REQUIRES: both are from the same time.
CurvePoint Combined(const CurvePoint& a, const CurvePoint& b) {
  if (a.bound != b.bound) return a.bound ? a : b;
  const CurvePoint& less = b.cpu < a.cpu ? b : a;
  if (a.bound) return less;
  const CurvePoint& busier = b.used > a.used ? b : a;
  CurvePoint both = less;
  both.used = busier.used;
  both.certainty = busier.certainty;
  both.cpu = std::max(less.cpu, FromCores(busier.used));
  return both;
}

// Returns the CPU use between two reports, with the speed `rate`. The result has no CPU if both
// reports have the same time.
WindowReading ReadStretch(const CpuUse& begin, const CpuUse& end, double rate) {
  WindowReading reading;
  reading.rate = rate;
  const double seconds = Seconds(end.at - begin.at).count();
  if (seconds <= 0) return reading;
  reading.cpu = Seconds(end.used - begin.used).count() / seconds;
  reading.throttled = Seconds(end.throttled - begin.throttled).count() / seconds;
  if (begin.waited && end.waited)
    reading.waited = Seconds(*end.waited - *begin.waited).count() / seconds;
  return reading;
}

}  // namespace

bool IsBound(const WindowReading& reading, MilliCpu amount, bool by_quota) {
  const double used = reading.cpu.value_or(0);
  const double all = InCores(amount);
  if (by_quota)
    return used >= kUsesAll * all || (reading.throttled > kThrottled && used >= kUsesQuota * all);
  if (!reading.waited) return used >= kUsesAllUnknown * all;
  return *reading.waited > kWaited && used >= kUsesMost * all;
}

MilliCpu MostOf(const NodeState& node, const Pod& pod) {
  const int64_t others = (node.allocatable.gpus - pod.fungible->requested.gpus).count();
  return node.allocatable.cpu - std::max<int64_t>(others, 0) * kLeastProbe;
}

MilliCpu AmountOf(const Pod& pod) {
  return pod.fungible->cpu_limit.value_or(pod.fungible->requested.cpu);
}

MilliCpu AmountOf(const WatchedPod& pod) {
  return IsBursting(pod) ? pod.probe->cpu : AmountOf(*pod.pod);
}

std::optional<CurvePoint> PointOf(const WatchedPod& pod, const WindowReading& reading) {
  if (!reading.cpu || *reading.cpu <= 0) return std::nullopt;
  const MilliCpu amount = AmountOf(pod);
  const MilliCpu used = FromCores(*reading.cpu);
  const bool by_quota = IsQuota(*pod.pod);
  const bool bound = IsBound(reading, amount, by_quota);
  CurvePoint point{.cpu = amount,
                   .throughput = reading.rate,
                   .used = *reading.cpu,
                   .bound = bound,
                   .quota = by_quota,
                   .spread = reading.spread};
  if (!by_quota) point.cpu = bound ? used : std::max(amount, used);
  if (!bound && IsWholeNumberOfCores(*reading.cpu)) point.certainty = PointCertainty::kAtLeast;
  return point;
}

void NoteCost(Measurement& measurement, const CurvePoint& point) {
  if (point.used > 0 && point.throughput > 0)
    measurement.least_cost = std::min(measurement.least_cost, point.used / point.throughput);
}

std::optional<CurvePoint> PointOf(const ProfilerMemory& memory, const WatchedPod& head,
                                  std::span<const WindowReading> windows) {
  auto point = PointOf(head, windows.front());
  for (size_t i = 0; i < head.others.size(); ++i) {
    const auto other = PointOf(memory.pods.at(head.others[i]), windows[i + 1]);
    if (!point || !other) return std::nullopt;
    *point = Combined(*point, *other);
  }
  if (point && point->bound) {
    point->uneven = std::any_of(windows.begin(), windows.end(), [&](const WindowReading& each) {
      return each.cpu.value_or(0) > kUsesMore * point->used;
    });
  }
  return point;
}

std::vector<WindowReading> ReadWindows(const std::vector<ProgressSample>& samples,
                                       const WindowRules& rules) {
  std::vector<WindowReading> windows = {ReadWindow(samples, rules)};
  for (size_t other = 0; other < samples.front().others.size(); ++other) {
    std::vector<ProgressSample> of_other;
    of_other.reserve(samples.size());
    for (const ProgressSample& sample : samples) {
      of_other.push_back({sample.iterations, sample.last, sample.others[other]});
    }
    windows.push_back(ReadWindow(of_other, rules));
  }
  return windows;
}

void Add(Measurement& measurement, const CurvePoint& point, double agreement) {
  if (IsUninformative(measurement.points, point)) return;
  AddOfMost(measurement.points, point, agreement);
  if (measurement.estimate) return;
  // Assume that workers need the CPU that they use. If a pod with much less CPU is as fast, the
  // workers only wait actively.
  const double best = BestOf(measurement.points);
  const bool spins = std::any_of(
      measurement.points.begin(), measurement.points.end(), [&](const CurvePoint& less) {
        return less.quota && less.throughput >= 0.95 * best &&
               std::any_of(measurement.points.begin(), measurement.points.end(),
                           [&](const CurvePoint& busy) {
                             return busy.certainty == PointCertainty::kAtLeast &&
                                    InCores(less.cpu) < 0.9 * busy.used;
                           });
      });
  if (!spins) return;
  for (CurvePoint& known : measurement.points) known.certainty = PointCertainty::kExact;
}

void CheckSpeed(const ProfilerSettings& settings, const ProfilerMemory& memory,
                const Measurement& measurement, WatchedPod& pod, Moment at) {
  if (pod.samples.size() <= kChecks) return;
  pod.samples.erase(pod.samples.begin(), pod.samples.end() - kChecks - 1);
  // Take the median of the stretches between the samples, because a stall affects only a few of
  // them.
  std::array<std::pair<double, size_t>, kChecks> stretches;
  for (size_t i = 0; i < kChecks; ++i) {
    const ProgressSample& begin = pod.samples[i];
    const ProgressSample& end = pod.samples[i + 1];
    stretches[i] = {(end.iterations - begin.iterations) / Seconds(end.last - begin.last).count(),
                    i};
  }
  std::sort(stretches.begin(), stretches.end());
  const auto [rate, i] = stretches[kChecks / 2];
  const ProgressSample& begin = pod.samples[i];
  const ProgressSample& end = pod.samples[i + 1];
  if (!begin.cpu || !end.cpu) return;
  std::vector<WindowReading> readings = {ReadStretch(*begin.cpu, *end.cpu, rate)};
  for (size_t other = 0; other < pod.others.size(); ++other) {
    readings.push_back(ReadStretch(begin.others[other], end.others[other], rate));
  }
  const auto point = PointOf(memory, pod, readings);
  if (!point) return;
  const auto expected = Expected(memory, measurement, pod, point->cpu);
  if (!expected || IsExplained(measurement, pod, *point, *expected, settings.agreement) ||
      std::abs(rate - *expected) <= settings.drift * *expected) {
    pod.off_since.reset();
  } else if (!pod.off_since) {
    pod.off_since = at.now;
  }
}

void Measure(ProfilerPass& pass, Measurement& measurement) {
  // Choose the pods to measure closely.
  for (const std::string& uid : measurement.pods) {
    WatchedPod& pod = pass.memory.pods.at(uid);
    const bool wanted = WantsACloseLook(pass, measurement, pod);
    if (wanted == pod.closely) continue;
    if (wanted && measurement.closely.size() >= kMeasuredAtOnce) continue;
    pod.closely = wanted;
    if (pod.samples.size() > 1) pod.samples.erase(pod.samples.begin(), pod.samples.end() - 1);
    if (wanted) {
      measurement.closely.insert(uid);
    } else {
      measurement.closely.erase(uid);
      pod.samples.shrink_to_fit();
    }
  }

  for (const std::string& uid : measurement.closely) {
    WatchedPod& pod = pass.memory.pods.at(uid);
    if (pass.at.now < measurement.let_be_until) pod.samples.clear();
    const bool any_probed = AnyTogether(
        pass.memory, pod, [](const WatchedPod& each) { return each.probe && !IsBursting(each); });
    if (any_probed || measurement.IsProbing(uid)) continue;
    ReadPod(pass, measurement, pod);
  }
  LearnMemory(pass.memory, measurement);
  if (IsContradictory(measurement.points, pass.settings.agreement))
    LeaveAlone(measurement, pass.at);
  if (measurement.note == kUnsettledNote && SettledAgain(measurement)) measurement.note.clear();
}

}  // namespace synergy