#include "engine/profiler/probes/bursts.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/rounding.h"
#include "core/text/quantity_text.h"
#include "engine/profiler/measuring.h"
#include "engine/profiler/probes/probe_cost.h"
#include "engine/profiler/publishing.h"

namespace synergy {
namespace {

// How long to collect counters of CPU time before they show a pod's use.
constexpr Duration kUseTime = std::chrono::seconds(20);
// Counters older than this do not describe the present.
constexpr Duration kOldUse = std::chrono::seconds(30);
constexpr size_t kMostUses = 32;
// How long the agent may take to report that a burst has begun.
constexpr Duration kBurstPatience = std::chrono::seconds(45);
constexpr Duration kBurstAgain = std::chrono::seconds(30);
// A burst may be extended in its last seconds. An extension counts as another burst.
constexpr Duration kProlonged = std::chrono::seconds(10);
constexpr int32_t kMostBursts = 3;
// A burst ends if other pods use more than this fraction of the CPU that it adds.
constexpr double kTolerance = 0.1;
// The least CPU that a burst must add, as a fraction of the limit.
constexpr double kLeastGain = 0.1;

// Returns the pod's CPU use over the whole time of its counters; nullopt if that time is too short.
std::optional<WindowReading> UseOf(const WatchedPod& pod) {
  if (pod.uses.size() < 2) return std::nullopt;
  const CpuUse& begin = pod.uses.front();
  const CpuUse& end = pod.uses.back();
  if (end.at - begin.at < kUseTime) return std::nullopt;
  const double seconds = Seconds(end.at - begin.at).count();
  WindowReading reading;
  reading.cpu = Seconds(end.used - begin.used).count() / seconds;
  reading.throttled = Seconds(end.throttled - begin.throttled).count() / seconds;
  return reading;
}

// Returns the pod's highest use between two reports, in cores; nullopt if it is unknown.
std::optional<double> PeakOf(const WatchedPod& pod, Instant now) {
  if (!UseOf(pod) || now - pod.uses_at > kOldUse) return std::nullopt;
  double most = 0;
  for (size_t i = 1; i < pod.uses.size(); ++i) {
    const CpuUse& begin = pod.uses[i - 1];
    const CpuUse& end = pod.uses[i];
    most =
        std::max(most, Seconds(end.used - begin.used).count() / Seconds(end.at - begin.at).count());
  }
  return most;
}

bool IsKeptBack(const WatchedPod& pod) {
  const ManagedContainer& fungible = *pod.pod->fungible;
  if (!fungible.cpu_limit || !pod.gang.empty() || pod.probe) return false;
  if (pod.uses.empty() || pod.uses.front().at < pod.same_quota_since) return false;
  const auto use = UseOf(pod);
  return use && IsBound(*use, *fungible.cpu_limit, true);
}

// Returns whether a higher speed of its pods could still add to the measurement.
bool IsOpen(const ProfilerPass& pass, const Measurement& measurement) {
  return !measurement.complete && !measurement.estimate &&
         pass.at.now >= measurement.let_be_until && measurement.note != kUnsettledNote;
}

bool MayBurst(const ProfilerPass& pass, const WatchedPod& pod) {
  const ManagedContainer& fungible = *pod.pod->fungible;
  const Measurement& measurement = pass.memory.measurements.at(pod.key);
  return IsKeptBack(pod) && !pod.burst && pod.bursts < kMostBursts &&
         pass.at.now >= pod.next_burst && pass.at.now - pod.uses_at <= kOldUse && !fungible.probe &&
         !fungible.WholeCpus() && !IsBeingChanged(*pod.pod) && IsOpen(pass, measurement) &&
         !measurement.IsProbing(pod.pod->uid);
}

// Returns the node's CPU, in cores, that no pod uses and no burst has. Negative if the bursts have
// more than other pods leave. A pod with unknown use counts with its requests.
double UnusedOn(const ProfilerPass& pass, NodeIndex index) {
  double unused = std::max(InCores(pass.cluster.node(index).Free().cpu), 0.0);
  const auto on_node = pass.memory.on_node.find(index);
  if (on_node == pass.memory.on_node.end()) return unused;
  for (const std::string& uid : on_node->second) {
    const auto found = pass.memory.pods.find(uid);
    if (found == pass.memory.pods.end()) continue;
    const WatchedPod& pod = found->second;
    if (pod.burst) {
      // The pod's own announced growth takes nothing from other pods.
      const ManagedContainer& fungible = *pod.pod->fungible;
      const MilliCpu own = std::max(pod.burst->limit, fungible.cpu_limit.value_or(MilliCpu(0)));
      unused += InCores(fungible.AnnouncedGrowth().cpu) - InCores(pod.burst->probe.cpu - own);
    } else if (const auto peak = PeakOf(pod, pass.at.now)) {
      unused += std::max(InCores(pod.pod->fungible->requested.cpu) - *peak, 0.0);
    }
  }
  return unused;
}

void EndBurst(ProfilerPass& pass, WatchedPod& pod, std::string why) {
  ProfilerAction action;
  action.kind = ProfilerActionKind::kEndProbe;
  action.pod = pod.pod;
  action.probe = pod.burst->probe;
  action.why = std::move(why);
  pass.Do(std::move(action));
  pod.next_burst = pass.at.now + kBurstAgain;
  DropBurst(pass.memory, pod);
}

// Begins the pod's burst, or extends it.
void Request(ProfilerPass& pass, WatchedPod& pod, Burst burst) {
  burst.probe.until = pass.at.wall + kLongestProbe;
  burst.give_up = pass.at.now + kBurstPatience;
  burst.seen = false;
  ++pod.bursts;
  pass.memory.bursting.insert(pod.pod->uid);
  ProfilerAction action;
  action.kind = ProfilerActionKind::kProbe;
  action.pod = pod.pod;
  action.probe = burst.probe;
  action.why = fmt::format("to use {} of CPU, which other pods leave unused, and measure its speed",
                           ToQuantityText(burst.probe.cpu));
  pass.Do(std::move(action));
  pod.burst = std::move(burst);
}

// Ends the pod's burst if necessary, or extends it in its last seconds.
void Follow(ProfilerPass& pass, WatchedPod& pod) {
  Burst& burst = *pod.burst;
  const bool is_on = pod.probe && pod.probe->cpu == burst.probe.cpu;
  const ManagedContainer& fungible = *pod.pod->fungible;
  // If the limit grows to at least the burst's limit, the burst lasts until the kubelet has applied
  // the new limit. The kernel could refuse a smaller limit during the burst.
  if (fungible.cpu_limit != burst.limit &&
      (fungible.Settled() || fungible.cpu_limit < burst.probe.cpu)) {
    return EndBurst(pass, pod, "its limit has changed");
  }
  if (pass.at.wall >= burst.probe.until) return EndBurst(pass, pod, "its time is over");
  if (is_on && pod.probe->wiped) {
    pod.bursts = kMostBursts;
    return EndBurst(pass, pod, "another program has changed the quota");
  }
  if (is_on) {
    burst.seen = true;
  } else if (!burst.seen && pass.at.now >= burst.give_up) {
    pod.bursts = kMostBursts;
    return EndBurst(pass, pod, "the node's agent does not apply it");
  }
  const double given = InCores(burst.probe.cpu - burst.limit);
  if (UnusedOn(pass, pod.node) < -kTolerance * given)
    return EndBurst(pass, pod, "other pods of the node use their CPU");
  // Extend the burst, because the limit grows only some time after the measurement.
  const bool ends = pass.at.wall >= burst.probe.until - kProlonged;
  if (ends && is_on && fungible.cpu_limit == burst.limit && pod.bursts < kMostBursts)
    Request(pass, pod, burst);
}

void BeginBurst(ProfilerPass& pass, WatchedPod& pod, double more) {
  const ManagedContainer& fungible = *pod.pod->fungible;
  const MilliCpu limit = *fungible.cpu_limit;
  ResourceVector amounts = fungible.requested;
  amounts.cpu = std::min(limit + FromCores(more), MostOf(pass.cluster.node(pod.node), *pod.pod));
  const MilliCpu cpu = std::min(amounts.cpu, fungible.WithinBounds(amounts).cpu);
  if (InCores(cpu) < (1 + kLeastGain) * InCores(limit)) return;
  Request(pass, pod, {.probe = {.cpu = cpu, .burst = true}, .limit = limit});
}

}  // namespace

void NoteUse(ProfilerMemory& memory, WatchedPod& pod, const PodProgress& progress, Moment at) {
  if (!progress.cpu) return;
  if (pod.probe != progress.probe) pod.same_quota_since = progress.cpu->at;
  // The pod's container was restarted.
  if (!pod.uses.empty() && progress.cpu->used < pod.uses.back().used) pod.uses.clear();
  if (!pod.uses.empty() && progress.cpu->at <= pod.uses.back().at) return;
  pod.uses.push_back(*progress.cpu);
  pod.uses_at = at.now;
  while (pod.uses.size() > 2 &&
         (pod.uses.size() > kMostUses || pod.uses.back().at - pod.uses[1].at >= kUseTime)) {
    pod.uses.erase(pod.uses.begin());
  }
  if (IsKeptBack(pod)) {
    memory.kept_back.insert(pod.pod->uid);
  } else {
    memory.kept_back.erase(pod.pod->uid);
  }
}

void PlanBursts(ProfilerPass& pass) {
  ProfilerMemory& memory = pass.memory;
  for (const std::string& uid : std::set<std::string>(memory.bursting)) {
    Follow(pass, memory.pods.at(uid));
  }
  std::map<NodeIndex, std::vector<WatchedPod*>> by_node;
  for (const std::string& uid : memory.kept_back) {
    WatchedPod& pod = memory.pods.at(uid);
    if (MayBurst(pass, pod)) by_node[pod.node].push_back(&pod);
  }
  for (const auto& [node, pods] : by_node) {
    const double each = UnusedOn(pass, node) / static_cast<double>(pods.size());
    for (WatchedPod* const pod : pods) {
      if (memory.probed.size() + memory.bursting.size() >= pass.settings.probes_at_once) return;
      BeginBurst(pass, *pod, each);
    }
  }
}

void OnBurstResult(ProfilerMemory& memory, WatchedPod& pod, bool done, Moment at) {
  if (done || !pod.burst) return;
  --pod.bursts;
  pod.next_burst = at.now + kBurstAgain;
  DropBurst(memory, pod);
}

void DropBurst(ProfilerMemory& memory, WatchedPod& pod) {
  if (!pod.burst) return;
  memory.bursting.erase(pod.pod->uid);
  pod.burst.reset();
}

}  // namespace synergy
