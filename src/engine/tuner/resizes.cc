#include "engine/tuner/resizes.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "allocation/surplus.h"
#include "cluster/devices/device_safety.h"

namespace synergy {
namespace {

using tuner_action::Announce;
using tuner_action::PutBack;
using tuner_action::Record;
using tuner_action::Resize;
using tuner_action::Withdraw;

using Phase = PodChange::Phase;

// How long to leave a previous process's announcement alone, because its own call may still be
// running.
constexpr Duration kGrace = std::chrono::seconds(5);
constexpr Duration kSlack = std::chrono::seconds(1);  // wall clock and monotonic clock may differ

bool IsCut(const ChangeRecord& change) { return LargerOf(change.from, change.to) == change.from; }

// Returns whether a resize leaves the pod all its devices. `node`: the pod's node; empty if the pod
// waits.
bool KeepsDevices(const ClusterSnapshot& cluster, const Pod& pod, const std::string& node) {
  if (node.empty()) return true;
  const auto place = cluster.Find(node);
  return place && MayResize(pod, cluster.node(*place));
}

// Returns the node's free amounts, given its pods and what is announced for them; nullopt if there
// is no such node.
std::optional<ResourceVector> FreeOn(const ClusterSnapshot& cluster, const std::string& node) {
  const auto place = cluster.Find(node);
  if (!place || !cluster.node(*place).exists) return std::nullopt;
  return WithNominated(cluster.node(*place)).Free();
}

bool HasRoom(const ClusterSnapshot& cluster, const PodChange& change) {
  if (IsOfLoan(change.record.kind)) return HasCpu(cluster, change.node);
  const std::optional<ResourceVector> free = FreeOn(cluster, change.node);
  return free && free->cpu >= MilliCpu(0) && free->memory >= Bytes(0);
}

// Returns the part of a running pod's change that comes first.
ResourceVector FirstOf(const ResourceVector& from, const ResourceVector& to) {
  ResourceVector first = from;
  if (to.cpu != from.cpu) {
    first.cpu = to.cpu;
  } else {
    first.memory = to.memory;
  }
  return first;
}

template <class Step>
TunerAction StepOf(const PodChange& change) {
  return {change.pod, Step{{change.record, change.node.empty()}}};
}

// Returns the withdrawal of an announced change. A process that takes over an announcement does not
// know the previous record. Without a record the amounts would look changed by hand, so this
// function creates one.
Withdraw Withdrawal(const PodChange& change, WallTime now) {
  const ChangeRecord& record = change.record;
  const ResourceVector& kept = record.from;
  ChangeRecord made_up{.kind = ChangeKind::kUndone,
                       .from = kept,
                       .to = kept,
                       .why = "an announced change was not made",
                       .at = now,
                       .memory_changed_before = record.memory_changed_before,
                       .borrowed = record.BorrowedBefore()};
  if (record.kind == ChangeKind::kReturned) {
    made_up.kind = ChangeKind::kLent;
    made_up.from = record.to;
    made_up.borrower = record.borrower;
  }
  return {{change.record, change.node.empty()}, change.before.value_or(made_up)};
}

PutBack PuttingBack(const PodChange& change, ChangeFailure failure, const TunerSettings& settings,
                    WallTime now) {
  const ManagedContainer& fungible = *change.pod->fungible;
  PutBack put_back{.failure = failure};
  put_back.change = {.kind = InverseOf(change.record.kind),
                     .from = fungible.requested,
                     .to = fungible.in_force,
                     .why = fmt::format("the kubelet could not apply it ({}): {}",
                                        ToString(failure), fungible.resize_message),
                     .at = now,
                     .memory_changed_before = change.record.MemoryChanged(),
                     .borrowed = change.record.BorrowedBefore(),
                     .borrower = change.record.borrower};
  if (IsCut(change.record) && !IsOfLoan(change.record.kind))
    put_back.unshrinkable_until = now + settings.unshrinkable;
  return put_back;
}

// Ends a change that is in force or needs nothing more.
void End(TunerMemory& memory, const std::string& uid) {
  const auto change = memory.changes.find(uid);
  if (!change->second.node.empty()) memory.touched.insert(change->second.node);
  memory.changes.erase(change);
}

void GiveUp(const TunerSettings& settings, TunerMemory& memory, const std::string& uid,
            Instant now) {
  memory.resting[uid] = now + settings.round;
  memory.loan_retries[uid] = now + settings.retry;
  // Without that cut the kept place has no room.
  for (auto& [waiting, place] : memory.places) {
    if (place.cuts.contains(uid)) place.until = now;
  }
  if (const auto own = memory.waiting.find(uid); own != memory.waiting.end()) {
    own->second.next_attempt = now + Doubled(settings.retry, own->second.attempts, settings.round);
    ++own->second.attempts;
  }
  // There may be room now although no node has changed.
  LookAnew(memory);
  End(memory, uid);
}

void RememberUnshrinkable(TunerMemory& memory, const TunerSettings& settings, Instant now) {
  const Instant then = now + settings.unshrinkable + std::chrono::milliseconds(1);
  memory.look_anew = std::min(memory.look_anew.value_or(then), then);
}

void RememberInfeasible(TunerPass& pass, const PodChange& change) {
  const auto node = pass.cluster.Find(change.node);
  if (!node) return;
  const ChangeRecord& record = change.record;
  const InfeasibleKey key{change.node, change.pod->fungible->enforcement,
                          record.from.cpu != record.to.cpu ? Dimension::kCpu : Dimension::kMemory};
  pass.memory.infeasible[key] = {NodeMark::Of(pass.cluster.node(*node)),
                                 pass.at.now + pass.settings.infeasible};
}

// The state of a change that the API server has accepted: in force, failed, or neither yet.
struct Verdict {
  bool ended = false;
  std::optional<ChangeFailure> failure;
};

Verdict Judge(const PodChange& change, bool late) {
  const ManagedContainer& fungible = *change.pod->fungible;
  if (fungible.requested != change.record.to) {
    // Our copy may be out of date. Any other amounts come from a user or another controller, and
    // are left alone.
    return {.ended = fungible.requested != change.record.from || late};
  }
  if (change.pod->node.empty() || fungible.Settled()) return {.ended = true};
  if (fungible.resize == ResizeState::kInfeasible) return {true, ChangeFailure::kInfeasible};
  if (!late) return {};
  switch (fungible.resize) {
    case ResizeState::kDeferred:
      return {true, ChangeFailure::kDeferred};
    case ResizeState::kRefused:
      return {true, ChangeFailure::kRefused};
    default:
      return {true, ChangeFailure::kTimeout};
  }
}

void RemindKubelet(TunerPass& pass, PodChange& change) {
  const ManagedContainer& fungible = *change.pod->fungible;
  if (fungible.in_force.memory <= fungible.requested.memory) return;
  if (change.remind_kubelet == Instant{}) {
    // The kubelet has just looked at the pod.
    change.remind_kubelet = pass.at.now + pass.settings.remind_kubelet;
  } else if (pass.at.now >= change.remind_kubelet) {
    change.remind_kubelet = pass.at.now + pass.settings.remind_kubelet;
    Record again{{change.record, change.node.empty()}};
    again.change.at = pass.at.wall;
    pass.Do({change.pod, std::move(again)});
  }
  pass.WakeAt(change.remind_kubelet);
}

PodChange Begin(const TunerPass& pass, const std::shared_ptr<const Pod>& pod,
                const ResourceVector& to, ChangeKind kind, std::string why) {
  const ManagedContainer& fungible = *pod->fungible;
  const ResourceVector first = pod->node.empty() ? to : FirstOf(fungible.requested, to);
  PodChange change;
  change.pod = pod;
  change.node = pod->node;
  change.begun = pass.at.now;
  change.before = fungible.change;
  change.record = {
      .kind = kind,
      .from = fungible.requested,
      .to = first,
      .why = std::move(why),
      .at = pass.at.wall,
      .memory_changed_before = change.before ? change.before->MemoryChanged() : std::nullopt,
      .borrowed = fungible.Borrows()};
  if (first != to) change.then = to;
  return change;
}

// Returns whether the second dimension's change may follow: the pod keeps its devices, and the
// amounts that the change takes are still surplus.
bool MayGoOn(const TunerPass& pass, const PodChange& change) {
  if (change.node.empty()) return true;
  const auto place = pass.cluster.Find(change.node);
  if (!place) return false;
  const NodeState& node = pass.cluster.node(*place);
  return MayResize(*change.pod, node) &&
         IsWithinSurplus(node, *change.pod, *change.then, pass.at.wall);
}

// Begins the second dimension's change, now that the first is in force.
void GoOn(TunerPass& pass, const PodChange& change) {
  const std::shared_ptr<const Pod> pod = change.pod;
  const ResourceVector to = *change.then;
  const ChangeKind kind = change.record.kind;
  std::string why = change.record.why;
  if (kind == ChangeKind::kGrown) {
    Grow(pass, pod, to, std::move(why));
  } else {
    Cut(pass, pod, to, kind, std::move(why));
  }
}

void AdvanceMade(TunerPass& pass, const std::string& uid, PodChange& change) {
  const bool late = pass.at.now >= change.due;
  const Verdict verdict = Judge(change, late);
  // Putting back a change that the kubelet has begun resizes the container once more.
  const ManagedContainer& now = *change.pod->fungible;
  const bool has_begun = now.set_aside != now.in_force;
  if (verdict.failure && has_begun && !KeepsDevices(pass.cluster, *change.pod, change.node)) {
    GiveUp(pass.settings, pass.memory, uid, pass.at.now);
  } else if (verdict.failure) {
    pass.Do({change.pod, PuttingBack(change, *verdict.failure, pass.settings, pass.at.wall)});
    RememberUnshrinkable(pass.memory, pass.settings, pass.at.now);
    if (*verdict.failure == ChangeFailure::kInfeasible) RememberInfeasible(pass, change);
    GiveUp(pass.settings, pass.memory, uid, pass.at.now);
  } else if (!verdict.ended) {
    RemindKubelet(pass, change);
    pass.WakeAt(change.due);
  } else if (change.pod->fungible->requested != change.record.to) {
    GiveUp(pass.settings, pass.memory, uid, pass.at.now);
  } else if (!change.then) {
    End(pass.memory, uid);
  } else if (MayGoOn(pass, change)) {
    GoOn(pass, change);
  } else {
    GiveUp(pass.settings, pass.memory, uid, pass.at.now);
  }
}

void AdvanceAnnounced(TunerPass& pass, const std::string& uid, PodChange& change) {
  if (pass.at.now < change.due) {
    pass.WakeAt(change.due);
    return;
  }
  const bool waits = change.node.empty();
  // Wait until the watch has reported the announcement, and thus all pods that were bound or grew
  // before it. After an outage of the API server, this may take seconds.
  if (!waits && pass.cluster.pods_observed_until() < change.pod->resource_version) return;
  // If the pod has been bound meanwhile, the kubelet may start it with the amounts from its bind.
  const bool bound = waits && !change.pod->node.empty();
  const bool by_others = change.pod->fungible->requested != change.record.from;
  // After the announcement expires, other pods may take the room.
  const bool counts = change.pod->fungible->announced_until > pass.at.wall;
  const bool keeps_devices = KeepsDevices(pass.cluster, *change.pod, change.node);
  const bool has_room = waits || IsCut(change.record) || (counts && HasRoom(pass.cluster, change));
  if (!by_others && !bound && keeps_devices && has_room) {
    change.phase = Phase::kResizing;
    pass.Do(StepOf<Resize>(change));
    return;
  }
  if (!by_others) {
    Withdraw withdrawal = Withdrawal(change, pass.at.wall);
    if (!bound && keeps_devices) withdrawal.failure = ChangeFailure::kNoRoom;
    pass.Do({change.pod, std::move(withdrawal)});
  }
  GiveUp(pass.settings, pass.memory, uid, pass.at.now);
}

// Returns whether the pod announces the revert of a change that the kubelet has not applied.
bool AnnouncesRevert(const ManagedContainer& fungible) {
  return fungible.Announced() && fungible.in_force == fungible.change->to;
}

// Returns the change that `revert` undoes.
ChangeRecord Reverted(const ChangeRecord& revert) {
  return {.kind = InverseOf(revert.kind),
          .from = revert.to,
          .to = revert.from,
          .why = revert.why,
          .at = revert.at,
          .memory_changed_before = revert.memory_changed_before,
          .borrowed = revert.BorrowedBefore(),
          .borrower = revert.borrower};
}

void Adopt(TunerPass& pass, const std::shared_ptr<const Pod>& pod) {
  const ManagedContainer& fungible = *pod->fungible;
  PodChange change;
  change.pod = pod;
  change.node = pod->node;
  change.record = *fungible.change;
  if (AnnouncesRevert(fungible)) {
    change.record = Reverted(change.record);
  } else if (fungible.Announced()) {
    pass.Do({change.pod, Withdrawal(change, pass.at.wall)});
    return;
  }
  if (fungible.Unrecorded()) {
    change.record = {.kind = ChangeKind::kReclaimed,
                     .from = change.record.to,
                     .to = fungible.requested,
                     .why = "found without a recorded reason",
                     .at = pass.at.wall,
                     .memory_changed_before = change.record.MemoryChanged(),
                     .borrowed = change.record.borrowed};
    pass.Do(StepOf<Record>(change));
  }
  change.phase = Phase::kMade;
  change.due = pass.at.now + pass.settings.patience;
  pass.memory.changes.insert_or_assign(pod->uid, std::move(change));
}

}  // namespace

void Cut(TunerPass& pass, const std::shared_ptr<const Pod>& pod, const ResourceVector& to,
         ChangeKind kind, std::string why) {
  PodChange change = Begin(pass, pod, to, kind, std::move(why));
  const bool waits = pod->node.empty();
  change.phase = waits ? Phase::kAnnouncing : Phase::kResizing;
  pass.Do(waits ? StepOf<Announce>(change) : StepOf<Resize>(change));
  pass.memory.changes.insert_or_assign(pod->uid, std::move(change));
}

void Grow(TunerPass& pass, const std::shared_ptr<const Pod>& pod, const ResourceVector& to,
          std::string why) {
  PodChange change = Begin(pass, pod, to, ChangeKind::kGrown, std::move(why));
  pass.Do(StepOf<Announce>(change));
  pass.memory.changes.insert_or_assign(pod->uid, std::move(change));
}

void MoveLoan(TunerPass& pass, const std::shared_ptr<const Pod>& pod, ChangeKind kind, MilliCpu cpu,
              MilliCpu borrowed, std::string borrower, std::string why) {
  ResourceVector to = pod->fungible->requested;
  to.cpu = cpu;
  PodChange change = Begin(pass, pod, to, kind, std::move(why));
  change.record.borrowed = borrowed;
  change.record.borrower = std::move(borrower);
  pass.Do(StepOf<Announce>(change));
  pass.memory.changes.insert_or_assign(pod->uid, std::move(change));
}

bool HasCpu(const ClusterSnapshot& cluster, const std::string& node) {
  const std::optional<ResourceVector> free = FreeOn(cluster, node);
  return free && free->cpu >= MilliCpu(0);
}

void TakeOverSoon(TunerMemory& memory, Duration round, Instant now) {
  if (memory.take_over) return;
  memory.take_over_after =
      std::min<Duration>(std::max<Duration>(2 * memory.take_over_after, kGrace + kSlack), round);
  memory.take_over = now + memory.take_over_after;
}

void TakeOverUnfinished(TunerPass& pass) {
  pass.memory.take_over.reset();
  const WallTime old = pass.at.wall - kGrace;
  for (NodeIndex index = 0; index < pass.cluster.size(); ++index) {
    for (const auto& pod : pass.cluster.node(index).detail->pods) {
      if (!pod->fungible || pod->deleting || pod->waiting ||
          pass.memory.changes.contains(pod->uid)) {
        continue;
      }
      const ManagedContainer& fungible = *pod->fungible;
      if (!fungible.change || fungible.ChangedByHand()) continue;
      const bool unfinished = fungible.Announced() || !fungible.Settled();
      if (fungible.Unrecorded() || (unfinished && fungible.change->at <= old)) Adopt(pass, pod);
    }
  }
}

void AdvanceChanges(TunerPass& pass) {
  std::vector<std::string> uids;
  uids.reserve(pass.memory.changes.size());
  for (const auto& [uid, change] : pass.memory.changes) uids.push_back(uid);
  for (const std::string& uid : uids) {
    PodChange& change = pass.memory.changes.at(uid);
    if (change.gone || !change.pod->fungible) {
      GiveUp(pass.settings, pass.memory, uid, pass.at.now);
      continue;
    }
    switch (change.phase) {
      case Phase::kAnnouncing:
      case Phase::kResizing:
        break;  // in progress; OnChangeResult() goes on
      case Phase::kAnnounced:
        AdvanceAnnounced(pass, uid, change);
        break;
      case Phase::kMade:
        AdvanceMade(pass, uid, change);
        break;
    }
  }
}

void OnChangeResult(const TunerSettings& settings, TunerMemory& memory, const TunerAction& action,
                    bool done, Moment at) {
  const std::string& uid = action.pod->uid;
  const auto it = memory.changes.find(uid);
  if (it == memory.changes.end()) return;
  PodChange& change = it->second;
  const bool of_loan = IsOfLoan(change.record.kind);
  const bool running_cut = !change.node.empty() && change.phase == Phase::kResizing &&
                           change.record.kind != ChangeKind::kGrown && !of_loan;
  const bool announces = std::holds_alternative<Announce>(action.what);
  if (announces && done) {
    change.phase = Phase::kAnnounced;
    // No other pod competes for the amounts that a waiting pod gives up, and the extender always
    // counts a loan's room as taken.
    const bool competes = !change.node.empty() && !of_loan;
    const Duration settle = std::max<Duration>(settings.settle, 2 * (at.now - change.begun));
    change.due = at.now + (competes ? settle : Duration::zero());
  } else if (announces) {
    GiveUp(settings, memory, uid, at.now);
  } else if (done) {
    change.phase = Phase::kMade;
    change.due = at.now + settings.patience;
    if (running_cut) memory.next.push_back(StepOf<Record>(change));
  } else {
    Withdraw withdrawal = Withdrawal(change, at.wall);
    // Mark the pod so that other programs do not count on its surplus.
    if (running_cut) {
      withdrawal.unshrinkable_until = at.wall + settings.unshrinkable;
      RememberUnshrinkable(memory, settings, at.now);
    }
    memory.next.push_back({change.pod, std::move(withdrawal)});
    GiveUp(settings, memory, uid, at.now);
  }
}

}  // namespace synergy
