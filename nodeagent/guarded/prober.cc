#include "nodeagent/guarded/prober.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "core/wall_time.h"
#include "nodeagent/guarded/temporary_writes.h"

namespace synergy::nodeagent {
namespace {

constexpr Duration kInterval = std::chrono::seconds(1);
// How long after the end of a probe the guardian restores the quota if this process has not.
constexpr Duration kMargin = std::chrono::seconds(5);

// Returns the container whose speed is measured; null if the pod must not be probed.
const wire::ResizeStatus::Container* ProbedContainer(const wire::ResizeStatus& pod) {
  return pod.managed && !pod.deleting ? TrainingContainer(pod) : nullptr;
}

}  // namespace

Prober::Prober(const NodePods& pods, CpuQuotas& quotas, TemporaryWriter& writer, PodActs& acts,
               const Clock& clock, Logger& log, kube::EventRecorder& events,
               metrics::NodeAgentMetrics& metrics)
    : pods_(pods),
      quotas_(quotas),
      writer_(writer),
      acts_(acts),
      clock_(clock),
      log_(log),
      events_(events),
      metrics_(metrics) {}

Duration Prober::Step() {
  if (!begun_) {
    auto first = pods_.FirstProbes();
    if (!first) return kInterval;
    passed_ = *std::move(first);
    begun_ = true;
  }
  std::map<std::string, PodPointer> pods;
  for (PodPointer& pod : pods_.All()) {
    std::string uid = pod->uid;
    pods.emplace(std::move(uid), std::move(pod));
  }
  for (auto entry = running_.begin(); entry != running_.end();) {
    const std::string_view outcome = LookAtRunning(pods, entry->second);
    if (!outcome.empty()) End(entry->second, outcome);
    entry = outcome.empty() ? std::next(entry) : running_.erase(entry);
  }
  std::erase_if(passed_, [&](const auto& entry) {
    const auto pod = pods.find(entry.first);
    if (pod == pods.end()) return true;
    const CpuProbe* const probe = ProbeOf(*pod->second);
    return probe == nullptr || *probe != entry.second;
  });
  for (const auto& [uid, pod] : pods) {
    const CpuProbe* const probe = ProbeOf(*pod);
    const auto* const container = ProbedContainer(*pod);
    if (probe == nullptr || container == nullptr || probe->until <= clock_.WallNow()) continue;
    if (!passed_.try_emplace(uid, *probe).second) continue;
    Begin(pod, *container, *probe);
  }
  Publish();
  Duration next = kInterval;
  for (const auto& [uid, running] : running_) next = std::min(next, running.end - clock_.Now());
  return std::max(next, Duration::zero());
}

std::string_view Prober::LookAtRunning(const std::map<std::string, PodPointer>& pods,
                                       Running& running) {
  if (clock_.Now() >= running.end) return "done";
  const auto pod = pods.find(running.pod->uid);
  if (pod == pods.end()) return "ended_early";
  const CpuProbe* const probe = ProbeOf(*pod->second);
  const auto* const container = ProbedContainer(*pod->second);
  if (probe == nullptr || *probe != running.probe || container == nullptr ||
      container->id != running.container_id) {
    return "ended_early";
  }
  LookAtQuotas(running);
  return "";
}

void Prober::LookAtQuotas(Running& running) {
  if (running.reading.wiped || IsInForce(running)) return;
  running.reading.wiped = true;
  log_.Warn("the quota of a probe no longer exists",
            {{"pod", running.pod->Key()}, {"file", running.plan.back().file}});
}

bool Prober::IsInForce(const Running& running) {
  return std::all_of(running.plan.begin(), running.plan.end(), [&](const PlannedQuota& planned) {
    const Result<std::string> text = quotas_.Read(planned.file);
    // A group that is gone does not count as rewritten.
    return text ? *text == planned.text : text.error().code == ErrorCode::kNotFound;
  });
}

void Prober::End(const Running& ended, std::string_view outcome) {
  acts_.Note(ended.pod->uid, "probe", clock_.WallNow());
  // The quotas may have changed since the last look.
  if (ended.reading.wiped || !IsInForce(ended)) outcome = "wiped";
  for (const PlannedQuota& planned : std::views::reverse(ended.plan)) {
    const Result<> restored = writer_.End(planned.file);
    // kNotFound: the guardian has already restored the quota.
    if (restored || restored.error().code == ErrorCode::kNotFound) continue;
    metrics_.CountError("quota_not_restored");
    log_.Error(
        "the quota of a probe is still there",
        {{"pod", ended.pod->Key()}, {"file", planned.file}, {"error", restored.error().message}});
  }
  metrics_.CountProbe(outcome);
  log_.Info("probe ended", {{"pod", ended.pod->Key()}, {"outcome", outcome}});
}

void Prober::Begin(const PodPointer& pod, const wire::ResizeStatus::Container& container,
                   const CpuProbe& probe) {
  const auto probed = std::find_if(running_.begin(), running_.end(),
                                   [](const auto& entry) { return !entry.second.probe.burst; });
  if (!probe.burst && probed != running_.end())
    return Refuse(*pod, probe, fmt::format("{} is being probed", probed->second.pod->Key()));
  Result<QuotaPlan> plan = quotas_.Plan(*pod, container, probe);
  if (!plan) return Refuse(*pod, probe, plan.error().message);
  const Moment now = clock_.Present();
  const Duration time = std::min(probe.until - now.wall, kLongestWrite - kMargin);
  acts_.Note(pod->uid, "probe", now.wall);
  for (size_t i = 0; i < plan->size(); ++i) {
    const Result<> written = writer_.Begin((*plan)[i].file, (*plan)[i].text, time + kMargin);
    if (written) continue;
    // If End() fails, the guardian restores the quota when its time is over.
    while (i > 0) static_cast<void>(writer_.End((*plan)[--i].file));
    return Refuse(*pod, probe, written.error().message);
  }
  const std::string until = ToTimeText(now.wall + time);
  log_.Info("probe begun", {{"pod", pod->Key()},
                            {"cpu_milli", probe.cpu.count()},
                            {"burst", probe.burst},
                            {"until", until},
                            {"file", plan->back().file}});
  const std::string message =
      probe.burst ? fmt::format("May use up to {}m of CPU, which other pods leave unused, until {}",
                                probe.cpu.count(), until)
                  : fmt::format(
                        "Has at most {}m of CPU until {}, to measure how fast it trains "
                        "with that",
                        probe.cpu.count(), until);
  events_.Record(
      kube::AboutPod(*pod, "Normal", probe.burst ? "SynergyBurst" : "SynergyProbed", message));
  running_.insert_or_assign(pod->uid, Running{.pod = pod,
                                              .container_id = container.id,
                                              .probe = probe,
                                              .plan = *std::move(plan),
                                              .end = now.now + time,
                                              .reading = {.cpu = probe.cpu, .since = now.wall}});
}

void Prober::Refuse(const wire::ResizeStatus& pod, const CpuProbe& probe, const std::string& why) {
  metrics_.CountProbe("refused");
  log_.Warn("probe refused", {{"pod", pod.Key()}, {"cpu_milli", probe.cpu.count()}, {"why", why}});
}

void Prober::Publish() {
  const std::lock_guard lock(mutex_);
  readings_.clear();
  for (const auto& [uid, running] : running_) readings_.emplace(uid, running.reading);
}

std::map<std::string, ProbeReading> Prober::Readings() const {
  const std::lock_guard lock(mutex_);
  return readings_;
}

}  // namespace synergy::nodeagent
