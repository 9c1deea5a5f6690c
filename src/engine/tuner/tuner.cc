#include "engine/tuner/tuner.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "cluster/node_selection.h"
#include "engine/tuner/loans.h"
#include "engine/tuner/reclaim.h"
#include "engine/tuner/regrow.h"
#include "engine/tuner/resizes.h"
#include "engine/tuner/tuner_pass.h"

namespace synergy {
namespace {

bool SameSelection(const Pod& a, const Pod& b) {
  const auto& one = a.waiting->selection;
  const auto& other = b.waiting->selection;
  return one == other || (one && other && *one == *other);
}

// Returns whether the search for room has the same result for two waiting pods.
bool Alike(const Pod& a, const Pod& b) {
  if (!(a.requests == b.requests) || a.gpu_product != b.gpu_product ||
      a.tolerates_unschedulable != b.tolerates_unschedulable ||
      (a.fungible == nullptr) != (b.fungible == nullptr)) {
    return false;
  }
  if (a.fungible && !(a.fungible->floor == b.fungible->floor)) return false;
  return SameSelection(a, b);
}

void Enqueue(TunerMemory& memory, const WaitingPod& waiting) {
  if (waiting.pod->IsOfGang()) {
    memory.gangs[waiting.pod->gang->name].uids.insert(waiting.pod->uid);
    return;
  }
  auto kind = std::find_if(memory.kinds.begin(), memory.kinds.end(), [&](const WaitingKind& known) {
    return Alike(*known.model, *waiting.pod);
  });
  if (kind == memory.kinds.end()) kind = memory.kinds.insert(kind, {waiting.pod, {}, 0});
  kind->queue.insert({waiting.pod->priority, waiting.since, waiting.pod->uid});
}

void Dequeue(TunerMemory& memory, const WaitingPod& waiting) {
  if (waiting.pod->IsOfGang()) {
    const auto gang = memory.gangs.find(waiting.pod->gang->name);
    if (gang != memory.gangs.end()) gang->second.uids.erase(waiting.pod->uid);
    return;
  }
  const WaitingKind::Rank rank{waiting.pod->priority, waiting.since, waiting.pod->uid};
  for (auto kind = memory.kinds.begin(); kind != memory.kinds.end(); ++kind) {
    if (kind->queue.erase(rank) == 0) continue;
    if (kind->queue.empty()) memory.kinds.erase(kind);
    return;
  }
}

// Returns whether two versions of a pod are the same in everything that kube-scheduler considers
// when it looks for a node.
bool SameForKubeScheduler(const Pod& a, const Pod& b) {
  return a.requests == b.requests && a.labels == b.labels && a.priority == b.priority &&
         SameSelection(a, b);
}

// Forgets refusals of the node of a pod that left, because the pod may have been their cause.
void ForgetRefusals(TunerMemory& memory, const Pod& gone) {
  for (auto& [uid, waiting] : memory.waiting) {
    const auto refusal = waiting.refused.find(gone.node);
    if (refusal == waiting.refused.end() || !refusal->second.there.contains(gone.uid)) continue;
    waiting.refused.erase(refusal);
    waiting.looked_at = 0;
  }
}

// Divides the node at `then` instead of at once, so that waiting pods get the freed room first.
// Other pods that grew into the room at once would have to be cut again.
void DivideLater(TunerMemory& memory, const std::string& node, Instant then) {
  const auto [due, is_new] = memory.due.try_emplace(node, then);
  if (!is_new) due->second = std::min(due->second, then);
}

// Postpones the search for room after a pod has left. kube-scheduler first tries all waiting pods
// in the freed room. A place that is kept before that, at the cost of other pods, could take the
// room from a pod that fits without any cut. Each search is postponed only once, because in some
// clusters pods leave all the time.
void LookLater(TunerMemory& memory, Instant now, Duration look_again) {
  for (WaitingKind& kind : memory.kinds) {
    if (kind.postponed) continue;
    kind.postponed = true;
    kind.next_look = std::max(kind.next_look, now + look_again);
  }
  for (auto& [name, gang] : memory.gangs) {
    if (std::exchange(gang.postponed, true)) continue;
    gang.next_attempt = std::max(gang.next_attempt, now + look_again);
  }
}

// Returns whether kube-scheduler has handled a pod that waited: it bound the pod, or now reports
// something else.
bool HasLooked(const WaitingPod& before, const Pod& pod) {
  if (!before.pod) return false;
  if (!pod.waiting) return !pod.node.empty();
  const Waiting& known = *before.pod->waiting;
  return pod.waiting->unschedulable != known.unschedulable || pod.waiting->since != known.since ||
         pod.waiting->message != known.message;
}

void StopWaiting(TunerMemory& memory, const std::string& uid) {
  const auto it = memory.waiting.find(uid);
  if (it == memory.waiting.end()) return;
  Dequeue(memory, it->second);
  memory.waiting.erase(it);
}

}  // namespace

Tuner::Tuner(TunerSettings settings, const ProfileCatalog& profiles, const StorageCatalog* storage)
    : settings_(std::move(settings)), profiles_(profiles), storage_(storage) {}

TunerMemory Tuner::StartOver(Moment at) {
  TunerMemory memory;
  memory.started = at.now;
  memory.next_round = at.now;
  return memory;
}

void Tuner::Observe(TunerMemory& memory, const PodNews& news, Moment at) const {
  const Pod& pod = *news.pod;
  if (const auto change = memory.changes.find(pod.uid); change != memory.changes.end()) {
    change->second.pod = news.pod;
    change->second.gone = news.gone;
  }
  if (const auto place = memory.places.find(pod.uid); place != memory.places.end()) {
    place->second.pod = news.pod;
    place->second.gone = news.gone;
  }
  if (news.gone) {
    if (!pod.node.empty()) DivideLater(memory, pod.node, at.now + settings_.settle);
    if (!pod.node.empty() && pod.UsesGpus()) LookLater(memory, at.now, settings_.look_again);
    if (!pod.node.empty()) ForgetRefusals(memory, pod);
    memory.resting.erase(pod.uid);
    memory.loan_retries.erase(pod.uid);
    memory.notified.erase(pod.uid);
  }
  if (!news.gone && pod.fungible &&
      (pod.fungible->Lends() > MilliCpu(0) || pod.fungible->Borrows() > MilliCpu(0))) {
    memory.in_loans.insert_or_assign(pod.uid, news.pod);
  } else {
    memory.in_loans.erase(pod.uid);
  }
  if (const auto known = memory.waiting.find(pod.uid);
      known != memory.waiting.end() && HasLooked(known->second, pod)) {
    memory.scheduler_seen = at.now;
  }
  if (news.gone || pod.deleting || pod.gated || !pod.waiting || !pod.UsesGpus()) {
    StopWaiting(memory, pod.uid);
    return;
  }
  WaitingPod& waiting = memory.waiting[pod.uid];
  if (waiting.pod) Dequeue(memory, waiting);
  if (waiting.pod && !waiting.refused.empty() && !SameForKubeScheduler(*waiting.pod, pod)) {
    waiting.refused.clear();
    waiting.looked_at = 0;
  }
  const bool was_unschedulable = waiting.pod && waiting.pod->waiting->unschedulable;
  if (!was_unschedulable) waiting.since = at.now;
  waiting.pod = news.pod;
  if (NamesShortage(pod)) {
    waiting.unnamed_since.reset();
  } else if (pod.waiting->unschedulable && !waiting.unnamed_since) {
    waiting.unnamed_since = at.now;
  }
  if (!pod.waiting->unschedulable || pod.waiting->scheduler != settings_.scheduler_name) return;
  Enqueue(memory, waiting);
}

void Tuner::ObserveIdle(TunerMemory& memory, std::map<std::string, IdlePod> idle) const {
  memory.idle = std::move(idle);
}

void Tuner::ObserveStorage(TunerMemory& memory, const std::set<std::string>& changed) const {
  for (const std::string& node : changed) memory.divided.erase(node);
}

void Tuner::ObserveReservations(TunerMemory& memory,
                                std::vector<GpuReservation> reservations) const {
  memory.reservations = std::move(reservations);
  for (auto& [name, prepared] : memory.prepared) prepared.looked_at = 0;
}

Instant Tuner::ReservationsDue(const TunerMemory& memory) const {
  return PreparationDue(memory, settings_);
}

std::set<std::string> Tuner::NodesOfLenders(const TunerMemory& memory) const {
  std::set<std::string> nodes;
  for (const auto& [uid, pod] : memory.in_loans) {
    if (pod->fungible->Lends() > MilliCpu(0)) nodes.insert(pod->node);
  }
  return nodes;
}

TunerPlan Tuner::Plan(const ClusterSnapshot& cluster, TunerMemory& memory, Moment at) const {
  TunerPlan plan;
  plan.actions = std::exchange(memory.next, {});
  plan.wake = Instant::max();
  TunerPass pass{settings_, profiles_, storage_, cluster, at, memory, plan};
  AdvanceChanges(pass);
  AdvancePlaces(pass);
  PrepareNodes(pass);
  ReturnLoans(pass);
  MakeRoom(pass);
  MakeRoomAhead(pass);
  DivideNodes(pass);
  MakeLoans(pass);
  for (const TunerAction& action : plan.actions) {
    Asked& asked = memory.asked[action.pod->uid];
    asked.node = action.pod->node;
    ++asked.actions;
  }
  memory.actions_asked += plan.actions.size();
  plan.wake = std::max(plan.wake, at.now);
  return plan;
}

void Tuner::OnResult(TunerMemory& memory, const TunerAction& action, bool done, Moment at) const {
  if (const auto asked = memory.asked.find(action.pod->uid); asked != memory.asked.end()) {
    --memory.actions_asked;
    if (--asked->second.actions == 0) {
      const auto held_up = memory.held_up.extract(asked->second.node);
      if (!held_up.empty()) memory.touched.insert(asked->second.node);
      memory.asked.erase(asked);
    }
  }
  const bool may_be_left = std::holds_alternative<tuner_action::Announce>(action.what) ||
                           std::holds_alternative<tuner_action::Record>(action.what) ||
                           std::holds_alternative<tuner_action::Withdraw>(action.what) ||
                           std::holds_alternative<tuner_action::PutBack>(action.what);
  if (!done && may_be_left) TakeOverSoon(memory, settings_.round, at.now);
  if (std::holds_alternative<tuner_action::KeepPlace>(action.what)) {
    OnPlaceResult(memory, *action.pod, done);
  } else if (std::holds_alternative<tuner_action::Announce>(action.what) ||
             std::holds_alternative<tuner_action::Resize>(action.what)) {
    OnChangeResult(settings_, memory, action, done, at);
  }  // any other failure shows on the pod later
}

}  // namespace synergy
