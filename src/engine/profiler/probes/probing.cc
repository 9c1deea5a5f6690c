#include "engine/profiler/probes/probing.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/state/fit.h"
#include "core/rounding.h"
#include "core/text/quantity_text.h"
#include "engine/profiler/gang_members.h"
#include "engine/profiler/hints.h"
#include "engine/profiler/measuring.h"
#include "engine/profiler/probes/bursts.h"
#include "engine/profiler/probes/probe_cost.h"
#include "engine/profiler/publishing.h"
#include "profile/measured/curve_probe.h"
#include "profile/measured/measured_curve.h"

namespace synergy {
namespace {

// A probe is ended this long before it would end by itself.
constexpr Duration kLastMoment = std::chrono::seconds(2);
// How long the agent may take to report that a probe has begun.
constexpr Duration kPatience = std::chrono::seconds(45);
// Extra time allowed from the probe's start to the first sample, and from the last sample to its
// end.
constexpr Duration kSlack = std::chrono::seconds(10);
// Interval between examinations of a running probe.
constexpr Duration kLook = std::chrono::seconds(4);
constexpr Duration kTryAgain = std::chrono::seconds(30);
constexpr int32_t kMostFailures = 3;
// Largest difference between a rate and the rate that the used CPU allows.
constexpr double kFits = 0.10;
// Batches that were prepared before the probe can explain at most this many iterations beyond those
// that the used CPU allows. Assumes two batches per worker, and at most one worker per used core.
constexpr double kLeastQueue = 16;
constexpr double kQueuePerCore = 2;
constexpr int kQueueWindows = 3;
constexpr double kHalf = 0.5;
constexpr Duration kTrial = std::chrono::minutes(3);  // of a new conclusion
constexpr double kLeaves = 1.15;                      // factor on the CPU use for clearly more

bool IsWaitedFor(const ProfilerPass& pass, NodeIndex index) {
  const NodeState& node = pass.cluster.node(index);
  return std::any_of(pass.memory.waiting.begin(), pass.memory.waiting.end(), [&](const auto& pod) {
    return pod->requests.main.gpus <= node.Free().gpus && MayGoTo(*pod, node);
  });
}

bool AnyProbed(const NodeState& node, WallTime now) {
  return std::any_of(node.detail->pods.begin(), node.detail->pods.end(), [now](const auto& pod) {
    return pod->fungible && pod->fungible->ProbedAt(now);
  });
}

// Returns whether the amount is at least half of the floor, or leaves the pod clearly more than it
// uses.
bool IsLowEnough(const ProbePlan& plan, const WatchedPod& pod) {
  if (InCores(plan.cpu) >= kHalf * InCores(pod.pod->fungible->floor.cpu)) return true;
  return InCores(plan.cpu) >= kLeaves * pod.window->cpu.value_or(0);
}

void Complete(const ProfilerPass& pass, Measurement& measurement) {
  measurement.complete = true;
  measurement.on_trial_until = pass.at.now + kTrial;
  measurement.confirmed = measurement.informative > 0 &&
                          Explain(measurement.points, pass.settings.agreement).has_value();
}

bool MayNotBeProbed(const WatchedPod& pod) {
  const bool other = pod.probe || pod.burst;
  return !pod.window || !pod.window->cpu || (other && !IsBursting(pod)) || IsBeingChanged(*pod.pod);
}

// Returns the last windows of all pods that train together. REQUIRES: each has one.
std::vector<WindowReading> WindowsOf(ProfilerMemory& memory, WatchedPod& head) {
  std::vector<WindowReading> windows;
  ForEachTogether(memory, head, [&](const WatchedPod& pod) { windows.push_back(*pod.window); });
  return windows;
}

struct ProbedPod {
  ProbeRange range;  // for the whole gang
  double scale = 1;  // RunningProbe::scale
};

ProbedPod RangeOf(ProfilerMemory& memory, WatchedPod& head) {
  std::optional<ProbeRange> all;
  ForEachTogether(memory, head, [&](const WatchedPod& pod) {
    const MilliCpu amount = AmountOf(pod);
    const double used = *pod.window->cpu;
    const bool bound = IsBound(*pod.window, amount, pod.pod->fungible->cpu_limit.has_value());
    // The CPU-bound pod determines the gang's speed.
    const bool first = !all || (bound && !all->bound) || (bound && used < all->used);
    if (first) {
      all = {.amount = amount, .used = used, .bound = bound};
    } else if (!bound && !all->bound) {
      all->amount = std::min(all->amount, amount);
      all->used = std::max(all->used, used);
    }
  });
  ProbedPod probed{.range = *all};
  const double own = *head.window->cpu;
  if (all->used > kUsesMore * own) probed.scale = all->used / own;
  probed.range.floor = FromCores(probed.scale * InCores(head.pod->fungible->floor.cpu));
  return probed;
}

// Chooses, among the pods that may be probed now, the one on the node with the largest fraction of
// free CPU.
WatchedPod* Choose(ProfilerPass& pass, Measurement& measurement) {
  WatchedPod* chosen = nullptr;
  double most_free = -1;
  for (const std::string& uid : measurement.closely) {
    WatchedPod& pod = pass.memory.pods.at(uid);
    if (AnyTogether(pass.memory, pod, MayNotBeProbed)) continue;
    if (pod.memory.waits) continue;  // a probe would measure the storage
    const auto point = PointOf(pass.memory, pod, WindowsOf(pass.memory, pod));
    if (point && HasFewerWorkers(*point, measurement.points, pass.settings.agreement)) continue;
    const NodeState& node = pass.cluster.node(pod.node);
    if (pass.memory.probed.contains(pod.node) || AnyProbed(node, pass.at.wall)) continue;
    const double free = InCores(node.Free().cpu) / std::max(InCores(node.allocatable.cpu), 1e-3);
    if (free <= most_free || IsWaitedFor(pass, pod.node)) continue;
    most_free = std::max(free, 0.0);
    chosen = &pod;
  }
  return chosen;
}

enum class Outcome : uint8_t { kInformative, kNothing, kInterrupted };

RunningProbe* Find(Measurement& measurement, const std::string& uid) {
  const auto found = std::find_if(measurement.running.begin(), measurement.running.end(),
                                  [&](const RunningProbe& probe) { return probe.uid == uid; });
  return found == measurement.running.end() ? nullptr : &*found;
}

// Removes `probe` from the measurement.
void End(ProfilerPass& pass, Measurement& measurement, const RunningProbe& probe, Outcome outcome,
         std::string why) {
  ProfilerAction action;
  action.kind = ProfilerActionKind::kEndProbe;
  action.pod = probe.pod;
  action.probe = probe.probe;
  action.why = std::move(why);
  pass.Do(std::move(action));
  measurement.costs.push_back(CostUntilItsEnd(pass, probe, pass.memory.pods.at(probe.uid)));
  measurement.next_probe = pass.at.now;
  switch (outcome) {
    case Outcome::kInformative:
      measurement.failures = 0;
      ++measurement.informative;
      break;
    case Outcome::kNothing:
      ++measurement.failures;
      measurement.next_probe += kTryAgain;
      break;
    case Outcome::kInterrupted:
      measurement.next_probe += kTryAgain;
      break;
  }
  DropProbe(pass.memory, measurement, probe.uid);
}

// Returns the points plus the expected results of the running probes.
CurvePoints Foreseen(const Measurement& measurement, double agreement) {
  CurvePoints points = measurement.points;
  const auto cost = CpuSecondsOf(points);
  const double best = BestOf(points);
  for (const RunningProbe& probe : measurement.running) {
    CurvePoint point{.cpu = FromCores(probe.scale * InCores(probe.probe.cpu)),
                     .throughput = probe.planned,
                     .bound = probe.planned < best * (1 - agreement),
                     .quota = true};
    point.used = cost ? std::min(InCores(point.cpu), *cost * point.throughput) : 0;
    AddPoint(points, point);
  }
  return points;
}

// Returns the result of the window under the probe; nullopt if it does not count, or not yet.
std::optional<CurvePoint> Read(const ProfilerPass& pass, const Measurement& measurement,
                               const RunningProbe& probe, const WatchedPod& pod) {
  const ProfilerSettings& settings = pass.settings;
  const WindowRules rules{settings.probe_window, settings.longest_window, settings.agreement};
  const WindowReading reading = ReadWindow(pod.samples, rules);
  if (reading.state != WindowState::kSettled || !reading.cpu) return std::nullopt;
  const std::vector<WindowReading> windows = ReadWindows(pod.samples, rules);
  const auto cost = CpuSecondsOf(measurement.points);
  if (reading.throttled > kThrottled && cost && *cost > 0) {
    // The pod is faster than its CPU allows: its work is less than expected, or it uses batches
    // that were prepared before.
    const double good_for = probe.scale * *reading.cpu / *cost;
    const double length = Seconds(reading.length).count();
    const bool long_enough = reading.length >= settings.probe_window * kQueueWindows &&
                             (reading.rate - good_for) * length >= probe.queue;
    if (reading.rate > good_for * (1 + kFits) && !long_enough) return std::nullopt;
  }
  CurvePoint point{.cpu = FromCores(probe.scale * InCores(probe.probe.cpu)),
                   .throughput = reading.rate,
                   .used = probe.scale * *reading.cpu,
                   .bound = IsBound(reading, probe.probe.cpu, true),
                   .quota = true,
                   .spread = reading.spread};
  // A quota stops all threads for part of each period, including the thread that feeds the GPU.
  // That never happens to a pod without a limit.
  const bool slower = cost && reading.rate < std::min(probe.best, InCores(point.cpu) / *cost) *
                                                 (1 - 2 * settings.agreement);
  // If CPU limits another pod of the gang, that pod determines the speed.
  for (size_t i = 0; i < pod.others.size(); ++i) {
    const auto other = PointOf(pass.memory.pods.at(pod.others[i]), windows[i + 1]);
    if (!other || (!point.bound && other->bound)) return std::nullopt;
  }
  const bool workers = !point.bound && IsWholeNumberOfCores(*reading.cpu);
  if (workers || (slower && pod.pod->fungible->enforcement == Enforcement::kShared))
    point.certainty = PointCertainty::kAtLeast;
  return point;
}

void Follow(ProfilerPass& pass, Measurement& measurement, RunningProbe& probe) {
  if (!probe.written) return;
  const WatchedPod& pod = pass.memory.pods.at(probe.uid);
  probe.pod = pod.pod;
  if (IsWaitedFor(pass, probe.node)) {
    End(pass, measurement, probe, Outcome::kInterrupted, "a pod waits for the node");
    return;
  }
  const auto is_being_changed = [](const WatchedPod& each) { return IsBeingChanged(*each.pod); };
  if (AnyTogether(pass.memory, pod, is_being_changed)) {
    End(pass, measurement, probe, Outcome::kInterrupted, "the pod is being changed");
    return;
  }
  const bool is_on = pod.probe && pod.probe->cpu == probe.probe.cpu;
  if (!is_on) {
    if (probe.since || pass.at.now >= probe.give_up)
      End(pass, measurement, probe, Outcome::kNothing, "the node's agent does not apply it");
    return;
  }
  probe.since = pod.probe->since;
  if (pod.probe->wiped) {
    End(pass, measurement, probe, Outcome::kNothing, "another program has changed the quota");
    return;
  }
  if (const auto point = Read(pass, measurement, probe, pod)) {
    const double rate = point->throughput;
    NoteCost(measurement, *point);
    Add(measurement, *point, pass.settings.agreement);
    // The pod is as fast with less CPU. This result holds even if the pod still uses all its CPU,
    // as a pod that waits actively does.
    if (rate >= (1 - pass.settings.agreement) * BestOf(measurement.points) &&
        !IsCensored(measurement.points, pass.settings.agreement) &&
        Explain(measurement.points, pass.settings.agreement)) {
      measurement.confirmed = true;
    }
    End(pass, measurement, probe, Outcome::kInformative,
        fmt::format("{:.3g} iterations a second", rate));
    return;
  }
  // Include the cost until the next examination ends the probe and the quota is removed.
  const double lost = LostTo(CostSoFar(probe, pod), measurement.least_cost) +
                      LostTo(CostUntilItsEnd(pass, probe, pod, kLook), measurement.least_cost);
  if (lost > Budget(pass, measurement, pod)) {
    measurement.note = kTooDearNote;
    End(pass, measurement, probe, Outcome::kNothing, "it costs too much");
    while (!measurement.running.empty()) {
      End(pass, measurement, measurement.running.front(), Outcome::kInterrupted,
          "another one costs too much");
    }
    Complete(pass, measurement);
    return;
  }
  if (pass.at.wall >= probe.probe.until - kLastMoment)
    End(pass, measurement, probe, Outcome::kNothing, "its speed does not settle");
}

// Describes the cost of a probe. Speeds are in iterations a second.
struct ProbeLoss {
  double best = 0;        // without the probe
  double used = 0;        // cores used at that speed; 0 if CPU does not bound it
  double worst = 0;       // during the probe
  double per_second = 0;  // iterations lost in each second
};

ProbeLoss LossOf(const ProbePlan& plan, const ProbeRange& range, const WatchedPod& pod,
                 double least_cost) {
  ProbeLoss loss;
  loss.best = std::max(pod.window->rate, pod.fastest);
  loss.used = range.bound ? range.used : 0;
  // At worst, the speed falls in proportion to the CPU, because the pod may have less spare CPU
  // than the points suggest.
  loss.worst = std::min(loss.best * InCores(plan.cpu) / *pod.window->cpu, plan.expected);
  loss.per_second = std::max(AtBest(loss.best, loss.used, least_cost) - loss.worst, 0.0);
  return loss;
}

// Returns how long a probe may last; nullopt if the budget is too small for a result. The probe's
// end is written with the probe, so its cost is bounded even if this process stops.
std::optional<Duration> TimeFor(const ProfilerPass& pass, const Measurement& measurement,
                                const WatchedPod& pod, const ProbeLoss& loss) {
  // After a probe that did not settle, assume that the next probe takes the longest time.
  const Duration least = measurement.failures > 0
                             ? kLongestProbe
                             : pass.settings.probe_lead + 2 * pass.settings.probe_window + kSlack;
  const double affordable = Budget(pass, measurement, pod);
  if (loss.per_second * Seconds(least).count() > affordable) return std::nullopt;
  if (loss.per_second * Seconds(kLongestProbe).count() <= affordable) return kLongestProbe;
  return ToDuration(Seconds(affordable / loss.per_second));
}

}  // namespace

void AbandonProbe(ProfilerPass& pass, Measurement& measurement, const std::string& uid,
                  std::string why) {
  if (const RunningProbe* const probe = Find(measurement, uid))
    End(pass, measurement, *probe, Outcome::kInterrupted, std::move(why));
}

void DropProbe(ProfilerMemory& memory, Measurement& measurement, const std::string& uid) {
  const RunningProbe* const probe = Find(measurement, uid);
  if (probe == nullptr) return;
  if (const auto pod = memory.pods.find(uid); pod != memory.pods.end()) {
    if (probe->begun_at) measurement.costs.push_back(CostSoFar(*probe, pod->second));
    pod->second.samples.clear();
  }
  memory.probed.erase(probe->node);
  measurement.running.erase(measurement.running.begin() + (probe - measurement.running.data()));
}

void BeginProbe(ProfilerPass& pass, const MeasurementKey& key, Measurement& measurement) {
  if (measurement.complete || measurement.points.empty()) return;
  if (pass.at.now < measurement.next_probe ||
      pass.memory.probed.size() >= pass.settings.probes_at_once) {
    return;
  }
  if (measurement.note == kUnsettledNote) return;
  if (measurement.estimate) return Complete(pass, measurement);
  // The results of running probes may make a further probe possible.
  const bool first = measurement.running.empty();
  WatchedPod* const pod = Choose(pass, measurement);
  if (pod == nullptr) return;
  if (!TakesLead(pass, key, measurement)) return;
  const auto [range, scale] = RangeOf(pass.memory, *pod);
  auto plan =
      NextProbe(Foreseen(measurement, pass.settings.agreement), range, pass.settings.agreement);
  if (plan) plan->cpu = std::max(FromCores(InCores(plan->cpu) / scale), kLeastProbe);
  if (!plan || !IsLowEnough(*plan, *pod) || measurement.probes >= pass.settings.most_probes) {
    if (first) Complete(pass, measurement);
    return;
  }
  if (first) CountHours(pass, measurement);
  const ProbeLoss loss = LossOf(*plan, range, *pod, measurement.least_cost);
  const std::optional<Duration> time = TimeFor(pass, measurement, *pod, loss);
  if (!time || measurement.failures >= kMostFailures) {
    if (!first) return;
    measurement.note = time ? "probes have had no result" : kTooDearNote;
    Complete(pass, measurement);
    return;
  }
  ++measurement.probes;
  RunningProbe probe{.uid = pod->pod->uid,
                     .pod = pod->pod,
                     .node = pod->node,
                     .probe = {plan->cpu, pass.at.wall + *time},
                     .expected = loss.worst,
                     .planned = plan->expected,
                     .most_loss = loss.per_second * Seconds(*time).count(),
                     .best = loss.best,
                     .used = loss.used,
                     .scale = scale,
                     .queue = std::max(kLeastQueue, kQueuePerCore * *pod->window->cpu),
                     .begun = pass.at.now,
                     .give_up = pass.at.now + kPatience};
  DropBurst(pass.memory, *pod);
  pass.memory.probed.emplace(pod->node, key);
  ProfilerAction action;
  action.kind = ProfilerActionKind::kProbe;
  action.pod = probe.pod;
  action.probe = probe.probe;
  action.why = fmt::format("to measure its speed with {} of CPU", ToQuantityText(plan->cpu));
  pass.Do(std::move(action));
  measurement.running.push_back(std::move(probe));
}

void FollowProbes(ProfilerPass& pass, Measurement& measurement) {
  std::vector<std::string> uids;
  for (const RunningProbe& probe : measurement.running) uids.push_back(probe.uid);
  for (const std::string& uid : uids) {
    if (RunningProbe* const probe = Find(measurement, uid)) Follow(pass, measurement, *probe);
  }
}

}  // namespace synergy
