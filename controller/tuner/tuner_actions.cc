#include "controller/tuner/tuner_actions.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "core/quantity_text.h"
#include "core/wall_time.h"
#include "wire/pods/pod_writes.h"

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

// Resizes only what changes, so that a concurrent change of the other dimension stays.
kube::Resized ResizedBy(const ChangeRecord& change) {
  if (change.from.memory == change.to.memory && change.from.cpu != change.to.cpu) {
    return kube::Resized::kCpu;
  }
  if (change.from.cpu == change.to.cpu && change.from.memory != change.to.memory) {
    return kube::Resized::kMemory;
  }
  return kube::Resized::kBoth;
}

kube::Precondition ConditionOf(const TunerAction& action) {
  return action.unchanged ? kube::Precondition::kUnchanged : kube::Precondition::kSamePod;
}

// How often to send a resize while other writers keep changing the pod.
constexpr int kMostResizes = 3;

// Returns whether the pod requests these amounts, in the dimensions that the change affects.
bool AsksFor(const Pod& pod, const ResourceVector& amounts, const ChangeRecord& change) {
  const ResourceVector& requested = pod.fungible->requested;
  const kube::Resized resized = ResizedBy(change);
  return (resized == kube::Resized::kMemory || requested.cpu == amounts.cpu) &&
         (resized == kube::Resized::kCpu || requested.memory == amounts.memory);
}

}  // namespace

TunerActions::TunerActions(ClusterState& state, kube::PodApi& pods, kube::EventRecorder& events,
                           const Clock& clock, Logger& log, metrics::TunerMetrics& metrics,
                           std::function<bool()> may_act)
    : state_(state),
      pods_(pods),
      events_(events),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      may_act_(std::move(may_act)) {}

bool TunerActions::Do(const TunerAction& action) {
  switch (action.kind) {
    case TunerActionKind::kKeepPlace:
      return KeepPlace(action);
    case TunerActionKind::kEndPlace:
      return EndPlace(action);
    case TunerActionKind::kRemind:
      return Remind(action);
    case TunerActionKind::kAnnounce:
    case TunerActionKind::kRecord:
      return WriteChange(action);
    case TunerActionKind::kResize:
      return Resize(action);
    case TunerActionKind::kWithdraw:
      return Withdraw(action);
    case TunerActionKind::kPutBack:
      return PutBack(action);
    case TunerActionKind::kTell:
      return Tell(action);
  }
  return false;
}

Result<Pod> TunerActions::Annotate(const Pod& pod, const kube::AnnotationChanges& changes,
                                   kube::Precondition precondition) {
  if (!may_act_()) return Fail(ErrorCode::kCancelled, "another replica acts now");
  return pods_.Annotate(pod, changes, precondition);
}

Result<Pod> TunerActions::ResizeUnchanged(const Pod& pod, const ChangeRecord& change) {
  if (!may_act_()) return Fail(ErrorCode::kCancelled, "another replica acts now");
  return pods_.Resize(pod, change.to, kube::Precondition::kUnchanged, ResizedBy(change));
}

Result<Pod> TunerActions::ResizeFrom(const Pod& pod, const ChangeRecord& change) {
  const std::shared_ptr<const Pod> known = state_.FindPod(pod.uid);
  Pod seen = known && known->fungible ? *known : pod;
  for (int resizes = 1;; ++resizes) {
    if (!AsksFor(seen, change.from, change))
      return Fail(ErrorCode::kConflict, "another client has changed its amounts meanwhile");
    Result<Pod> answer = ResizeUnchanged(seen, change);
    if (answer || answer.error().code != ErrorCode::kConflict || resizes == kMostResizes)
      return answer;
    // Retry: most writes to a pod do not touch its amounts.
    Result<Pod> found = pods_.Get(pod.pod_namespace, pod.name);
    if (!found) return found;
    if (found->uid != pod.uid || !found->fungible) return answer;
    // A call that was sent twice may have succeeded the first time.
    if (AsksFor(*found, change.to, change)) return found;
    seen = *std::move(found);
  }
}

bool TunerActions::Took(const Result<Pod>& answer, const Pod& pod, std::string_view failed) {
  if (answer) {
    state_.RefreshPod(*answer);
    return true;
  }
  log_.Warn(failed, {{"pod", pod.Key()}, {"error", answer.error().message}});
  return false;
}

bool TunerActions::KeepPlace(const TunerAction& action) {
  const Pod& pod = *action.pod;
  const std::string value = wire::WriteKeptPlace(action.node, action.until);
  if (!Took(Annotate(pod, {{annotations::kKeptPlace, value}}), pod, "cannot reserve a place"))
    return false;
  metrics_.ObserveReclaimDelay(action.waited);
  log_.Info("place reserved", {{"pod", pod.Key()}, {"node", action.node}, {"cost", action.cost}});
  return true;
}

