#include "controller/tuner/tuner_calls.h"

#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "core/text/quantity_text.h"
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
    case ChangeKind::kGivenBack:
      return "SynergyReclaimed";
    case ChangeKind::kGrown:
    case ChangeKind::kBorrowed:
      return "SynergyGrown";
    case ChangeKind::kLent:
      return "SynergyLent";
    case ChangeKind::kReturned:
      return "SynergyReturned";
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

// How many times to send a resize while other writers keep changing the pod.
constexpr int kMostResizes = 3;

// Returns whether the amounts are the same in the dimensions that the change affects.
bool SameIn(const ChangeRecord& change, const ResourceVector& one, const ResourceVector& other) {
  const kube::Resized resized = ResizedBy(change);
  return (resized == kube::Resized::kMemory || one.cpu == other.cpu) &&
         (resized == kube::Resized::kCpu || one.memory == other.memory);
}

// Returns whether the pod requests these amounts, in the dimensions that the change affects.
bool AsksFor(const Pod& pod, const ResourceVector& amounts, const ChangeRecord& change) {
  return SameIn(change, pod.fungible->requested, amounts);
}

// Returns whether the kubelet has made the change that `revert` would revert. From then on, other
// pods may use the room that a cut freed.
bool WasMade(const Pod& pod, const ChangeRecord& revert) {
  return SameIn(revert, pod.fungible->in_force, revert.from);
}

// Returns the record of a change that the kubelet made before `revert` could be sent. The record
// announces nothing.
ChangeRecord NotReverted(const ChangeRecord& revert) {
  ChangeRecord record = revert;
  record.to = record.from;
  if (!IsOfLoan(revert.kind)) return record;
  // The record of a loan shows which pod has which CPU.
  record.kind = InverseOf(revert.kind);
  record.from = revert.to;
  record.borrowed = revert.BorrowedBefore();
  return record;
}

}  // namespace

TunerCalls::TunerCalls(ClusterState& state, kube::PodApi& pods, kube::EventRecorder& events,
                       const Clock& clock, Logger& log, metrics::TunerMetrics& metrics,
                       std::function<bool()> may_act)
    : state_(state),
      pods_(pods),
      events_(events),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      may_act_(std::move(may_act)) {}

bool TunerCalls::Do(const TunerAction& action) {
  return std::visit([&](const auto& what) { return Do(*action.pod, what); }, action.what);
}

Result<Pod> TunerCalls::Annotate(const Pod& pod, const kube::AnnotationChanges& changes,
                                 kube::Precondition precondition) {
  if (!may_act_()) return Fail(ErrorCode::kCancelled, "another replica acts now");
  return pods_.Annotate(pod, changes, precondition);
}

Result<Pod> TunerCalls::ResizeUnchanged(const Pod& pod, const ChangeRecord& change) {
  if (!may_act_()) return Fail(ErrorCode::kCancelled, "another replica acts now");
  return pods_.Resize(pod, change.to, kube::Precondition::kUnchanged, ResizedBy(change));
}

Result<Pod> TunerCalls::ResizeFrom(const Pod& pod, const ChangeRecord& change, bool unless_made) {
  const std::shared_ptr<const Pod> known = state_.FindPod(pod.uid);
  Pod seen = known && known->fungible ? *known : pod;
  for (int resizes = 1;; ++resizes) {
    if (!AsksFor(seen, change.from, change))
      return Fail(ErrorCode::kConflict, "another client has changed its amounts meanwhile");
    if (unless_made && WasMade(seen, change))
      return Fail(ErrorCode::kConflict, "the kubelet has made the change meanwhile");
    Result<Pod> answer = ResizeUnchanged(seen, change);
    if (answer || answer.error().code != ErrorCode::kConflict || resizes == kMostResizes)
      return answer;
    // Retry, because most writes to a pod do not touch its amounts.
    Result<Pod> found = pods_.Get(pod.pod_namespace, pod.name);
    if (!found) return found;
    if (found->uid != pod.uid || !found->fungible) return answer;
    // A call that was sent twice may have succeeded the first time.
    if (AsksFor(*found, change.to, change)) return found;
    state_.RefreshPod(*found);
    seen = *std::move(found);
  }
}

bool TunerCalls::Took(const Result<Pod>& answer, const Pod& pod, std::string_view failed) {
  if (answer) {
    state_.RefreshPod(*answer);
    return true;
  }
  log_.Warn(failed, {{"pod", pod.Key()}, {"error", answer.error().message}});
  return false;
}

bool TunerCalls::Do(const Pod& pod, const tuner_action::KeepPlace& place) {
  const std::string value = wire::WriteKeptPlace(place.node, place.until);
  if (!Took(Annotate(pod, {{annotations::kKeptPlace, value}}), pod, "cannot reserve a place"))
    return false;
  metrics_.ObserveReclaimDelay(place.waited);
  log_.Info("place reserved", {{"pod", pod.Key()}, {"node", place.node}, {"cost", place.cost}});
  return true;
}

bool TunerCalls::Do(const Pod& pod, const tuner_action::EndPlace& place) {
  metrics_.CountKeptPlace(ToString(place.end));
  log_.Info("reserved place ended",
            {{"pod", pod.Key()}, {"node", place.node}, {"outcome", ToString(place.end)}});
  if (place.end == PlaceEnd::kPodGone) return true;
  return Took(Annotate(pod, {{annotations::kKeptPlace, std::nullopt}}), pod,
              "cannot release a reserved place");
}

