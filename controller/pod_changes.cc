#include "controller/pod_changes.h"

#include <utility>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "core/quantity_text.h"
#include "core/wall_time.h"
#include "kube/pods.h"

namespace synergy::controller {
namespace {

std::string_view EventReason(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kAllocated:
      return "SynergyAllocated";
    case ChangeKind::kReclaimed:
    case ChangeKind::kDivided:
      return "SynergyReclaimed";
    case ChangeKind::kGrown:
      return "SynergyGrown";
    case ChangeKind::kUndone:
      return "SynergyDeferred";
  }
  return "Synergy";
}

// Whether the node's pods, with what has been announced for them, have room.
bool HasRoom(const ClusterSnapshot& snapshot, const std::string& node) {
  const auto place = snapshot.Find(node);
  if (!place || !snapshot.node(*place).exists) return false;
  const ResourceVector free = snapshot.node(*place).Free();
  return free.cpu >= MilliCpu(0) && free.memory >= Bytes(0);
}

// Once a waiting pod is bound, the kubelet may start it with what it was bound with while everybody
// counts the cut, and what the bind has recorded must stay.
kube::Precondition ConditionFor(const Pod& pod) {
  return pod.node.empty() ? kube::Precondition::kUnchanged : kube::Precondition::kSamePod;
}

}  // namespace

PodChanges::PodChanges(ClusterState& state, kube::ApiClient& client,
                       const json::ObjectReader& reader, kube::EventRecorder& events,
                       const Clock& clock, Logger& log, metrics::TunerMetrics& metrics,
                       PodChangeOptions options)
    : state_(state),
      client_(client),
      reader_(reader),
      events_(events),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      options_(options) {}

bool PodChanges::Cut(const Pod& pod, const ResourceVector& to, ChangeKind kind, std::string why) {
  Change change;
  change.node = pod.node;
  change.record = {kind, pod.fungible->requested, to, std::move(why), clock_.WallNow()};
  change.before = pod.fungible->change;
  if (pod.node.empty()) {
    const std::optional<Pod> announced = Record(pod, change.record);
    if (!announced || !Make(*announced, change)) return false;
  } else {
    const std::optional<Pod> made = Make(pod, change);
    if (!made) return false;
    // Without it, the change is taken over once more later.
    Record(*made, change.record);
  }
  changes_.emplace(pod.uid, std::move(change));
  return true;
}

bool PodChanges::Grow(const Pod& pod, const ResourceVector& to, std::string why) {
  Change change;
  change.node = pod.node;
  change.record = {ChangeKind::kGrown, pod.fungible->requested, to, std::move(why),
                   clock_.WallNow()};
  change.before = pod.fungible->change;
  change.due = clock_.Now() + options_.settle;
  if (!Record(pod, change.record)) return false;
  changes_.emplace(pod.uid, std::move(change));
  return true;
}

void PodChanges::Adopt(const Pod& pod) {
  const Fungible& fungible = *pod.fungible;
  Change change;
  change.node = pod.node;
  if (fungible.change) {
    change.record = *fungible.change;
  } else {
    change.record.from = fungible.in_force;
    change.record.to = fungible.requested;
  }
  if (fungible.Announced()) {
    Withdraw(pod, change);
    return;
  }
  if (fungible.Unrecorded()) {
    change.record = {ChangeKind::kReclaimed, change.record.to, fungible.requested,
                     "found made, without a word why", clock_.WallNow()};
    if (!Record(pod, change.record)) return;
  }
  change.made = true;
  change.due = clock_.Now() + options_.patience;
  log_.Info("unfinished change taken over", {{"pod", pod.Key()}, {"node", pod.node}});
  changes_.emplace(pod.uid, std::move(change));
}

bool PodChanges::UnderWayOn(const std::string& node) const {
  for (const auto& [uid, change] : changes_) {
    if (change.node == node) return true;
  }
  return false;
}

std::vector<PodChanges::Outcome> PodChanges::TakeOutcomes() { return std::exchange(outcomes_, {}); }

void PodChanges::Advance() {
  for (auto it = changes_.begin(); it != changes_.end();) {
    const std::shared_ptr<const Pod> pod = state_.FindPod(it->first);
    const std::optional<bool> ended =
        pod && pod->fungible ? AdvanceOne(*pod, it->second) : std::optional<bool>(false);
    if (!ended) {
      ++it;
      continue;
    }
    outcomes_.push_back({it->first, it->second.node, it->second.record.kind, *ended});
    it = changes_.erase(it);
  }
}

std::optional<bool> PodChanges::AdvanceOne(const Pod& pod, Change& change) {
  const Fungible& fungible = *pod.fungible;
  const bool late = clock_.Now() >= change.due;
  if (!change.made) {
    if (!late) return std::nullopt;
    if (fungible.requested != change.record.from) return false;  // somebody else was at work
    if (!HasRoom(*state_.Snapshot(), change.node)) {
      metrics_.CountFailure("no_room");
      Withdraw(pod, change);
      return false;
    }
    if (!Make(pod, change)) return false;
    return std::nullopt;
  }
  if (fungible.requested == change.record.to) {
    if (pod.node.empty() || fungible.Settled()) return true;
    if (fungible.resize == ResizeState::kInfeasible) {
      PutBack(pod, change, "infeasible");
      return false;
    }
    if (!late) {
      if (fungible.in_force.memory > fungible.requested.memory) Nudge(pod, change);
      return std::nullopt;
    }
    PutBack(pod, change,
            fungible.resize == ResizeState::kDeferred  ? "deferred"
            : fungible.resize == ResizeState::kRefused ? "refused"
                                                       : "timeout");
    return false;
  }
  // The watch may be behind; anything else was somebody else's doing, which is respected.
  if (fungible.requested == change.record.from && !late) return std::nullopt;
  return false;
}