bool TunerActions::EndPlace(const TunerAction& action) {
  const Pod& pod = *action.pod;
  metrics_.CountKeptPlace(ToString(action.place_end));
  log_.Info("reserved place ended",
            {{"pod", pod.Key()}, {"node", action.node}, {"outcome", ToString(action.place_end)}});
  if (action.place_end == PlaceEnd::kPodGone) return true;
  return Took(Annotate(pod, {{annotations::kKeptPlace, std::nullopt}}), pod,
              "cannot release a reserved place");
}

bool TunerActions::Remind(const TunerAction& action) {
  const Pod& pod = *action.pod;
  const std::string now = ToTimeText(clock_.WallNow());
  if (!Took(Annotate(pod, {{annotations::kRoomSeen, now}}), pod,
            "cannot mark that there is room")) {
    return false;
  }
  log_.Info("marked that there is room", {{"pod", pod.Key()}});
  return true;
}

bool TunerActions::WriteChange(const TunerAction& action) {
  const Pod& pod = *action.pod;
  const Result<Pod> answer = Annotate(
      pod, {{annotations::kChange, wire::WriteChange(action.change)}}, ConditionOf(action));
  if (Took(answer, pod, "cannot record a change")) return true;
  metrics_.CountFailure(ToString(ChangeFailure::kRefused));
  return false;
}

bool TunerActions::Resize(const TunerAction& action) {
  const Pod& pod = *action.pod;
  const Result<Pod> answer =
      action.unchanged ? ResizeUnchanged(pod, action.change) : ResizeFrom(pod, action.change);
  if (!Took(answer, pod, "cannot make a change")) {
    const bool never_fits = answer.error().code == ErrorCode::kInvalid;
    const auto failure = never_fits ? ChangeFailure::kInfeasible : ChangeFailure::kRefused;
    metrics_.CountFailure(ToString(failure));
    return false;
  }
  TellOfChange(action);
  return true;
}

bool TunerActions::Withdraw(const TunerAction& action) {
  const Pod& pod = *action.pod;
  if (action.failure) metrics_.CountFailure(ToString(*action.failure));
  // A resize without an answer may have succeeded, and our copy may be outdated.
  const Result<Pod> found = pods_.Get(pod.pod_namespace, pod.name);
  if (!Took(found, pod, "cannot withdraw an announced change")) return false;
  if (found->uid != pod.uid || !found->fungible) return true;
  kube::AnnotationChanges changes;
  if (found->fungible->Announced()) {
    changes.emplace_back(annotations::kChange, wire::WriteChange(action.before));
  }
  if (action.unshrinkable_until && found->fungible->requested == action.change.from) {
    changes.emplace_back(annotations::kUnshrinkableUntil, ToTimeText(*action.unshrinkable_until));
  }
  if (changes.empty()) return true;
  return Took(Annotate(pod, changes), pod, "cannot withdraw an announced change");
}

bool TunerActions::PutBack(const TunerAction& action) {
  const Pod& pod = *action.pod;
  if (action.failure) metrics_.CountFailure(ToString(*action.failure));
  kube::AnnotationChanges changes = {{annotations::kChange, wire::WriteChange(action.change)}};
  if (action.unshrinkable_until) {
    changes.emplace_back(annotations::kUnshrinkableUntil, ToTimeText(*action.unshrinkable_until));
  }
  if (!Took(Annotate(pod, changes), pod, "cannot revert a change")) return false;
  if (!Took(ResizeFrom(pod, action.change), pod, "cannot revert a change")) return false;
  TellOfChange(action);
  return true;
}

bool TunerActions::Tell(const TunerAction& action) {
  const Pod& pod = *action.pod;
  metrics_.CountRespected(ToString(action.respected));
  log_.Info(
      "pod respected",
      {{"pod", pod.Key()}, {"reason", ToString(action.respected)}, {"message", action.message}});
  events_.Record(
      {pod.pod_namespace, pod.name, pod.uid, "Normal", "SynergyRespected", action.message});
  return true;
}

void TunerActions::TellOfChange(const TunerAction& action) {
  const Pod& pod = *action.pod;
  const ChangeRecord& change = action.change;
  metrics_.CountChange(ToString(change.kind));
  log_.Info("allocation changed", {{"pod", pod.Key()},
                                   {"kind", ToString(change.kind)},
                                   {"from", DescribeCpuAndMemory(change.from)},
                                   {"to", DescribeCpuAndMemory(change.to)},
                                   {"why", change.why}});
  events_.Record({pod.pod_namespace, pod.name, pod.uid,
                  change.kind == ChangeKind::kUndone ? "Warning" : "Normal",
                  std::string(EventReason(change.kind)),
                  fmt::format("from {} to {}: {}", DescribeCpuAndMemory(change.from),
                              DescribeCpuAndMemory(change.to), change.why)});
}

}  // namespace synergy::controller