bool TunerCalls::Do(const Pod& pod, const tuner_action::Remind&) {
  const std::string now = ToTimeText(clock_.WallNow());
  if (!Took(Annotate(pod, {{annotations::kRoomSeen, now}}), pod,
            "cannot mark that there is room")) {
    return false;
  }
  log_.Info("marked that there is room", {{"pod", pod.Key()}});
  return true;
}

bool TunerCalls::Do(const Pod& pod, const tuner_action::Announce& step) {
  return WriteChange(pod, step);
}

bool TunerCalls::Do(const Pod& pod, const tuner_action::Record& step) {
  return WriteChange(pod, step);
}

bool TunerCalls::WriteChange(const Pod& pod, const tuner_action::ChangeStep& step) {
  const auto precondition =
      step.unchanged ? kube::Precondition::kUnchanged : kube::Precondition::kSamePod;
  const Result<Pod> answer =
      Annotate(pod, {{annotations::kChange, wire::WriteChange(step.change)}}, precondition);
  if (Took(answer, pod, "cannot record a change")) return true;
  metrics_.CountFailure(ToString(ChangeFailure::kRefused));
  return false;
}

bool TunerCalls::Do(const Pod& pod, const tuner_action::Resize& step) {
  const Result<Pod> answer =
      step.unchanged ? ResizeUnchanged(pod, step.change) : ResizeFrom(pod, step.change);
  if (!Took(answer, pod, "cannot make a change")) {
    const bool never_fits = answer.error().code == ErrorCode::kInvalid;
    const auto failure = never_fits ? ChangeFailure::kInfeasible : ChangeFailure::kRefused;
    metrics_.CountFailure(ToString(failure));
    return false;
  }
  ReportChange(pod, step.change);
  return true;
}

bool TunerCalls::Do(const Pod& pod, const tuner_action::Withdraw& step) {
  if (step.failure) metrics_.CountFailure(ToString(*step.failure));
  // A resize without an answer may have succeeded, and our copy may be out of date.
  const Result<Pod> found = pods_.Get(pod.pod_namespace, pod.name);
  if (!Took(found, pod, "cannot withdraw an announced change")) return false;
  if (found->uid != pod.uid || !found->fungible) return true;
  kube::AnnotationChanges changes;
  if (found->fungible->Announced()) {
    changes.emplace_back(annotations::kChange, wire::WriteChange(step.before));
  }
  if (step.unshrinkable_until && AsksFor(*found, step.change.from, step.change)) {
    changes.emplace_back(annotations::kUnshrinkableUntil, ToTimeText(*step.unshrinkable_until));
  }
  if (changes.empty()) return true;
  return Took(Annotate(pod, changes), pod, "cannot withdraw an announced change");
}

bool TunerCalls::Do(const Pod& pod, const tuner_action::PutBack& step) {
  // The kubelet may have made the change since the watch last reported the pod.
  const Result<Pod> found = pods_.Get(pod.pod_namespace, pod.name);
  if (!Took(found, pod, "cannot revert a change")) return false;
  if (found->uid != pod.uid || !found->fungible || WasMade(*found, step.change)) return true;
  metrics_.CountFailure(ToString(step.failure));
  kube::AnnotationChanges changes = {{annotations::kChange, wire::WriteChange(step.change)}};
  if (step.unshrinkable_until) {
    changes.emplace_back(annotations::kUnshrinkableUntil, ToTimeText(*step.unshrinkable_until));
  }
  if (!Took(Annotate(pod, changes), pod, "cannot revert a change")) return false;
  const Result<Pod> resized = ResizeFrom(pod, step.change, true);
  if (Took(resized, pod, "cannot revert a change")) {
    ReportChange(pod, step.change);
    return true;
  }
  const auto seen = state_.FindPod(pod.uid);
  if (resized.error().code == ErrorCode::kConflict && seen && seen->fungible &&
      WasMade(*seen, step.change)) {
    Took(Annotate(pod, {{annotations::kChange, wire::WriteChange(NotReverted(step.change))}}), pod,
         "cannot record a change");
  }
  return false;
}

bool TunerCalls::Do(const Pod& pod, const tuner_action::Notify& notice) {
  metrics_.CountRespected(ToString(notice.reason));
  log_.Info("pod respected",
            {{"pod", pod.Key()}, {"reason", ToString(notice.reason)}, {"message", notice.message}});
  if (notice.reason != Respected::kDevicesLost) {
    events_.Record(kube::AboutPod(pod, "Normal", "SynergyRespected", notice.message));
    return true;
  }
  constexpr const char* kReason = "SynergyDevicesLost";
  events_.Record(kube::AboutPod(pod, "Warning", kReason, notice.message));
  events_.Record(kube::AboutNode(pod.node, "Warning", kReason,
                                 fmt::format("pod {}: {}", pod.Key(), notice.message)));
  return true;
}

void TunerCalls::ReportChange(const Pod& pod, const ChangeRecord& change) {
  metrics_.CountChange(ToString(change.kind));
  log_.Info("allocation changed", {{"pod", pod.Key()},
                                   {"kind", ToString(change.kind)},
                                   {"from", DescribeCpuAndMemory(change.from)},
                                   {"to", DescribeCpuAndMemory(change.to)},
                                   {"why", change.why}});
  events_.Record(kube::AboutPod(pod, change.kind == ChangeKind::kUndone ? "Warning" : "Normal",
                                std::string(EventReason(change.kind)),
                                fmt::format("from {} to {}: {}", DescribeCpuAndMemory(change.from),
                                            DescribeCpuAndMemory(change.to), change.why)));
}

}  // namespace synergy::controller