std::optional<Pod> PodChanges::Record(const Pod& pod, const ChangeRecord& record) {
  const Result<Pod> answer =
      kube::AnnotatePod(client_, reader_, pod, {{annotations::kChange, json::WriteChange(record)}},
                        ConditionFor(pod));
  if (!answer) {
    metrics_.CountFailure("refused");
    log_.Warn("change not recorded", {{"pod", pod.Key()}, {"error", answer.error().message}});
    return std::nullopt;
  }
  state_.RefreshPod(*answer);
  return *answer;
}

std::optional<Pod> PodChanges::Make(const Pod& pod, Change& change) {
  const Result<Pod> answer =
      kube::ResizePod(client_, reader_, pod, change.record.to, ConditionFor(pod));
  if (!answer) {
    metrics_.CountFailure("refused");
    log_.Warn("change not made", {{"pod", pod.Key()}, {"error", answer.error().message}});
    Withdraw(pod, change);
    return std::nullopt;
  }
  state_.RefreshPod(*answer);
  change.made = true;
  change.due = clock_.Now() + options_.patience;
  metrics_.CountChange(ToString(change.record.kind));
  Tell(pod, change.record);
  return *answer;
}

void PodChanges::Nudge(const Pod& pod, Change& change) {
  const Instant now = clock_.Now();
  if (now < change.nudge) return;
  const bool first = change.nudge == Instant{};
  change.nudge = now + options_.nudge;
  if (first) return;  // it has just seen the resize itself
  ChangeRecord again = change.record;
  again.at = clock_.WallNow();
  Record(pod, again);
}

void PodChanges::Withdraw(const Pod& pod, const Change& change) {
  // A resize that got no answer may have been made all the same, and our copy may be behind.
  const Result<Pod> found = kube::GetPod(client_, reader_, pod.pod_namespace, pod.name);
  if (!found) {
    // It is taken over and withdrawn later.
    log_.Warn("announced change not withdrawn",
              {{"pod", pod.Key()}, {"error", found.error().message}});
    return;
  }
  state_.RefreshPod(*found);
  if (found->uid != pod.uid || !found->fungible || !found->fungible->Announced()) return;
  // What was there before a predecessor's announcement nobody knows any more; no record at all
  // would read as amounts that nobody gave.
  const ResourceVector& kept = change.record.from;
  const ChangeRecord before = change.before.value_or(ChangeRecord{
      ChangeKind::kUndone, kept, kept, "an announced change was not made", clock_.WallNow()});
  const Result<Pod> answer =
      kube::AnnotatePod(client_, reader_, pod, {{annotations::kChange, json::WriteChange(before)}});
  if (answer) {
    state_.RefreshPod(*answer);
  } else {
    log_.Warn("announced change not withdrawn",
              {{"pod", pod.Key()}, {"error", answer.error().message}});
  }
}

void PodChanges::PutBack(const Pod& pod, const Change& change, std::string_view reason) {
  const Fungible& fungible = *pod.fungible;
  metrics_.CountFailure(reason);
  const ChangeRecord back{
      ChangeKind::kUndone, fungible.requested, fungible.in_force,
      fmt::format("the kubelet could not do it ({}): {}", reason, fungible.resize_message),
      clock_.WallNow()};
  const bool was_cut = LargerOf(change.record.from, change.record.to) == change.record.from;
  json::AnnotationChanges annotations = {{annotations::kChange, json::WriteChange(back)}};
  if (was_cut) {
    annotations.emplace_back(annotations::kUnshrinkableUntil,
                             ToTimeText(clock_.WallNow() + options_.unshrinkable));
  }
  const Result<Pod> told = kube::AnnotatePod(client_, reader_, pod, annotations);
  const Result<Pod> answer =
      told ? kube::ResizePod(client_, reader_, pod, back.to) : Result<Pod>(Fail(told.error()));
  if (!answer) {
    log_.Warn("change not put back", {{"pod", pod.Key()}, {"error", answer.error().message}});
    return;  // what is not settled is taken over again
  }
  state_.RefreshPod(*answer);
  metrics_.CountChange(ToString(back.kind));
  Tell(pod, back);
}

void PodChanges::Tell(const Pod& pod, const ChangeRecord& record) {
  log_.Info("allocation changed", {{"pod", pod.Key()},
                                   {"kind", ToString(record.kind)},
                                   {"from", DescribeCpuAndMemory(record.from)},
                                   {"to", DescribeCpuAndMemory(record.to)},
                                   {"why", record.why}});
  events_.Record({pod.pod_namespace, pod.name, pod.uid,
                  record.kind == ChangeKind::kUndone ? "Warning" : "Normal",
                  std::string(EventReason(record.kind)),
                  fmt::format("from {} to {}: {}", DescribeCpuAndMemory(record.from),
                              DescribeCpuAndMemory(record.to), record.why)});
}

}  // namespace synergy::controller
