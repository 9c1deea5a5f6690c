#include "engine/tuner/reclaim.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "allocation/bind_allocation.h"
#include "allocation/gangs/gang_plan.h"
#include "allocation/surplus.h"
#include "cluster/gang.h"
#include "cluster/state/fit.h"
#include "engine/gangs/preempting_gangs.h"
#include "engine/tuner/gang_room.h"
#include "engine/tuner/resizes.h"
#include "engine/tuner/room.h"

namespace synergy {
namespace {

// Returns the pod's requests at its floor, if those are less than its present requests. Returns
// nullopt for a placeholder, whose amounts the webhook sets.
std::optional<ResourceVector> LessThanItAsksFor(const Pod& pod) {
  if (!pod.fungible || pod.fungible->placeholder) return std::nullopt;
  const ResourceVector least = pod.fungible->WithinQosClass(
      LesserOf(pod.fungible->requested, pod.fungible->Counted(pod.fungible->floor)));
  if (least == pod.fungible->requested) return std::nullopt;
  return least;
}

// Returns the pod as it is after a cut to its floor.
std::shared_ptr<const Pod> AtLeast(const std::shared_ptr<const Pod>& pod) {
  const std::optional<ResourceVector> least = LessThanItAsksFor(*pod);
  return least ? std::make_shared<const Pod>(WithAllocation(*pod, *least)) : pod;
}

// Returns the time from which other pods may be cut for the waiting pod. No pod is cut for it while
// kube-scheduler's message names a reason other than CPU and memory. But the message is only a hint
// (NamesShortage), so this limit expires.
Instant MayCutFrom(const TunerPass& pass, const WaitingPod& waiting) {
  return waiting.unnamed_since ? *waiting.unnamed_since + pass.settings.unnamed : Instant{};
}

bool Refuses(const TunerPass& pass, const NodeState& node, const WaitingPod& waiting) {
  if (waiting.refused.empty()) return false;
  const auto refusal = waiting.refused.find(node.detail->name);
  return refusal != waiting.refused.end() && refusal->second.until > pass.at.now &&
         refusal->second.node == NodeMark::Of(node);
}

// Records that the pod has had room on the node since `room_since` but is not bound there, so a
// reason that the tuner cannot see keeps it away. If kube-scheduler showed no activity meanwhile,
// kube-scheduler may be down. Then the refusal ends soon.
void RememberRefusal(TunerPass& pass, WaitingPod& waiting, const NodeState& node,
                     Instant room_since) {
  auto& refused = waiting.refused;
  if (refused.size() >= kMostRefusals && !refused.contains(node.detail->name)) {
    refused.erase(std::min_element(
        refused.begin(), refused.end(),
        [](const auto& a, const auto& b) { return a.second.until < b.second.until; }));
  }
  Refusal refusal{.node = NodeMark::Of(node)};
  const auto before = refused.find(node.detail->name);
  if (before != refused.end()) refusal.times = before->second.times;
  refusal.until = pass.at.now + pass.settings.keep;
  if (pass.memory.scheduler_seen >= room_since) {
    refusal.until =
        pass.at.now + Doubled(pass.settings.refused, refusal.times, pass.settings.most_refused);
    ++refusal.times;
  }
  for (const auto& pod : node.detail->pods) refusal.there.insert(pod->uid);
  refused.insert_or_assign(node.detail->name, std::move(refusal));
}

bool HasPlace(const Pod& pod, WallTime now) {
  return pod.waiting && !pod.waiting->kept_node.empty() && pod.waiting->kept_until > now;
}

// Returns whether a move, gang preemption or an earlier tuner keeps a place for the waiting pod.
bool IsKeptByOthers(const TunerPass& pass, const Pod& pod) {
  return HasPlace(pod, pass.at.wall) && !pass.memory.places.contains(pod.uid);
}

// Returns whether another part of the controller has replaced or renewed the place.
bool IsTakenOver(const TunerPass& pass, const KeptPlace& place) {
  constexpr Duration kPrecision = std::chrono::seconds(1);  // more than that of the written time
  const auto& waiting = place.pod->waiting;
  return HasPlace(*place.pod, pass.at.wall) &&
         (waiting->kept_node != place.node ||
          waiting->kept_until > place.until_as_written + kPrecision);
}

// Returns the nodes whose free amounts are about to change: those with changes, kept places or
// unfinished actions.
std::set<std::string_view> NodesInProgress(const TunerMemory& memory) {
  std::set<std::string_view> nodes;
  for (const auto& [uid, change] : memory.changes) nodes.insert(change.node);
  for (const auto& [uid, place] : memory.places) nodes.insert(place.node);
  for (const auto& [uid, asked] : memory.asked) nodes.insert(asked.node);
  return nodes;
}

// Makes the cuts of the plan without keeping a place.
void CutAsPlanned(TunerPass& pass, const RoomPlan& plan, const std::string& why) {
  for (size_t i = 0; i < plan.amounts.size(); ++i) {
    if (plan.amounts[i] != plan.node_shares.shares[i].current)
      Cut(pass, plan.node_shares.pods[i], plan.amounts[i], ChangeKind::kReclaimed, why);
  }
}

// Records that kube-scheduler did not use the place in time, if the pod fits there.
void RememberUnusedRoom(TunerPass& pass, const KeptPlace& place) {
  const auto waiting = pass.memory.waiting.find(place.pod->uid);
  const auto index = pass.cluster.Find(place.node);
  if (waiting == pass.memory.waiting.end() || !index) return;
  const NodeState& node = pass.cluster.node(*index);
  if (!CheckFit(*place.pod, WithoutPod(node, place.pod->uid)).none()) return;
  RememberRefusal(pass, waiting->second, node, *place.room_since);
}

// A gang has all of its places or none.
void BreakPlaces(TunerMemory& memory, const Pod& pod) {
  if (!pod.gang) return;
  for (auto& [uid, place] : memory.places)
    place.broken |= place.pod->gang && place.pod->gang->name == pod.gang->name;
}

void EndPlace(TunerPass& pass, const std::string& uid, PlaceEnd end) {
  const auto it = pass.memory.places.find(uid);
  KeptPlace& place = it->second;
  pass.Do({place.pod, tuner_action::EndPlace{place.node, end}});
  // Other pods may use the room that the cuts made.
  pass.memory.touched.insert(place.node);
  const std::shared_ptr<const Pod> pod = place.pod;
  pass.memory.places.erase(it);
  if (end == PlaceEnd::kBound) return;
  BreakPlaces(pass.memory, *pod);
  pass.WakeAt(pass.at.now);
}

// Makes kube-scheduler retry a waiting pod, at growing intervals. Call it repeatedly while there is
// room for the pod.
void RemindOfRoom(TunerPass& pass, WaitingPod& waiting) {
  const Instant now = pass.at.now;
  if (pass.memory.asked.contains(waiting.pod->uid)) return;
  if (!waiting.next_reminder) waiting.next_reminder = now + pass.settings.remind;
  if (now >= *waiting.next_reminder) {
    // After an extender rejects a pod, any change of the pod makes kube-scheduler retry it.
    pass.Do({waiting.pod, tuner_action::Remind{}});
    ++waiting.reminders;
    waiting.next_reminder =
        now + Doubled(pass.settings.remind, waiting.reminders, pass.settings.round);
  }
  pass.WakeAt(*waiting.next_reminder);
}

// Returns the planned pod in its present state; null if it has changed since, or if the cut would
// take more than its surplus.
std::shared_ptr<const Pod> StillAsPlanned(const TunerPass& pass, const PlannedCut& cut) {
  const auto index = pass.cluster.Find(cut.pod->node);
  if (!index || pass.memory.changes.contains(cut.pod->uid)) return nullptr;
  const NodeState& node = pass.cluster.node(*index);
  for (const auto& pod : node.detail->pods) {
    if (pod->uid != cut.pod->uid || !pod->fungible) continue;
    const bool same = pod->fungible->requested == cut.pod->fungible->requested && IsSettled(*pod) &&
                      IsWithinSurplus(node, *pod, cut.to, pass.at.wall);
    return same ? pod : nullptr;
  }
  return nullptr;
}

// Requests the cuts for a place that has been written on its pod. Ends the place if a pod to be cut
// has changed.
void AskForCuts(TunerPass& pass, KeptPlace& place) {
  for (const PlannedCut& cut : std::exchange(place.planned, {})) {
    const std::shared_ptr<const Pod> pod = StillAsPlanned(pass, cut);
    if (!pod) {
      place.until = pass.at.now;
      return;
    }
    place.cuts.insert(pod->uid);
    Cut(pass, pod, cut.to, ChangeKind::kReclaimed, fmt::format("room for {}", place.pod->Key()));
  }
}

// Gives up one place of a pod of lower priority if the waiting pod fits there without that place.
void FreePlaceFor(TunerPass& pass, const Pod& pod) {
  for (const auto& [uid, place] : pass.memory.places) {
    const auto index = pass.cluster.Find(place.node);
    if (!index || !MayGoTo(pod, pass.cluster.node(*index))) continue;
    const NodeState& node = pass.cluster.node(*index);
    for (const auto& other : node.detail->pods) {
      if (other->uid != uid || other->priority >= pod.priority) continue;
      if (!CheckFit(pod, WithoutPod(node, *other)).none()) continue;
      EndPlace(pass, std::string(uid), PlaceEnd::kGivenUp);
      return;
    }
  }
}

// `cuts`: the cuts that make the room; null if they belong to another member, or there are none.
void KeepPlace(TunerPass& pass, const WaitingPod& waiting, NodeIndex index, const RoomPlan* cuts) {
  const std::string& node = pass.cluster.node(index).detail->name;
  KeptPlace place{.pod = waiting.pod,
                  .node = node,
                  .until = pass.at.now + pass.settings.keep,
                  .until_as_written = pass.at.wall + pass.settings.keep};
  place.shortage_named = NamesShortage(*waiting.pod);
  for (size_t i = 0; cuts != nullptr && i < cuts->amounts.size(); ++i) {
    const auto& peer = cuts->node_shares.pods[i];
    if (cuts->amounts[i] != peer->fungible->requested)
      place.planned.push_back({peer, cuts->amounts[i]});
  }
  pass.Do({waiting.pod, tuner_action::KeepPlace{.node = node,
                                                .until = place.until_as_written,
                                                .waited = pass.at.now - waiting.since,
                                                .cost = cuts == nullptr ? 0 : cuts->cost}});
  pass.memory.places.insert_or_assign(waiting.pod->uid, std::move(place));
}

enum class Attempt {
  kMade,    // something is in progress for this pod
  kRoom,    // there is room already, for this pod or another of its kind
  kNoRoom,  // no room for any pod of its kind
  kNotDue,  // nothing to do for this pod; another of its kind may still be due
};

// Handles a pod that has room without any cut.
Attempt UseRoom(TunerPass& pass, WaitingPod& waiting, const NodeState& node) {
  const Instant now = pass.at.now;
  const bool still =
      waiting.room_on == node.detail->name && now - waiting.room_seen <= pass.settings.patience;
  if (!still) waiting.room_since = now;
  waiting.room_on = node.detail->name;
  waiting.room_seen = now;
  // kube-scheduler has had enough time.
  if (now - waiting.room_since >= pass.settings.patience) {
    RememberRefusal(pass, waiting, node, waiting.room_since);
    waiting.room_on.clear();
    waiting.next_attempt = now + pass.settings.look_again;
    pass.WakeAt(waiting.next_attempt);
    return Attempt::kNotDue;
  }
  pass.WakeAt(waiting.room_since + pass.settings.patience);
  RemindOfRoom(pass, waiting);
  return Attempt::kRoom;
}

// Cuts the waiting pod to its floor if it requests more, because kube-scheduler must try the
// smaller pod before other pods are cut. Returns whether the pod is cut.
bool CutsItself(TunerPass& pass, const WaitingPod& waiting) {
  const std::optional<ResourceVector> least = LessThanItAsksFor(*waiting.pod);
  if (!least) return false;
  Cut(pass, waiting.pod, *least, ChangeKind::kReclaimed,
      "it waits for CPU or memory and can run with less");
  return true;
}

// `taken`: nodes on which this decision already keeps a place that the snapshot does not show.
Attempt MakeRoomFor(TunerPass& pass, const WaitingKind& kind, WaitingPod& waiting,
                    std::set<std::string>& taken) {
  const Instant now = pass.at.now;
  if (waiting.looked_at == pass.cluster.version()) return Attempt::kNotDue;
  if (now < waiting.next_attempt) {
    pass.WakeAt(waiting.next_attempt);
    return Attempt::kNotDue;
  }
  const Instant may_cut_from = MayCutFrom(pass, waiting);
  const bool may_cut = now >= may_cut_from;
  if (may_cut && CutsItself(pass, waiting)) {
    waiting.next_attempt = now + pass.settings.look_again;
    return Attempt::kMade;
  }
  bool refused = false;
  const auto considers = [&](const NodeState& node) {
    if (node.changed <= std::max(kind.looked_at, waiting.looked_at)) return false;
    if (taken.contains(node.detail->name)) return false;
    const bool refuses = Refuses(pass, node, waiting);
    refused |= refuses;
    return !refuses;
  };
  const std::optional<RoomPlan> plan =
      CheapestRoom(pass.cluster, *waiting.pod, pass.rules(), considers);
  if (!plan) {
    FreePlaceFor(pass, *waiting.pod);
    if (!refused && waiting.looked_at == 0) return Attempt::kNoRoom;
    if (taken.empty()) waiting.looked_at = pass.cluster.version();
    waiting.next_attempt = now + pass.settings.look_again;
    return Attempt::kNotDue;
  }
  if (plan->amounts.empty()) return UseRoom(pass, waiting, pass.cluster.node(plan->node));
  if (!may_cut) {
    waiting.next_attempt = now + pass.settings.look_again;
    pass.WakeAt(may_cut_from);
    return Attempt::kNotDue;
  }
  waiting.next_reminder.reset();
  waiting.reminders = 0;
  waiting.next_attempt = now + Doubled(pass.settings.retry, waiting.attempts, pass.settings.round);
  ++waiting.attempts;
  taken.insert(pass.cluster.node(plan->node).detail->name);
  KeepPlace(pass, waiting, plan->node, &*plan);
  return Attempt::kMade;
}

bool IsInProgress(const TunerMemory& memory, const std::string& uid) {
  return memory.places.contains(uid) || memory.changes.contains(uid) || memory.asked.contains(uid);
}

// Makes the cuts that are still needed for a place that a move or gang preemption keeps.
void MakeRoomInPlace(TunerPass& pass, WaitingPod& waiting, std::set<std::string>& taken) {
  const std::string& name = waiting.pod->waiting->kept_node;
  const Instant now = pass.at.now;
  const Instant from = std::max(waiting.next_attempt, MayCutFrom(pass, waiting));
  if (now < from) return pass.WakeAt(from);
  waiting.next_attempt = now + pass.settings.look_again;
  pass.WakeAt(waiting.next_attempt);
  if (taken.contains(name) || NodesInProgress(pass.memory).contains(name)) return;
  if (CutsItself(pass, waiting)) return;
  const std::optional<RoomPlan> plan =
      CheapestRoom(pass.cluster, *waiting.pod, pass.rules(), [&](const NodeState& node) {
        return node.exists && node.detail->name == name && !Refuses(pass, node, waiting);
      });
  if (!plan) return;
  if (plan->amounts.empty()) {
    UseRoom(pass, waiting, pass.cluster.node(plan->node));
    return;
  }
  taken.insert(name);
  CutAsPlanned(pass, *plan, fmt::format("room for {}", waiting.pod->Key()));
}

// Tries the pods of the kind in order, until one has room without cuts or none of them can get
// room.
void MakeRoomForKind(TunerPass& pass, WaitingKind& kind, std::set<std::string>& taken) {
  if (kind.looked_at == pass.cluster.version()) return;
  if (pass.at.now < kind.next_look) {
    pass.WakeAt(kind.next_look);
    return;
  }
  kind.postponed = false;
  for (const WaitingKind::Rank& next : kind.queue) {
    WaitingPod& waiting = pass.memory.waiting.at(next.uid);
    if (IsInProgress(pass.memory, next.uid) || IsKeptByOthers(pass, *waiting.pod)) continue;
    switch (MakeRoomFor(pass, kind, waiting, taken)) {
      case Attempt::kMade:
      case Attempt::kNotDue:
        break;
      case Attempt::kRoom:
        return;
      case Attempt::kNoRoom:
        if (taken.empty()) {
          kind.looked_at = pass.cluster.version();
        } else {
          pass.WakeAt(pass.at.now + pass.settings.look_again);
        }
        kind.next_look = pass.at.now + pass.settings.look_again;
        return;
    }
  }
}

// Returns the rank of a gang: the time when its last pod began to wait, and its lowest priority.
WaitingKind::Rank RankOf(const TunerMemory& memory, const std::string& name,
                         const GangInNeed& gang) {
  WaitingKind::Rank rank{std::numeric_limits<int64_t>::max(), Instant{}, name};
  for (const std::string& uid : gang.uids) {
    const WaitingPod& waiting = memory.waiting.at(uid);
    rank.priority = std::min<int64_t>(rank.priority, waiting.pod->priority);
    rank.since = std::max(rank.since, waiting.since);
  }
  return rank;
}

// Returns the members that wait for room, by name. Returns none if nothing can be done for the gang
// now: the gang is incomplete, some of its pods do not wait, or a change for it is in progress.
// Also returns none if a move or gang preemption keeps places for only some members.
std::vector<WaitingPod*> MembersInNeed(TunerPass& pass, const GangInNeed& gang) {
  TunerMemory& memory = pass.memory;
  std::vector<WaitingPod*> members;
  size_t kept = 0;
  for (const std::string& uid : gang.uids) {
    if (IsInProgress(memory, uid)) return {};
    WaitingPod& waiting = memory.waiting.at(uid);
    if (IsKeptByOthers(pass, *waiting.pod)) ++kept;
    members.push_back(&waiting);
  }
  if (kept != 0 && kept != members.size()) return {};
  const Gang& of = *members.front()->pod->gang;
  const GangSites* const sites = pass.cluster.GangOf(of.name);
  if (sites == nullptr || sites->waiting != members.size() || !IsWhole(pass.cluster, of)) return {};
  std::sort(members.begin(), members.end(),
            [](const WaitingPod* a, const WaitingPod* b) { return a->pod->name < b->pod->name; });
  return members;
}

// Returns the time from which other pods may be cut for the gang: the earliest such time of any
// member.
Instant MayCutFrom(const TunerPass& pass, const std::vector<WaitingPod*>& members) {
  Instant from = Instant::max();
  for (const WaitingPod* member : members) from = std::min(from, MayCutFrom(pass, *member));
  return from;
}

// Gives up places of pods of lower priority if the gang has room without those places. `room_but`:
// returns the gang's room without the places of the pods with the uids `but`.
void FreePlacesFor(
    TunerPass& pass, const std::vector<std::shared_ptr<const Pod>>& members,
    const std::function<std::optional<GangRoom>(const std::set<std::string>& but)>& room_but) {
  int32_t priority = std::numeric_limits<int32_t>::max();
  for (const auto& member : members) priority = std::min(priority, member->priority);
  std::set<std::string> lower;
  for (const auto& [uid, place] : pass.memory.places)
    if (place.pod->priority < priority && place.pod->node.empty()) lower.insert(uid);
  if (lower.empty()) return;
  const std::optional<GangRoom> room = room_but(lower);
  if (!room) return;
  std::set<std::string> nodes;
  for (const NodeIndex node : room->places) nodes.insert(pass.cluster.node(node).detail->name);
  for (const std::string& uid : lower) {
    if (nodes.contains(pass.memory.places.at(uid).node)) EndPlace(pass, uid, PlaceEnd::kGivenUp);
  }
}

void MakeRoomForGang(TunerPass& pass, GangInNeed& gang, std::set<std::string>& taken) {
  const Instant now = pass.at.now;
  if (gang.looked_at == pass.cluster.version()) return;
  if (now < gang.next_attempt) {
    pass.WakeAt(gang.next_attempt);
    return;
  }
  const std::vector<WaitingPod*> members = MembersInNeed(pass, gang);
  if (members.empty()) return;
  gang.postponed = false;
  gang.next_attempt = now + pass.settings.look_again;
  const Instant may_cut_from = MayCutFrom(pass, members);
  const bool may_cut = now >= may_cut_from;
  bool asks_for_less = false;
  for (const WaitingPod* member : members) asks_for_less |= may_cut && CutsItself(pass, *member);
  if (asks_for_less) return;
  const bool in_place = IsKeptByOthers(pass, *members.front()->pod);
  std::set<std::string_view> in_progress;
  if (in_place) in_progress = NodesInProgress(pass.memory);
  bool refused = false;
  const MayGo may_go = [&](size_t member, NodeIndex index) {
    const NodeState& node = pass.cluster.node(index);
    if (taken.contains(node.detail->name)) return false;
    if (in_place && (node.detail->name != members[member]->pod->waiting->kept_node ||
                     in_progress.contains(node.detail->name))) {
      return false;
    }
    const bool refuses = Refuses(pass, node, *members[member]);
    refused |= refuses;
    return !refuses;
  };
  std::vector<std::shared_ptr<const Pod>> pods;
  for (const WaitingPod* member : members) pods.push_back(member->pod);
  const auto room_but = [&](const std::set<std::string>& but) {
    return RoomForGang(pass.cluster, pods, pass.settings.headroom, pass.rules(), may_go, but);
  };
  const std::optional<GangRoom> room = room_but({});
  if (!room) {
    FreePlacesFor(pass, pods, room_but);
    if (taken.empty() && !refused) gang.looked_at = pass.cluster.version();
    pass.WakeAt(gang.next_attempt);
    return;
  }
  if (room->cuts.empty()) {
    for (size_t i = 0; i < members.size(); ++i)
      UseRoom(pass, *members[i], pass.cluster.node(room->places[i]));
    return;
  }
  if (!may_cut) return pass.WakeAt(may_cut_from);
  gang.next_attempt = now + Doubled(pass.settings.retry, gang.attempts, pass.settings.round);
  ++gang.attempts;
  if (in_place) {
    for (const RoomPlan& plan : room->cuts) {
      taken.insert(pass.cluster.node(plan.node).detail->name);
      CutAsPlanned(pass, plan, fmt::format("room for gang {}", members.front()->pod->gang->name));
    }
    return;
  }
  std::map<NodeIndex, const RoomPlan*> cuts;
  for (const RoomPlan& plan : room->cuts) cuts[plan.node] = &plan;
  for (size_t i = 0; i < members.size(); ++i) {
    WaitingPod& member = *members[i];
    member.next_reminder.reset();
    member.reminders = 0;
    const NodeIndex node = room->places[i];
    // The first member on a node gets the node's cuts.
    const auto own = cuts.extract(node);
    KeepPlace(pass, member, node, own.empty() ? nullptr : own.mapped());
    taken.insert(pass.cluster.node(node).detail->name);
  }
}

// The combined state of a gang's places.
struct GangPlaces {
  bool written = true;   // true if all of them are
  bool cutting = false;  // true if any of them is
  bool broken = false;   // one of them has failed
};
using PlacesOfGangs = std::map<std::string_view, GangPlaces>;

// Returns the gang that the place belongs to; empty for a single pod.
std::string_view GangOf(const KeptPlace& place) {
  return place.pod->gang ? std::string_view(place.pod->gang->name) : std::string_view();
}

bool IsCutting(const TunerMemory& memory, const KeptPlace& place) {
  return std::any_of(place.cuts.begin(), place.cuts.end(),
                     [&](const std::string& uid) { return memory.changes.contains(uid); });
}

bool WaitsForLocality(const Pod& pod) {
  return pod.waiting->message.find(kWaitsForLocality) != std::string::npos;
}

// Nodes as they are once all loans have been returned and all surplus is cut.
class NodesWithoutSurplus {
 public:
  explicit NodesWithoutSurplus(const TunerPass& pass) : pass_(pass) {}

