#include "controller/profiles/oom_watch.h"

#include <utility>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "core/text/quantity_text.h"
#include "core/wall_time.h"

namespace synergy::controller {
namespace {

std::string Describe(const Pod& pod, MemoryHarm harm) {
  const ChangeRecord& change = *pod.fungible->change;
  return fmt::format(
      "{} soon after its memory was changed at {}; it requests {}",
      harm == MemoryHarm::kOomKilled ? "a container was OOM-killed"
                                     : "the pod was evicted because of memory pressure",
      ToTimeText(*change.MemoryChanged()), DescribeCpuAndMemory(pod.fungible->requested));
}

}  // namespace

OomWatch::OomWatch(ClusterState& state, kube::PodApi& pods, kube::EventRecorder& events,
                   std::function<bool()> may_act, const Clock& clock, Logger& log,
                   metrics::TunerMetrics& metrics, Duration watch)
    : state_(state),
      pods_(pods),
      events_(events),
      may_act_(std::move(may_act)),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      watch_(watch) {}

void OomWatch::Observe(const PodNews& news) {
  const Pod& pod = *news.pod;
  const WallTime now = clock_.WallNow();
  const bool left_by_itself = news.gone && !pod.deleting && MemoryChangedWithin(pod, now, watch_);
  const bool harmed = !news.gone && pod.fungible && !pod.fungible->memory_let_be &&
                      HarmAfterChange(pod, now, watch_);
  if (left_by_itself || harmed) {
    suspects_.insert_or_assign(pod.uid, Suspect{news.pod, news.gone});
  } else {
    suspects_.erase(pod.uid);
  }
}

void OomWatch::Act() {
  std::erase_if(suspects_,
                [this](const auto& entry) { return may_act_() && LookAt(entry.second); });
}

bool OomWatch::LookAt(const Suspect& suspect) {
  const WallTime now = clock_.WallNow();
  const Pod& pod = *suspect.pod;
  if (!suspect.gone) {
    const auto harm = HarmAfterChange(pod, now, watch_);
    return !harm || StopResizing(pod, *harm);
  }
  const Result<Pod> found = pods_.Get(pod.pod_namespace, pod.name);
  if (!found && found.error().code == ErrorCode::kNotFound) return true;
  if (!found) return !MemoryChangedWithin(pod, now, watch_);
  if (found->uid != pod.uid || !found->fungible || found->fungible->memory_let_be) return true;
  if (const auto harm = HarmAfterChange(*found, now, watch_)) Report(*found, *harm);
  return true;
}

bool OomWatch::StopResizing(const Pod& pod, MemoryHarm harm) {
  const std::string why = fmt::format("{} {}", ToString(harm), ToTimeText(clock_.WallNow()));
  const Result<Pod> answer = pods_.Annotate(pod, {{annotations::kMemoryLetBe, why}});
  if (answer) {
    state_.RefreshPod(*answer);
    Report(pod, harm);
    return true;
  }
  log_.Warn("cannot exclude a pod's memory from changes",
            {{"pod", pod.Key()}, {"error", answer.error().message}});
  return answer.error().code == ErrorCode::kNotFound || answer.error().code == ErrorCode::kConflict;
}

void OomWatch::Report(const Pod& pod, MemoryHarm harm) {
  metrics_.CountMemoryKill(ToString(harm));
  const std::string what = Describe(pod, harm);
  log_.Error("memory kill after a change",
             {{"pod", pod.Key()}, {"reason", ToString(harm)}, {"message", what}});
  events_.Record(kube::AboutPod(pod, "Warning", "SynergyMemoryKill",
                                what + "; its memory is not changed any more"));
}

}  // namespace synergy::controller
