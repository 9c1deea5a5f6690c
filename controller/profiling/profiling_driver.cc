#include "controller/profiling/profiling_driver.h"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "cluster/state/cluster_snapshot.h"

namespace synergy::controller {
namespace {

// How long a node stays watched after the last reason for it; longer than the interval between two
// queries of an unwatched node.
constexpr Duration kWatch = std::chrono::seconds(15);
// Stop a step after an outage has made this many actions fail, because each takes seconds to fail.
constexpr size_t kMostFailures = 5;
constexpr Duration kCleanUp = std::chrono::seconds(10);
// Grace time, because the profiler normally ends its probes itself.
constexpr Duration kLeftOver = std::chrono::seconds(5);

struct FoundPod {
  std::shared_ptr<const Pod> pod;
  const NodeState& node;
};

std::optional<FoundPod> FindPod(const ClusterSnapshot& cluster, const KnownProgress& progress) {
  const auto index = cluster.Find(progress.node);
  if (!index) return std::nullopt;
  const NodeState& node = cluster.node(*index);
  for (const auto& pod : node.detail->pods) {
    if (pod->uid == progress.pod.uid && pod->fungible) return FoundPod{pod, node};
  }
  return std::nullopt;
}

}  // namespace

ProfilingDriver::ProfilingDriver(const Profiler& profiler, ClusterState& state,
                                 ProgressStore& progress, ProfilingActions& actions,
                                 ProfileMismatch& mismatch, const Clock& clock,
                                 std::function<void(std::set<std::string>)> watch_closely)
    : profiler_(profiler),
      state_(state),
      progress_(progress),
      actions_(actions),
      mismatch_(mismatch),
      clock_(clock),
      watch_closely_(std::move(watch_closely)) {}

void ProfilingDriver::StartOver() {
  memory_ = {};
  mismatch_.StartOver();
  progress_.KeepNews(true);
  next_clean_up_ = clock_.Now();
}

void ProfilingDriver::Rest() {
  memory_ = {};
  progress_.KeepNews(false);
  watched_.clear();
  watch_closely_({});
}

void ProfilingDriver::Step(const std::stop_token& stop) {
  const auto cluster = state_.Snapshot();
  const Moment at = clock_.Present();
  for (const KnownProgress& known : progress_.TakeNews(at.now)) {
    const Moment reported{at.now - known.age, known.at};
    profiler_.Observe(memory_, known.pod, known.since, reported);
    const auto found = FindPod(*cluster, known);
    if (!found) continue;
    const ManagedContainer& fungible = *found->pod->fungible;
    const bool reports = known.pod.last || known.pod.estimate;
    const bool measured =
        reports && (known.pod.probe || fungible.ProbedAt(at.wall) || fungible.profile.empty());
    if (measured) Watch(known.node, at.now);
    if (!fungible.profile.empty()) mismatch_.Observe(found->pod, found->node, known, reported);
  }
  profiler_.ObserveWaiting(memory_, state_.WaitingPods());
  const ProfilerPlan plan = profiler_.Plan(*cluster, memory_, at);
  size_t asked = 0;
  size_t failed = 0;
  for (const ProfilerAction& action : plan.actions) {
    const bool urgent = action.kind == ProfilerActionKind::kEndProbe;
    if (failed == kMostFailures || (!urgent && asked++ >= kMostActions)) {
      profiler_.OnUntried(memory_, action, clock_.Present());
      continue;
    }
    const Result<> done = actions_.Do(action, stop);
    if (!done && IsOutage(done.error())) ++failed;
    profiler_.OnResult(memory_, action, done.has_value(), clock_.Present());
    if (done && action.kind == ProfilerActionKind::kProbe) Watch(action.pod->node, at.now);
  }
  PublishWatched(at.now);
  if (clock_.Now() >= next_clean_up_) {
    CleanUp(*cluster, stop);
    next_clean_up_ = clock_.Now() + kCleanUp;
  }
}

void ProfilingDriver::Watch(const std::string& node, Instant now) {
  if (watched_.size() < kMostWatched || watched_.contains(node)) watched_[node] = now + kWatch;
}

void ProfilingDriver::PublishWatched(Instant now) {
  std::erase_if(watched_, [now](const auto& entry) { return entry.second <= now; });
  std::set<std::string> nodes;
  for (const auto& [node, until] : watched_) nodes.insert(node);
  watch_closely_(std::move(nodes));
}

void ProfilingDriver::CleanUp(const ClusterSnapshot& cluster, const std::stop_token& stop) {
  const WallTime now = clock_.WallNow();
  size_t done = 0;
  for (NodeIndex index = 0; index < cluster.size(); ++index) {
    for (const auto& pod : cluster.node(index).detail->pods) {
      const bool over = pod->fungible && pod->fungible->probe &&
                        pod->fungible->probe->until + kLeftOver < now && !pod->deleting;
      if (!over) continue;
      if (done++ == kMostActions) return;
      const Result<> ended = actions_.EndProbe(*pod, stop);
      if (!ended && IsOutage(ended.error())) return;
    }
  }
}

}  // namespace synergy::controller