  const NodeState& Of(NodeIndex index) {
    const auto found = nodes_.find(index);
    if (found != nodes_.end()) return found->second;
    return nodes_.emplace(index, WithoutSurplus(pass_.cluster.node(index), pass_.at.wall))
        .first->second;
  }

 private:
  const TunerPass& pass_;
  std::map<NodeIndex, NodeState> nodes_;
};

// Returns whether the node takes a pod of the kind. `node`: the node without surplus.
bool Takes(const TunerPass& pass, const NodeState& node, const WaitingKind& kind) {
  if (!MayGoTo(*kind.model, node) || !CheckFit(*AtLeast(kind.model), node).none()) return false;
  return std::any_of(kind.queue.begin(), kind.queue.end(), [&](const WaitingKind::Rank& next) {
    const WaitingPod& waiting = pass.memory.waiting.at(next.uid);
    return pass.at.now >= MayCutFrom(pass, waiting) && !Refuses(pass, node, waiting);
  });
}

// Returns the nodes that would take all members of the gang; none if they do not all fit.
std::set<std::string> NodesToTake(TunerPass& pass, NodesWithoutSurplus& nodes,
                                  const GangInNeed& gang) {
  std::set<std::string> taking;
  if (gang.uids.empty()) return taking;
  const std::vector<WaitingPod*> waiting = MembersInNeed(pass, gang);
  if (waiting.empty() || pass.at.now < MayCutFrom(pass, waiting)) return taking;
  if (IsKeptByOthers(pass, *waiting.front()->pod)) return taking;
  std::vector<std::shared_ptr<const Pod>> members;
  for (const WaitingPod* member : waiting) members.push_back(AtLeast(member->pod));
  std::vector<NodeIndex> with_gpus;
  for (NodeIndex index = 0; index < pass.cluster.size(); ++index) {
    const NodeState& node = pass.cluster.node(index);
    if (node.exists && node.Free().gpus > Gpus(0)) with_gpus.push_back(index);
  }
  ReserveRule reserve;
  reserve.headroom = pass.settings.headroom;
  const GangTerms terms([&](size_t member, NodeIndex index) {
    const NodeState& node = pass.cluster.node(index);
    return MayGoTo(*members[member], node) && !Refuses(pass, node, *waiting[member]);
  });
  const auto as_if = [&nodes](NodeIndex index) { return nodes.Of(index); };
  const GangPlan plan = PlanGangAsIf(pass.cluster, members, reserve, terms, with_gpus, as_if);
  for (const NodeIndex place : plan.places) taking.insert(pass.cluster.node(place).detail->name);
  return taking;
}

Duration AheadOf(const TunerSettings& settings) {
  return std::max<Duration>(kLeastAhead, settings.patience * 4);
}

bool StartsSoon(const TunerPass& pass, const GpuReservation& reservation) {
  return reservation.starts.likely - pass.at.now <= AheadOf(pass.settings);
}

void MakeRoomAheadOn(TunerPass& pass, NodeIndex index, PreparedNode& prepared) {
  std::vector<const GpuReservation*> starting;
  for (const GpuReservation& reservation : pass.memory.reservations) {
    if (StartsSoon(pass, reservation)) starting.push_back(&reservation);
  }
  const std::optional<RoomPlan> plan = RoomAhead(pass.cluster, index, starting, pass.rules());
  if (plan && plan->amounts.empty()) {
    prepared.looked_at = pass.cluster.version();
    return;
  }
  // A pod that cannot be cut now may be cut later.
  prepared.next_attempt = pass.at.now + pass.settings.retry;
  if (!plan) return pass.WakeAt(prepared.next_attempt);
  const std::string& name = pass.cluster.node(index).detail->name;
  const auto here = [&](const GpuReservation* reservation) {
    return std::any_of(reservation->places.begin(), reservation->places.end(),
                       [&](const GpuReservation::Place& place) { return place.node == name; });
  };
  const std::string& job = (*std::find_if(starting.begin(), starting.end(), here))->job;
  CutAsPlanned(pass, *plan, fmt::format("room for {}, which starts soon", job));
}

PlacesOfGangs LookAtGangs(const TunerPass& pass) {
  PlacesOfGangs gangs;
  for (const auto& [uid, place] : pass.memory.places) {
    const std::string_view gang = GangOf(place);
    if (gang.empty() || !place.pod->node.empty()) continue;
    GangPlaces& places = gangs[gang];
    places.written &= place.written;
    places.cutting |= !place.planned.empty() || IsCutting(pass.memory, place);
    places.broken |= place.broken || place.gone ||
                     std::any_of(place.planned.begin(), place.planned.end(),
                                 [&](const PlannedCut& cut) { return !StillAsPlanned(pass, cut); });
  }
  return gangs;
}

}  // namespace

bool NamesShortage(const Pod& pod) {
  const std::string& message = pod.waiting->message;
  return message.empty() || message.find("Insufficient cpu") != std::string::npos ||
         message.find("Insufficient memory") != std::string::npos;
}

void AdvancePlaces(TunerPass& pass) {
  std::vector<std::string> uids;
  uids.reserve(pass.memory.places.size());
  for (const auto& [uid, place] : pass.memory.places) uids.push_back(uid);
  PlacesOfGangs gangs = LookAtGangs(pass);
  for (const std::string& uid : uids) {
    KeptPlace& place = pass.memory.places.at(uid);
    const std::string gang(GangOf(place));
    if (place.gone) {
      EndPlace(pass, uid, PlaceEnd::kPodGone);
      continue;
    }
    if (!place.pod->node.empty()) {
      EndPlace(pass, uid, PlaceEnd::kBound);
      continue;
    }
    if (IsTakenOver(pass, place)) {
      pass.memory.places.erase(uid);
      continue;
    }
    const GangPlaces all = gang.empty() ? GangPlaces{place.written} : gangs.at(gang);
    if (all.broken) {
      EndPlace(pass, uid, PlaceEnd::kGivenUp);
      continue;
    }
    if (!all.written) continue;
    AskForCuts(pass, place);
    const bool cutting = all.cutting || IsCutting(pass.memory, place);
    if (!cutting && !place.room_since) place.room_since = pass.at.now;
    // After the cuts, kube-scheduler has retried the pod and names another reason. Its message is
    // complete only if it marks the pod Unschedulable. A gang that could use the room but waits for
    // closer places takes the room eventually.
    const bool in_vain = !cutting && place.shortage_named && place.pod->waiting->unschedulable &&
                         !NamesShortage(*place.pod) && !WaitsForLocality(*place.pod);
    if (pass.at.now >= place.until || in_vain) {
      if (!cutting) RememberUnusedRoom(pass, place);
      EndPlace(pass, uid, PlaceEnd::kGivenUp);
      continue;
    }
    pass.WakeAt(place.until);
    const auto waiting = pass.memory.waiting.find(uid);
    if (!cutting && waiting != pass.memory.waiting.end()) RemindOfRoom(pass, waiting->second);
  }
}

void OnPlaceResult(TunerMemory& memory, const Pod& waiting, bool done) {
  const auto place = memory.places.find(waiting.uid);
  if (place == memory.places.end()) return;
  if (done) {
    place->second.written = true;
  } else {
    const std::shared_ptr<const Pod> pod = place->second.pod;
    memory.places.erase(place);
    BreakPlaces(memory, *pod);
  }
}

void MakeRoom(TunerPass& pass) {
  if (pass.memory.look_anew && pass.at.now >= *pass.memory.look_anew) {
    pass.memory.look_anew.reset();
    LookAnew(pass.memory);
  }
  if (pass.memory.look_anew) pass.WakeAt(*pass.memory.look_anew);
  std::set<std::string> taken;
  for (auto& [uid, waiting] : pass.memory.waiting) {
    const Waiting& words = *waiting.pod->waiting;
    if (words.unschedulable && words.scheduler == pass.settings.scheduler_name &&
        !waiting.pod->IsOfGang() && IsKeptByOthers(pass, *waiting.pod) &&
        !IsInProgress(pass.memory, uid)) {
      MakeRoomInPlace(pass, waiting, taken);
    }
  }
  // Kinds and gangs come in the order of their ranks. The first pod of a kind has the kind's rank.
  struct Next {
    WaitingKind::Rank rank;
    WaitingKind* kind = nullptr;
    GangInNeed* gang = nullptr;
  };
  std::vector<Next> order;
  for (WaitingKind& kind : pass.memory.kinds) order.push_back({*kind.queue.begin(), &kind});
  std::erase_if(pass.memory.gangs, [](const auto& entry) { return entry.second.uids.empty(); });
  for (auto& [name, gang] : pass.memory.gangs)
    order.push_back({RankOf(pass.memory, name, gang), nullptr, &gang});
  std::sort(order.begin(), order.end(),
            [](const Next& a, const Next& b) { return a.rank < b.rank; });
  for (const Next& next : order) {
    if (next.kind != nullptr) {
      MakeRoomForKind(pass, *next.kind, taken);
    } else {
      MakeRoomForGang(pass, *next.gang, taken);
    }
  }
}

void PrepareNodes(TunerPass& pass) {
  TunerMemory& memory = pass.memory;
  const Instant now = pass.at.now;
  std::map<std::string, PreparedNode> prepared;
  for (const GpuReservation& reservation : memory.reservations) {
    if (!StartsSoon(pass, reservation)) {
      pass.WakeAt(reservation.starts.likely - AheadOf(pass.settings));
      continue;
    }
    for (const GpuReservation::Place& place : reservation.places) {
      const auto before = memory.prepared.find(place.node);
      prepared.emplace(place.node, before == memory.prepared.end() ? PreparedNode{.since = now}
                                                                   : before->second);
    }
  }
  // Divide the nodes that are no longer prepared.
  for (const auto& [name, node] : memory.prepared) {
    if (!prepared.contains(name)) memory.touched.insert(name);
  }
  for (auto& [name, node] : prepared) {
    if (node.is_over) continue;
    const Instant until = node.since + kLongestPrepared;
    node.is_over = now >= until;
    if (node.is_over) {
      memory.touched.insert(name);
    } else {
      pass.WakeAt(until);
    }
  }
  memory.prepared = std::move(prepared);
}

Instant PreparationDue(const TunerMemory& memory, const TunerSettings& settings) {
  Instant due = Instant::max();
  std::set<std::string_view> reserved;
  for (const GpuReservation& reservation : memory.reservations) {
    const Instant soon = reservation.starts.likely - AheadOf(settings);
    for (const GpuReservation::Place& place : reservation.places) {
      reserved.insert(place.node);
      if (!memory.prepared.contains(place.node)) due = std::min(due, soon);
    }
  }
  const bool has_others =
      std::any_of(memory.prepared.begin(), memory.prepared.end(),
                  [&](const auto& prepared) { return !reserved.contains(prepared.first); });
  return has_others ? Instant::min() : due;
}

void MakeRoomAhead(TunerPass& pass) {
  if (pass.memory.prepared.empty()) return;
  const std::set<std::string_view> busy = NodesInProgress(pass.memory);
  for (auto& [name, prepared] : pass.memory.prepared) {
    const auto index = pass.cluster.Find(name);
    if (prepared.is_over || !index || !pass.cluster.node(*index).exists) continue;
    // When the work in progress there ends, the tuner plans again.
    if (busy.contains(name) || pass.cluster.node(*index).changed <= prepared.looked_at) continue;
    if (pass.at.now < prepared.next_attempt) {
      pass.WakeAt(prepared.next_attempt);
      continue;
    }
    MakeRoomAheadOn(pass, *index, prepared);
  }
}

std::set<std::string> NodesToPlaceOn(TunerPass& pass, const std::set<std::string>& nodes) {
  std::set<std::string> found;
  if (nodes.empty()) return found;
  for (const auto& [uid, place] : pass.memory.places) {
    if (nodes.contains(place.node)) found.insert(place.node);
  }
  for (const auto& [uid, waiting] : pass.memory.waiting) {
    const std::string& kept_node = waiting.pod->waiting->kept_node;
    if (HasPlace(*waiting.pod, pass.at.wall) && nodes.contains(kept_node)) found.insert(kept_node);
  }
  for (const auto& [node, prepared] : pass.memory.prepared) {
    if (!prepared.is_over && nodes.contains(node)) found.insert(node);
  }
  NodesWithoutSurplus without(pass);
  for (const auto& [name, gang] : pass.memory.gangs) {
    for (const std::string& node : NodesToTake(pass, without, gang)) {
      if (nodes.contains(node)) found.insert(node);
    }
  }
  for (const std::string& name : nodes) {
    const auto index = pass.cluster.Find(name);
    if (!index || !pass.cluster.node(*index).exists || pass.memory.kinds.empty()) continue;
    if (pass.cluster.node(*index).Free().gpus <= Gpus(0)) continue;
    const NodeState& node = without.Of(*index);
    const auto takes = [&](const WaitingKind& kind) { return Takes(pass, node, kind); };
    if (std::any_of(pass.memory.kinds.begin(), pass.memory.kinds.end(), takes)) found.insert(name);
  }
  return found;
}

}  // namespace synergy
