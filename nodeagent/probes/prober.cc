#include "nodeagent/probes/prober.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "core/wall_time.h"
#include "nodeagent/probes/quota_table.h"

namespace synergy::nodeagent {
namespace {

constexpr Duration kInterval = std::chrono::seconds(1);
// The guardian ends a probe this much later: while both run, this process does it.
constexpr Duration kMargin = std::chrono::seconds(5);

// Returns the container whose speed is measured; null if the pod must not be probed.
const wire::ResizeStatus::Container* ProbedContainer(const wire::ResizeStatus& pod) {
  return pod.managed && !pod.deleting ? TrainingContainer(pod) : nullptr;
}

}  // namespace

Prober::Prober(const NodePods& pods, CpuQuotas& quotas, QuotaWriter& writer, const Clock& clock,
               Logger& log, kube::EventRecorder& events, metrics::NodeAgentMetrics& metrics)
    : pods_(pods),
      quotas_(quotas),
      writer_(writer),
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
  if (running_) LookAtRunning(pods);
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
  if (!running_) return kInterval;
  return std::clamp(running_->end - clock_.Now(), Duration::zero(), kInterval);
}

void Prober::LookAtRunning(const std::map<std::string, PodPointer>& pods) {
  if (clock_.Now() >= running_->end) return End("done");
  const auto pod = pods.find(running_->pod->uid);
  if (pod == pods.end()) return End("ended_early");
  const CpuProbe* const probe = ProbeOf(*pod->second);
  const auto* const container = ProbedContainer(*pod->second);
  if (probe == nullptr || *probe != running_->probe || container == nullptr ||
      container->id != running_->container_id) {
    return End("ended_early");
  }
  LookAtQuota(*running_);
}

void Prober::LookAtQuota(Running& running) {
  if (running.reading.wiped) return;
  const Result<std::string> text = quotas_.Read(running.plan.file);
  if (text && *text == running.plan.text) return;
  running.reading.wiped = true;
  log_.Warn("the quota of a probe no longer exists",
            {{"pod", running.pod->Key()},
             {"file", running.plan.file},
             {"now", text ? *text : text.error().message}});
}

void Prober::End(std::string_view outcome) {
  const Running ended = *std::exchange(running_, std::nullopt);
  // Check for changes since the last look. A group that is gone proves nothing.
  const Result<std::string> text = quotas_.Read(ended.plan.file);
  if (ended.reading.wiped || (text && *text != ended.plan.text)) outcome = "wiped";
  metrics_.CountProbe(outcome);
  log_.Info("probe ended", {{"pod", ended.pod->Key()}, {"outcome", outcome}});
  const Result<> restored = writer_.End(ended.plan.file);
  // kNotFound: the guardian was first.
  if (restored || restored.error().code == ErrorCode::kNotFound) return;
  metrics_.CountError("quota_not_restored");
  log_.Error("the quota of a probe is still there",
             {{"pod", ended.pod->Key()}, {"error", restored.error().message}});
}

void Prober::Begin(const PodPointer& pod, const wire::ResizeStatus::Container& container,
                   const CpuProbe& probe) {
  if (running_) return Refuse(*pod, probe, fmt::format("{} is being probed", running_->pod->Key()));
  Result<QuotaPlan> plan = quotas_.Plan(*pod, container, probe.cpu);
  if (!plan) return Refuse(*pod, probe, plan.error().message);
  const Moment now = clock_.Present();
  const Duration time = std::min(probe.until - now.wall, kLongestQuota - kMargin);
  const Result<> written = writer_.Begin(plan->file, plan->text, time + kMargin);
  if (!written) return Refuse(*pod, probe, written.error().message);
  running_ = Running{.pod = pod,
                     .container_id = container.id,
                     .probe = probe,
                     .plan = *std::move(plan),
                     .end = now.now + time,
                     .reading = {.cpu = probe.cpu, .since = now.wall}};
  log_.Info("probe begun", {{"pod", pod->Key()},
                            {"cpu_milli", probe.cpu.count()},
                            {"until", ToTimeText(now.wall + time)},
                            {"file", running_->plan.file}});
  events_.Record({pod->pod_namespace, pod->name, pod->uid, "Normal", "SynergyProbed",
                  fmt::format("Has at most {}m of CPU until {}, to measure how fast it "
                              "trains with that",
                              probe.cpu.count(), ToTimeText(now.wall + time))});
}

void Prober::Refuse(const wire::ResizeStatus& pod, const CpuProbe& probe, const std::string& why) {
  metrics_.CountProbe("refused");
  log_.Warn("probe refused", {{"pod", pod.Key()}, {"cpu_milli", probe.cpu.count()}, {"why", why}});
}

void Prober::Publish() {
  const std::lock_guard lock(mutex_);
  readings_.clear();
  if (running_) readings_.emplace(running_->pod->uid, running_->reading);
}

std::map<std::string, ProbeReading> Prober::Readings() const {
  const std::lock_guard lock(mutex_);
  return readings_;
}

}  // namespace synergy::nodeagent
