#include "nodeagent/guarded/turn_follower.h"

#include <algorithm>
#include <stop_token>
#include <utility>

#include "core/wall_time.h"

namespace synergy::nodeagent {
namespace {

// The longest time between two looks at the pods, and so the longest time until a deletion is
// noticed.
constexpr Duration kLookInterval = std::chrono::seconds(1);
// How long after the end of a suspension the guardian resumes the pod if this process has not.
constexpr Duration kGuardMargin = std::chrono::seconds(2);
constexpr Duration kFreezeCheck = std::chrono::milliseconds(10);

}  // namespace

TurnFollower::TurnFollower(const NodePods& pods, TurnSources sources, TemporaryWriter& writer,
                           PodActs& acts, std::string resource, bool enabled, const Clock& clock,
                           Logger& log, metrics::NodeAgentMetrics& metrics)
    : pods_(pods),
      sources_(std::move(sources)),
      writer_(writer),
      acts_(acts),
      resource_(std::move(resource)),
      enabled_(enabled),
      clock_(clock),
      log_(log),
      metrics_(metrics) {}

void TurnFollower::Renew() {
  const std::lock_guard lock(mutex_);
  renewed_at_ = clock_.Now();
}

Duration TurnFollower::Step() {
  const Sharers sharers = Look();
  CountRefusals(sharers);
  std::map<std::string, WallTime> wanted = Wanted(sharers);

  // Pods that are resumed for another reason than their turn do not wait for other pods.
  std::vector<std::string> next;
  for (auto entry = suspended_.begin(); entry != suspended_.end();) {
    const std::string uid = (entry++)->first;  // Resume() erases it
    const Suspended& suspended = suspended_.at(uid);
    const auto sharer = sharers.find(uid);
    const bool same = sharer != sharers.end() && sharer->second.container != nullptr &&
                      sharer->second.container->id == suspended.container_id;
    if (same && wanted.contains(uid) && clock_.Now() < suspended.end) continue;
    const bool has_turn = same && !sharer->second.refusal && clock_.Now() < suspended.end;
    if (has_turn) {
      next.push_back(uid);
    } else {
      Resume(uid);
      wanted.erase(uid);  // it runs for kLeastTimeBetween first
    }
  }
  std::vector<std::string> leavers;
  for (const auto& [uid, until] : wanted) {
    if (!suspended_.contains(uid) && Suspend(uid, sharers.at(uid), until)) leavers.push_back(uid);
  }
  if (!leavers.empty()) AwaitFrozen(leavers);
  for (const std::string& uid : next) Resume(uid);
  Publish(sharers);

  Duration delay = kLookInterval;
  for (const auto& [uid, sharer] : sharers) {
    const auto& turn = sharer.pod->fungible->turn;
    if (!turn) continue;
    const WallTime now = clock_.WallNow();
    if (const auto at = turn->NextSwitch(now)) delay = std::min(delay, *at - now);
  }
  return std::max(delay, Duration::zero());
}

TurnFollower::Sharers TurnFollower::Look() {
  const std::set<std::string> probed = sources_.probed();
  Sharers sharers;
  for (PodPointer& pod : pods_.All()) {
    if (pod->gpus_in_turns == 0 || pod->terminal || !pod->fungible) continue;
    const auto* container = TrainingContainer(*pod);
    if (container != nullptr && !container->running) container = nullptr;
    std::optional<TurnRefusal> refusal = WhyRefused(pod->uid, *pod, probed);
    std::string uid = pod->uid;
    sharers.emplace(std::move(uid), Sharer{std::move(pod), container, std::move(refusal)});
  }
  const auto is_gone = [&](const auto& entry) { return !sharers.contains(entry.first); };
  std::erase_if(resumed_at_, is_gone);
  std::erase_if(unsuspendable_, is_gone);
  std::erase_if(refusals_, is_gone);
  std::erase_if(time_suspended_, is_gone);
  return sharers;
}

std::optional<TurnRefusal> TurnFollower::WhyRefused(const std::string& uid,
                                                    const wire::ResizeStatus& pod,
                                                    const std::set<std::string>& probed) {
  if (!enabled_) return TurnRefusal{"off", "nodeAgent.turns.enabled is off"};
  if (sources_.freezers == nullptr)
    return TurnRefusal{"no_freezer", "its node has no freezer of control groups"};
  const auto failed = unsuspendable_.find(uid);
  if (failed != unsuspendable_.end() && clock_.Now() < failed->second.until)
    return TurnRefusal{"failed", failed->second.why};
  return WhyNotSuspended(pod, probed.contains(uid));
}

std::map<std::string, WallTime> TurnFollower::Wanted(const Sharers& sharers) const {
  {
    const std::lock_guard lock(mutex_);
    if (!renewed_at_ || clock_.Now() - *renewed_at_ >= kRenewedFor) return {};
  }
  std::map<std::string, TurnPod> pods;
  for (const auto& [uid, sharer] : sharers) {
    TurnPod& pod = pods[uid];
    const std::optional<GpuTurn>& turn = sharer.pod->fungible->turn;
    pod.turn = turn ? &*turn : nullptr;
    pod.runs = sharer.container != nullptr;
    pod.refused = sharer.refusal.has_value();
    if (const auto at = resumed_at_.find(uid); at != resumed_at_.end()) pod.resumed_at = at->second;
  }
  return PodsToSuspend(pods, clock_.Present());
}

bool TurnFollower::Suspend(const std::string& uid, const Sharer& sharer, WallTime until) {
  const Moment now = clock_.Present();
  const auto plan = sources_.freezers->Plan(*sharer.pod, *sharer.container);
  // A container that has just ended is not a failure.
  if (!plan && plan.error().code == ErrorCode::kNotFound) return false;
  const Duration longest = std::min(until - now.wall + kGuardMargin, kMostSuspended);
  const Result<> done = plan ? writer_.Begin(plan->file, plan->text, longest) : Fail(plan.error());
  if (!done) {
    unsuspendable_[uid] = {done.error().message, now.now + kRefusedFor};
    log_.Warn("a pod cannot be suspended",
              {{"pod", sharer.pod->Key()}, {"error", done.error().message}});
    return false;
  }
  log_.Debug("suspended", {{"pod", sharer.pod->Key()}, {"until", ToTimeText(until)}});
  suspended_[uid] = {sharer.container->id, plan->file, now.now, now.now + longest};
  acts_.Note(uid, "freeze", now.wall);
  return true;
}

void TurnFollower::Resume(const std::string& uid) {
  const auto entry = suspended_.find(uid);
  const Suspended suspended = std::move(entry->second);
  suspended_.erase(entry);
  const Result<> done = writer_.End(suspended.file);
  // kNotFound: the guardian has already resumed the pod.
  if (!done && done.error().code != ErrorCode::kNotFound) {
    metrics_.CountError("not_resumed");
    log_.Error("a suspended pod is not resumed yet",
               {{"file", suspended.file}, {"error", done.error().message}});
  }
  const Moment now = clock_.Present();
  const Duration time = now.now - suspended.since;
  metrics_.CountSuspended(time);
  time_suspended_[uid] += time;
  resumed_at_[uid] = now.now;
  acts_.Note(uid, "freeze", now.wall);
}

void TurnFollower::AwaitFrozen(const std::vector<std::string>& uids) {
  const Instant end = clock_.Now() + kMostWait;
  const auto is_frozen = [&](const std::string& uid) {
    const Result<bool> frozen = sources_.freezers->IsFrozen(suspended_.at(uid).file);
    return !frozen || *frozen;  // a group that is gone no longer runs
  };
  bool frozen = false;
  while (!(frozen = std::all_of(uids.begin(), uids.end(), is_frozen)) && clock_.Now() < end)
    clock_.SleepFor(kFreezeCheck, {});
  for (size_t i = 0; i < uids.size(); ++i) metrics_.CountSwitch(frozen);
}

void TurnFollower::CountRefusals(const Sharers& sharers) {
  for (const auto& [uid, sharer] : sharers) {
    const std::string_view reason = sharer.refusal ? sharer.refusal->reason : std::string_view();
    std::string_view& known = refusals_[uid];
    if (std::exchange(known, reason) != reason && !reason.empty())
      metrics_.CountTurnRefusal(reason);
  }
}

void TurnFollower::Publish(const Sharers& sharers) {
  const Instant now = clock_.Now();
  std::map<std::string, TurnReading> readings;
  for (const auto& [uid, sharer] : sharers) {
    TurnReading& reading = readings[uid];
    if (const auto past = time_suspended_.find(uid); past != time_suspended_.end())
      reading.time_suspended = past->second;
    if (const auto entry = suspended_.find(uid); entry != suspended_.end()) {
      reading.suspended = true;
      reading.time_suspended += now - entry->second.since;
    }
    if (sharer.refusal) reading.refusal = sharer.refusal->text;
  }
  const std::lock_guard lock(mutex_);
  for (auto& [uid, reading] : readings) {
    if (const auto gpus = gpus_.find(uid); gpus != gpus_.end()) reading.gpus = gpus->second;
  }
  readings_ = std::move(readings);
}

void TurnFollower::LookAtGpus() {
  std::map<std::string, std::string> uids;  // by namespace and name
  for (const PodPointer& pod : pods_.All()) {
    if (pod->gpus_in_turns > 0) uids[pod->Key()] = pod->uid;
  }
  if (uids.empty()) return;
  const Result<std::vector<DeviceOwner>> given = sources_.given();
  if (!given) {
    metrics_.CountError("pod_resources_unreadable");
    return;
  }
  std::map<std::string, std::vector<std::string>> gpus;
  for (const DeviceOwner& owner : *given) {
    const auto pod = uids.find(owner.pod_namespace + "/" + owner.pod);
    if (owner.resource == resource_ && pod != uids.end())
      gpus[pod->second].emplace_back(WithoutSlice(owner.device));
  }
  for (auto& [uid, uuids] : gpus) {
    std::sort(uuids.begin(), uuids.end());
    uuids.erase(std::unique(uuids.begin(), uuids.end()), uuids.end());
  }
  const std::lock_guard lock(mutex_);
  gpus_ = std::move(gpus);
}

std::map<std::string, TurnReading> TurnFollower::Readings() const {
  const std::lock_guard lock(mutex_);
  return readings_;
}

Duration TurnFollower::TimeSuspended(const std::string& uid) const {
  const std::lock_guard lock(mutex_);
  const auto reading = readings_.find(uid);
  return reading == readings_.end() ? Duration::zero() : reading->second.time_suspended;
}

}  // namespace synergy::nodeagent
