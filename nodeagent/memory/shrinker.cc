#include "nodeagent/memory/shrinker.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace synergy::nodeagent {
namespace {

// The interval between two looks at a pod that cannot shrink now.
constexpr Duration kLookAgain = std::chrono::seconds(1);
// The number of consecutive releases that leave the usage above the limit before this is reported.
constexpr int kMostInVain = 5;

double InSeconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

// A control group and its future limit.
struct Shrinker::Target {
  std::string name;  // "container train", "the pod"
  Bytes limit;
  std::unique_ptr<MemoryGroup> group;
};

struct Shrinker::Work {
  enum class State { kActive, kStuck, kGivenUp };

  bool IsBelow() const { return below_since && state != State::kStuck; }

  wire::ResizeStatus pod;
  Shrink shrink;
  Instant seen;
  State state = State::kActive;
  std::vector<Target> targets;  // empty: not opened yet
  Instant next_look{};
  std::optional<Instant> below_since;
  Bytes released;
  Duration release_time{};
  int in_vain = 0;
  bool recorded = false;  // whether a release was recorded since the memory was last stuck
  std::string last_failure;
};

Shrinker::Shrinker(MemoryGroups& groups, kube::EventRecorder& events, const Clock& clock,
                   Logger& log, metrics::NodeAgentMetrics& metrics, ShrinkRules rules)
    : groups_(groups),
      events_(events),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      rules_(rules) {}

Shrinker::~Shrinker() = default;

void Shrinker::Replace(std::vector<wire::ResizeStatus> all) {
  const std::lock_guard lock(mutex_);
  std::set<std::string> gone = std::exchange(watched_, {});
  for (wire::ResizeStatus& pod : all) {
    gone.erase(pod.uid);
    watched_.insert(pod.uid);
    std::string uid = pod.uid;
    changes_.emplace_back(std::move(uid), std::move(pod));
  }
  for (const std::string& uid : gone) changes_.emplace_back(uid, std::nullopt);
  changed_.notify_all();
}

void Shrinker::Upsert(wire::ResizeStatus pod) {
  const std::lock_guard lock(mutex_);
  watched_.insert(pod.uid);
  std::string uid = pod.uid;
  changes_.emplace_back(std::move(uid), std::move(pod));
  changed_.notify_all();
}

void Shrinker::Remove(const wire::ResizeStatus& pod) {
  const std::lock_guard lock(mutex_);
  watched_.erase(pod.uid);
  changes_.emplace_back(pod.uid, std::nullopt);
  changed_.notify_all();
}

bool Shrinker::AwaitWork(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  return changed_.wait(lock, stop, [this] { return !changes_.empty() || in_progress_ > 0; });
}

size_t Shrinker::watched_pods() const {
  const std::lock_guard lock(mutex_);
  return watched_.size();
}

size_t Shrinker::in_progress() const {
  const std::lock_guard lock(mutex_);
  return in_progress_;
}

void Shrinker::Step(const std::stop_token& stop) {
  TakeChanges();
  for (auto& [uid, work] : works_) {
    if (stop.stop_requested()) return;
    LookAt(work, stop);
  }
}

void Shrinker::TakeChanges() {
  std::vector<Change> changes;
  {
    const std::lock_guard lock(mutex_);
    changes = std::exchange(changes_, {});
  }
  for (auto& [uid, pod] : changes) {
    if (pod) {
      Take(*std::move(pod));
    } else {
      Forget(uid);
    }
  }
  const std::lock_guard lock(mutex_);
  in_progress_ = works_.size();
}

void Shrinker::Take(wire::ResizeStatus pod) {
  std::optional<Shrink> shrink = ShrinkOf(pod);
  if (const auto known = works_.find(pod.uid); known != works_.end()) {
    const bool same_request = known->second.pod.generation == pod.generation;
    if (shrink && same_request) return;  // usually a new message in its condition
    const bool completed = !shrink && same_request;
    // The kubelet may have applied the limit before a look found the memory below the limit.
    if (completed) RecordReleased(known->second);
    End(known->second, completed ? "completed" : "withdrawn");
    works_.erase(known);
  }
  if (!shrink) return;
  Work work;
  work.seen = clock_.Now();
  work.shrink = *std::move(shrink);
  work.pod = std::move(pod);
  log_.Info("memory is to shrink", {{"pod", work.pod.Key()}, {"what", Describe(work.shrink)}});
  std::string uid = work.pod.uid;
  works_.emplace(std::move(uid), std::move(work));
}

void Shrinker::Forget(const std::string& uid) {
  const auto known = works_.find(uid);
  if (known == works_.end()) return;
  End(known->second, "withdrawn");
  works_.erase(known);
}

void Shrinker::LookAt(Work& work, const std::stop_token& stop) {
  const Instant now = clock_.Now();
  if (work.state == Work::State::kGivenUp || now < work.next_look) return;
  if (work.targets.empty()) {
    if (const Result<> opened = Open(work); !opened) {
      work.targets.clear();
      work.next_look = now + kLookAgain;
      return Report(work, "no_cgroup", opened.error());
    }
  }
  const Result<std::string> why_not = BringDown(work, stop);
  if (!why_not) {
    // A restarted container has another group.
    work.targets.clear();
    work.next_look = now + kLookAgain;
    return Report(work, "release_failed", why_not.error());
  }
  if (why_not->empty()) return Below(work);
  SetStuck(work, *why_not);
  work.next_look = now + kLookAgain;
}

Result<> Shrinker::Open(Work& work) {
  for (const Shrink::Step& step : work.shrink.containers) {
    auto group = groups_.OfContainer(work.pod, step.container);
    if (!group) return Fail(group.error());
    work.targets.push_back({"container " + step.container.name, step.to, *std::move(group)});
  }
  auto group = groups_.OfPod(work.pod);
  if (!group) return Fail(group.error());
  const Result<Bytes> limit = (*group)->Limit();
  if (!limit) return Fail(limit.error());
  // The pod has a limit only if all of its containers have one.
  if (*limit != kNoMemoryLimit && work.shrink.pod_by > Bytes(0) && *limit > work.shrink.pod_by)
    work.targets.push_back({"the pod", *limit - work.shrink.pod_by, *std::move(group)});
  return {};
}

Result<std::string> Shrinker::BringDown(Work& work, const std::stop_token& stop) {
  for (Target& target : work.targets) {
    const Result<MemoryUse> use = target.group->Read();
    if (!use) return Fail(use.error());
    const Bytes margin = rules_.margin.Of(target.limit);
    if (use->held + margin > target.limit) {
      return fmt::format("{} of {} are in use that cannot be given back, and {} is to stay free",
                         DescribeBytes(use->held), target.name, DescribeBytes(margin));
    }
    // After the usage was once below the limit, half of the margin suffices, to avoid reacting to
    // every page that comes back.
    const Bytes allowed = target.limit - (work.below_since ? Bytes(margin.count() / 2) : margin);
    if (use->usage <= allowed) continue;
    const Instant begin = clock_.Now();
    if (const Result<> released = target.group->Release(target.limit - margin, stop); !released)
      return Fail(released.error());
    const Result<MemoryUse> after = target.group->Read();
    if (!after) return Fail(after.error());
    const Duration took = clock_.Now() - begin;
    metrics_.CountRelease(use->usage - after->usage, took);
    work.released += std::max(use->usage - after->usage, Bytes(0));
    work.release_time += took;
    if (after->usage < target.limit) continue;
    if (++work.in_vain < kMostInVain) return std::string();
    return fmt::format("{} of {} are in use after its page cache was released",
                       DescribeBytes(after->usage), target.name);
  }
  work.in_vain = 0;
  return std::string();
}

void Shrinker::Below(Work& work) {
  if (work.in_vain > 0) return;  // not yet
  work.last_failure.clear();
  const Instant now = clock_.Now();
  if (!work.IsBelow()) {
    work.state = Work::State::kActive;
    work.below_since = now;
  }
  RecordReleased(work);
  if (now - *work.below_since < rules_.give_up_after) return;
  work.state = Work::State::kGivenUp;
  metrics_.CountShrink("given_up", now - work.seen);
  RecordEvent(
      work, "Warning", "SynergyMemoryStuck",
      fmt::format("Memory has been kept low for {:.0f} s, and the kubelet has not shrunk it: {}",
                  InSeconds(now - *work.below_since), Describe(work.shrink)));
}

void Shrinker::RecordReleased(Work& work) {
  if (work.released <= Bytes(0) || std::exchange(work.recorded, true)) return;
  RecordEvent(work, "Normal", "SynergyMemoryReleased",
              fmt::format("Released {} of page cache in {:.3f} s, so that memory can shrink: {}",
                          DescribeBytes(work.released), InSeconds(work.release_time),
                          Describe(work.shrink)));
}

void Shrinker::SetStuck(Work& work, const std::string& why) {
  if (work.state == Work::State::kStuck) return;
  work.state = Work::State::kStuck;
  work.recorded = false;
  metrics_.CountShrink("stuck", clock_.Now() - work.seen);
  RecordEvent(work, "Warning", "SynergyMemoryStuck",
              fmt::format("Memory cannot shrink: {}: {}", Describe(work.shrink), why));
}

void Shrinker::End(const Work& work, std::string_view outcome) {
  const Duration took = clock_.Now() - work.seen;
  metrics_.CountShrink(outcome, took);
  log_.Info("memory no longer to shrink", {{"pod", work.pod.Key()},
                                           {"outcome", outcome},
                                           {"released_bytes", work.released.count()},
                                           {"release_seconds", InSeconds(work.release_time)},
                                           {"seconds", InSeconds(took)}});
}

void Shrinker::Report(Work& work, std::string_view reason, const Error& error) {
  metrics_.CountError(reason);
  if (error.message == work.last_failure) return;
  work.last_failure = error.message;
  log_.Warn("cannot lower the memory of a pod", {{"pod", work.pod.Key()},
                                                 {"reason", reason},
                                                 {"code", ToString(error.code)},
                                                 {"error", error.message}});
}

void Shrinker::RecordEvent(const Work& work, const char* type, const char* reason,
                           std::string message) {
  log_.Info(message, {{"pod", work.pod.Key()}, {"reason", reason}});
  events_.Record(kube::AboutPod(work.pod, type, reason, std::move(message)));
}

}  // namespace synergy::nodeagent
