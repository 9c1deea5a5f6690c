#include "engine/gangs/gangs.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "allocation/gangs/gang_allocation.h"
#include "allocation/gangs/gang_launchers.h"
#include "allocation/gangs/member_separation.h"
#include "cluster/node_selection.h"
#include "cluster/state/fit.h"
#include "core/wall_time.h"

namespace synergy {
namespace {

// Each waiting bind occupies one of the server's 512 threads; the rest serve kube-scheduler's other
// calls.
constexpr size_t kMostWaitingBinds = kMostGangMembers;
// How long the watch may take to report binds that were allowed to proceed.
constexpr Duration kBeingBound = std::chrono::seconds(15);
// How often to look up which members have Succeeded, and how long a count stays valid. The count
// expires because a new run may create all members again.
constexpr Duration kBetweenAsks = std::chrono::seconds(30);
constexpr Duration kSucceeded = std::chrono::seconds(5);
constexpr std::string_view kStops = "the extender is stopping";
constexpr Duration kFirstRest = std::chrono::seconds(30);
constexpr Duration kLongestRest = std::chrono::minutes(10);

GangVerdict Refused(std::string_view gang, std::string_view why) {
  return {GangVerdict::Kind::kRefused, fmt::format("gang {}: {}", gang, why)};
}
GangVerdict NotYet(std::string_view gang, std::string_view why) {
  return {GangVerdict::Kind::kNotYet, fmt::format("gang {}: {}", gang, why)};
}

std::set<std::string_view> NamesOf(const AskedNodes& asked) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < asked.size(); ++i) names.insert(asked.Name(i));
  return names;
}

bool MayGoByMessages(const Pod& pod, const NodeState& node) {
  if (pod.waiting == nullptr || pod.waiting->selection == nullptr || !node.exists) return true;
  const NodeDetail& detail = *node.detail;
  return MayGoTo(*pod.waiting->selection, detail.name, detail.labels, detail.taints);
}

// Returns whether the pod still has room in the place that is held for it. Growth by the tuner, and
// pods without GPUs, which kube-scheduler places on its own, take room whether or not it is held.
bool HasRoom(const Pod& pod, const std::string& node, const ClusterSnapshot& snapshot) {
  const auto place = snapshot.Find(node);
  return place && CheckFit(pod, WithoutPod(snapshot.node(*place), pod.uid)).none();
}

// Returns the cost of spreading the gang, from the first member for which it is known. All members
// belong to one training.
SpreadCost SpreadOf(const std::vector<std::shared_ptr<const Pod>>& members) {
  for (const auto& member : members) {
    if (member->gang->spread != SpreadCost{}) return member->gang->spread;
  }
  return {};
}

// Returns the nodes of the running members with GPUs.
std::vector<NodeIndex> NodesOfPlaced(const std::vector<GangMember>& members,
                                     const ClusterSnapshot& snapshot) {
  std::vector<NodeIndex> nodes;
  for (const GangMember& member : members) {
    if (!member.placed || !member.pod->UsesGpus()) continue;
    if (const auto node = snapshot.Find(member.node)) nodes.push_back(*node);
  }
  return nodes;
}

// Returns the same text for each attempt, so that Kubernetes merges the events into one.
std::string WaitsText(SpreadTier tier, WallTime until) {
  return fmt::format("{}{} until {}; after that it may be spread further", kWaitsForLocality,
                     ToString(tier), ToTimeText(std::chrono::ceil<std::chrono::seconds>(until)));
}

}  // namespace

Gangs::Gangs(ClusterState& state, ReserveRule reserve, std::string gpu_resource, GangTimes times,
             LocalityRules locality, const Clock& clock, Logger& log)
    : state_(state),
      reserve_(reserve),
      gpu_resource_(std::move(gpu_resource)),
      times_(times),
      locality_(std::move(locality)),
      clock_(clock),
      began_(clock.WallNow()),
      log_(log) {}

GangMembership Gangs::Read(const Gang& gang, const Record& record) const {
  const bool is_known = !record.places.empty() || clock_.Now() < record.succeeded_until;
  return GangMembership::Read(state_, gang, is_known ? record.succeeded : 0);
}

GangVerdict Gangs::Place(const Pod& pod, const AskedNodes& asked, const NodeSet& avoided,
                         const OpenGpus& open) {
  const Gang& gang = *pod.gang;
  if (!gang.problem.empty()) return Refused(gang.name, gang.problem);
  const Instant now = clock_.Now();
  Record& record = records_[gang.name];
  if (record.first_asked == Instant{}) record.first_asked = now;
  record.last_asked = now;
  record.waits_for_locality = false;
  // kube-scheduler does not filter a pod that it still counts as bound.
  record.passed.erase(pod.uid);
  End(record, pod.uid, {ErrorCode::kConflict, "kube-scheduler has tried the pod again"});
  const GangMembership membership = Read(gang, record);
  const size_t there = membership.members.size();
  const auto size = static_cast<size_t>(gang.size);
  if (!membership.disagreement.empty()) return Refused(gang.name, membership.disagreement);
  if (there > size) {
    return Refused(gang.name, fmt::format("{} pods belong to it, but its size is {}", there, size));
  }
  const bool others_may_be_done = !membership.IsWhole(gang) && now >= record.succeeded_until &&
                                  now - record.first_asked >= times_.creation;
  if (std::string why = TooLarge(pod, membership, *state_.Snapshot()); !why.empty()) {
    GangVerdict too_large = Refused(gang.name, why);
    too_large.incomplete = others_may_be_done;
    return too_large;
  }
  if (!membership.IsWhole(gang)) {
    const std::string why = fmt::format("{} of {} members exist", there, size);
    if (now - record.first_asked < times_.creation) return NotYet(gang.name, why);
    GangVerdict late = Refused(gang.name, why);
    late.incomplete = others_may_be_done;
    return late;
  }
  // The end of a backoff does not make kube-scheduler retry. The answer "not yet" does.
  if (now < record.rests_until) return NotYet(gang.name, record.why_it_rests);
  const Question question{pod, NamesOf(asked), avoided, open};
  NoteRefusals(pod, question.allowed, membership, record);
  GangVerdict verdict = Refused(gang.name, "");
  if (record.places.contains(pod.uid)) verdict = PlaceHeld(pod, question.allowed, record);
  if (verdict.kind != GangVerdict::Kind::kPlaced) verdict = Plan(question, membership, record);
  return verdict;
}

WallTime Gangs::FirstAsked(const GangMembership& membership, const Record& record) const {
  WallTime first = clock_.WallNow() - (clock_.Now() - record.first_asked);
  for (const auto& member : membership.to_place) {
    if (member->waiting == nullptr || member->waiting->since == WallTime{}) continue;
    // Use this time only if it is before the start of this process: a gated pod, for example, may
    // have been marked before the first filter call.
    if (member->waiting->since < began_) first = std::min(first, member->waiting->since);
  }
  return first;
}

std::vector<CountedMember> Gangs::Counted(const GangMembership& membership,
                                          const Record& record) const {
  std::vector<CountedMember> counted;
  for (const auto& member : membership.to_place) {
    if (!record.passed.contains(member->uid)) continue;
    const auto place = record.places.find(member->uid);
    if (place != record.places.end()) counted.push_back({member, place->second});
  }
  return counted;
}

GangVerdict Gangs::PlaceHeld(const Pod& pod, const std::set<std::string_view>& allowed,
                             Record& record) {
  const std::string& node = record.places.at(pod.uid);
  const std::optional<Placement> placement = state_.FindPlacement(pod.uid);
  if (!placement || placement->pod->node != node)
    return NotYet(pod.gang->name, "its places were released");
  if (!allowed.contains(node))
    return Refused(pod.gang->name, "a member may not go to its planned node");
  if (!HasRoom(pod, node, *state_.Snapshot()))
    return NotYet(pod.gang->name, "another pod has taken its room");
  record.passed.insert(pod.uid);
  return {GangVerdict::Kind::kPlaced, node};
}

void Gangs::NoteRefusals(const Pod& pod, const std::set<std::string_view>& allowed,
                         const GangMembership& membership, Record& record) const {
  const auto known = std::find_if(membership.to_place.begin(), membership.to_place.end(),
                                  [&](const auto& member) { return member->uid == pod.uid; });
  if (known == membership.to_place.end()) return;
  const std::vector<CountedMember> counted = Counted(membership, record);
  record.refusals.Unlearn(**known, allowed, counted);
  const auto snapshot = state_.Snapshot();
  std::set<std::string> nodes;
  for (const auto& [uid, node] : record.places) nodes.insert(node);
  for (const std::string& node : nodes) {
    const auto place = snapshot->Find(node);
    if (!place || allowed.contains(node) || !MayGoByMessages(**known, snapshot->node(*place)))
      continue;
    if (!KeptOff(*known, *place, *snapshot, membership, counted))
      record.refusals.Note(*known, node, counted, *snapshot);
  }
}

bool Gangs::KeptOff(const std::shared_ptr<const Pod>& pod, NodeIndex node,
                    const ClusterSnapshot& snapshot, const GangMembership& membership,
                    const std::vector<CountedMember>& counted) {
  std::vector<std::shared_ptr<const Pod>> members = {pod};
  std::set<std::string> uids = {pod->uid};
  for (const auto& member : membership.to_place) uids.insert(member->uid);
  for (const CountedMember& member : counted) members.push_back(member.pod);
  MemberSeparation separation(snapshot, members, uids, MemberSeparation::Others::kAll);
  NodeState state = snapshot.node(node);
  for (const std::string& uid : uids) state = WithoutPod(state, uid);
  for (size_t i = 0; i < counted.size(); ++i) {
    const auto there = snapshot.Find(counted[i].node);
    if (!there) continue;
    separation.Put(i + 1, *there);
    if (*there == node) state = WithPod(state, counted[i].pod);
  }
  if (!CheckFit(*pod, state).none()) return true;
  return !separation.empty() && !separation.Allows(0, node);
}

GangTerms Gangs::TermsOf(const Question& question, const GangMembership& membership,
                         const Record& record, const ClusterSnapshot& snapshot, Heed heed) {
  GangTerms terms(
      [&question, &membership, &record, &snapshot, heed](size_t member, NodeIndex node) {
        const NodeDetail& detail = *snapshot.node(node).detail;
        const std::shared_ptr<const Pod>& pod = membership.to_place[member];
        if (pod->uid == question.pod.uid) return question.allowed.contains(detail.name);
        if (heed.counted && record.passed.contains(pod->uid)) {
          const auto place = record.places.find(pod->uid);
          if (place != record.places.end()) return place->second == detail.name;
        }
        if (heed.pods && record.refusals.Forbid(pod->uid, detail.name, heed.doubts)) return false;
        return MayGoByMessages(*pod, snapshot.node(node));
      });
  if (heed.shapes) terms.bounds = record.refusals.Bounds(snapshot);
  for (const auto& [name, most] : question.open) {
    if (const auto node = snapshot.Find(name)) terms.most_gpus.emplace(*node, most);
  }
  return terms;
}

Gangs::Planned Gangs::PlanHeeding(bool counted, const GangRefusals& refusals,
                                  const std::function<Planned(const Heed&)>& plan) {
  // The bound for a shape may be wrong, because the refusal may have been about only one pod.
  Planned planned;
  for (const bool doubts : {true, false}) {
    if (!doubts && !refusals.AnyDoubts()) continue;
    for (const bool shapes : {true, false}) {
      if (!shapes && !refusals.AnyBounds()) continue;
      planned = plan({.counted = counted, .pods = true, .doubts = doubts, .shapes = shapes});
      if (!planned.IsNone()) return planned;
    }
  }
  return planned;
}

GangVerdict Gangs::Plan(const Question& question, const GangMembership& membership,
                        Record& record) {
  const Pod& pod = question.pod;
  const std::string& name = pod.gang->name;
  const bool is_known = std::any_of(membership.to_place.begin(), membership.to_place.end(),
                                    [&](const auto& member) { return member->uid == pod.uid; });
  // If the pod is unknown, the watch is behind kube-scheduler, or the outcome of a bind is in
  // doubt.
  if (!is_known) return NotYet(name, "the extender has not seen the pod yet");
  const auto snapshot = state_.Snapshot();
  record.refusals.Review(Counted(membership, record), *snapshot);
  const WallTime first_asked = FirstAsked(membership, record);
  const auto plan = [&](const Heed& heed) {
    GangTerms terms = TermsOf(question, membership, record, *snapshot, heed);
    terms.storage = storage_;
    const Duration waited = clock_.WallNow() - first_asked;
    if (!question.avoided.empty()) {
      GangTerms elsewhere = terms;
      elsewhere.may_go = [&](size_t member, NodeIndex node) {
        return !question.avoided.contains(snapshot->node(node).detail->name) &&
               terms.may_go(member, node);
      };
      Planned planned = PlanAround(*snapshot, name, membership, elsewhere, waited);
      // Avoiding these nodes is only a preference, so no other pod loses its place for it.
      if (!planned.local.plan.places.empty() && !planned.TakesOthersPlaces()) return planned;
    }
    return PlanAround(*snapshot, name, membership, terms, waited);
  };
  Planned planned;
  if (!record.passed.empty()) planned = PlanHeeding(true, record.refusals, plan);
  bool heeds_nothing = false;
  if (planned.local.plan.places.empty()) {
    planned = PlanHeeding(false, record.refusals, plan);
    heeds_nothing = planned.IsNone() && !record.refusals.empty();
    if (heeds_nothing) planned = plan({});
  } else if (planned.local.tier != SpreadTier::kNode && !record.moved_nearer &&
             WaitsOf(locality_, SpreadOf(membership.to_place)) != LocalityWaits{}) {
    Planned nearer = plan({.pods = true, .doubts = true, .shapes = true});
    if (!nearer.local.plan.places.empty() && nearer.local.tier < planned.local.tier) {
      record.moved_nearer = true;
      planned = std::move(nearer);
    }
  }
  const LocalPlan& local = planned.local;
  if (local.waits_until) {
    Release(record);
    record.waits_for_locality = true;
    // The end of this wait does not make kube-scheduler retry. The answer "not yet" does.
    const WallTime until = first_asked + *local.waits_until;
    GangVerdict waits = NotYet(name, WaitsText(local.tier, until));
    waits.waits_for = until - clock_.WallNow();
    return waits;
  }
  if (local.plan.places.empty()) {
    record.refusals.Clear();
    Release(record);
    GangVerdict verdict = Refused(name, DescribeLack(membership, local.plan, *snapshot));
    verdict.short_of_room = true;
    return verdict;
  }
  if (heeds_nothing) {
    // kube-scheduler has refused all other nodes. The reasons may be gone, so try once more.
    record.refusals.Clear();
    if (std::exchange(record.started_over, true)) {
      GiveUp(name, membership, record);
      return NotYet(name, record.why_it_rests);
    }
  }
  if (!Take(planned, membership, *snapshot, record))
    return NotYet(name, "other pods have taken its places meanwhile");
  record.passed.insert(pod.uid);
  return {GangVerdict::Kind::kPlaced, record.places.at(pod.uid)};
}

bool Gangs::Take(const Planned& planned, const GangMembership& membership,
                 const ClusterSnapshot& snapshot, Record& record) {
  const LocalPlan& local = planned.local;
  const bool begins = record.places.empty();
  Places places;
  std::vector<GangPlace> all;
  for (size_t member = 0; member < membership.to_place.size(); ++member) {
    const std::string& node = snapshot.node(local.plan.places[member]).detail->name;
    all.push_back({membership.to_place[member]->uid, node});
    places[all.back().uid] = node;
  }
  for (const std::string& uid : planned.yielding) state_.SettleReplacement(uid, false);
  Yield(planned.held, membership.to_place.front()->gang->name);
  if (!Reserve(all, membership, snapshot, record)) {
    Release(record);
    return false;
  }
  const Places before = std::exchange(record.places, std::move(places));
  std::vector<std::string> left;
  for (const auto& [uid, node] : before) {
    const auto now = record.places.find(uid);
    if (now != record.places.end() && now->second == node) continue;
    if (now == record.places.end()) left.push_back(uid);
    record.passed.erase(uid);
    record.let_go.erase(uid);
    End(record, uid, {ErrorCode::kConflict, "its place is now on another node"});
  }
  state_.Release(left);
  record.allocation.reset();
  if (!begins) return true;
  record.held_since = clock_.Now();
  ++placed_.at(static_cast<size_t>(local.tier));
  log_.Info("gang has its places", {{"gang", membership.to_place.front()->gang->name},
                                    {"members", membership.members.size()},
                                    {"held", all.size()},
                                    {"within", ToString(local.tier)}});
  return true;
}

bool Gangs::Reserve(const std::vector<GangPlace>& places, const GangMembership& membership,
                    const ClusterSnapshot& snapshot, Record& record) {
  state_.Release(std::exchange(record.launchers, {}));
  // The reservation outlasts the hold, so that Look() ends the hold and logs its end.
  const Instant until = clock_.Now() + 2 * times_.hold;
  const std::vector<GangPlace> launchers = KnownPlaces(snapshot, membership.launchers);
  if (!launchers.empty()) {
    std::vector<GangPlace> all = places;
    all.insert(all.end(), launchers.begin(), launchers.end());
    if (state_.Reserve(all, until)) {
      for (const GangPlace& launcher : launchers) record.launchers.push_back(launcher.uid);
      return true;
    }
  }
  return state_.Reserve(places, until);
}

Gangs::Planned Gangs::PlanAround(const ClusterSnapshot& snapshot, const std::string& gang,
                                 const GangMembership& membership, const GangTerms& terms,
                                 Duration waited) const {
  const std::vector<NodeIndex> beside = NodesOfPlaced(membership.members, snapshot);
  const auto placed = [&](GangPlan plan) {
    std::vector<NodeIndex> all = beside;
    all.insert(all.end(), plan.places.begin(), plan.places.end());
    const SpreadTier tier = TierOf(snapshot, all, locality_.rack_label);
    return LocalPlan{std::move(plan), tier, {}};
  };
  std::set<std::string> passable;
  std::set<std::string_view> nodes;
  const std::vector<Reservation> places = state_.ReplacementsOf(gang);
  for (const Reservation& place : places) {
    passable.insert(place.pod->uid);
    nodes.insert(place.pod->node);
  }
  if (!places.empty()) {
    GangTerms replacing = terms;
    replacing.may_go = [&](size_t member, NodeIndex node) {
      return nodes.contains(snapshot.node(node).detail->name) && terms.may_go(member, node);
    };
    GangPlan plan = PlanGang(snapshot, membership.to_place, reserve_, replacing, passable);
    if (!plan.places.empty()) return {placed(std::move(plan)), {}, {}};
  }
  LocalPlan local = PlanGangLocally(snapshot, membership.to_place, reserve_, terms, locality_,
                                    SpreadOf(membership.to_place), waited, beside, passable);
  if (!local.plan.places.empty() || local.waits_until) return {std::move(local), {}, {}};
  // Places reserved for replacements in gangs of lower priority do not block this one.
  const auto is_lower = [&](const Pod& left) {
    return std::all_of(membership.to_place.begin(), membership.to_place.end(),
                       [&](const auto& member) { return left.priority < member->priority; });
  };
  std::vector<std::string> yielding;
  for (const Reservation& place : state_.Reservations(ReservationKind::kReplacement)) {
    if (place.gang != gang && is_lower(*place.pod)) yielding.push_back(place.pod->uid);
  }
  passable.insert(yielding.begin(), yielding.end());
  GangPlan higher;
  const auto fits_without = [&](const std::vector<HeldPlaces>& held) {
    std::set<std::string> but = passable;
    for (const HeldPlaces& each : held) but.insert(each.uids.begin(), each.uids.end());
    higher = PlanGang(snapshot, membership.to_place, reserve_, terms, but);
    return !higher.places.empty();
  };
  if (!yielding.empty() && fits_without({})) return {placed(std::move(higher)), yielding, {}};
  int32_t priority = std::numeric_limits<int32_t>::max();
  for (const auto& member : membership.to_place) priority = std::min(priority, member->priority);
  std::vector<HeldPlaces> held = FewestThatYield(HeldBelow(priority, gang), fits_without);
  if (held.empty() || !fits_without(held)) return {std::move(local), {}, {}};
  return {placed(std::move(higher)), std::move(yielding), std::move(held)};
}

std::vector<HeldPlaces> Gangs::HeldBelow(int32_t priority, const std::string& but) const {
  HeldPlacesByJob held;
  const auto yields = [&](const std::string& gang) {
    const auto record = records_.find(gang);
    // Gangs whose binds were allowed to proceed are about to run.
    return gang != but &&
           (record == records_.end() || (record->second.let_go.empty() && !record->second.resumed));
  };
  for (const auto& [name, record] : records_) {
    if (!yields(name)) continue;
    std::vector<std::string> uids = record.launchers;
    for (const auto& [uid, node] : record.places) uids.push_back(uid);
    for (const std::string& uid : uids) {
      if (const auto pod = state_.FindPod(uid)) held.Add(*pod, name);
    }
  }
  for (const Reservation& place : state_.Reservations(ReservationKind::kTuner)) {
    if (place.gang.empty() || yields(place.gang)) held.Add(*place.pod, place.gang);
  }
  return held.Below(priority);
}

void Gangs::Yield(const std::vector<HeldPlaces>& held, const std::string& to) {
  for (const HeldPlaces& places : held) {
    log_.Info("held places are given to a higher priority",
              {{places.of_gang ? "gang" : "pod", places.name}, {"to", to}});
    const auto record = places.of_gang ? records_.find(places.name) : records_.end();
    if (record != records_.end()) Release(record->second);
    state_.ReleaseKept(places.uids);
  }
}

bool Gangs::YieldTo(const Pod& pod, const AskedNodes& asked) {
  const auto snapshot = state_.Snapshot();
  const auto fits_without = [&](const std::vector<HeldPlaces>& held) {
    for (size_t i = 0; i < asked.size(); ++i) {
      const auto place = snapshot->Find(asked.Name(i));
      if (!place || !snapshot->node(*place).exists) continue;
      NodeState node = WithNominated(WithoutPod(snapshot->node(*place), pod.uid), pod.uid);
      for (const HeldPlaces& places : held) {
        for (const std::string& uid : places.uids) node = WithoutPod(node, uid);
      }
      if (CheckFit(pod, node).none()) return true;
    }
    return false;
  };
  const std::vector<HeldPlaces> held = FewestThatYield(HeldBelow(pod.priority, {}), fits_without);
  Yield(held, pod.Key());
  return !held.empty();
}

std::string Gangs::TooLarge(const Pod& pod, const GangMembership& membership,
                            const ClusterSnapshot& snapshot) const {
  Gpus needed;
  for (const auto& member : membership.to_place) needed += member->requests.main.gpus;
  // Assume that missing members are like this one.
  const auto missing = static_cast<int64_t>(pod.gang->size) -
                       static_cast<int64_t>(membership.members.size() + membership.succeeded);
  if (membership.running == 0 && missing > 0) needed += pod.requests.main.gpus * missing;
  const auto takes_some = [&](const NodeState& node) {
    return node.exists && !node.deleting && (!node.unschedulable || pod.tolerates_unschedulable);
  };
  Gpus has;
  for (NodeIndex node = 0; node < snapshot.size(); ++node) {
    if (takes_some(snapshot.node(node))) has += snapshot.node(node).allocatable.gpus;
  }
  // Running members keep their GPUs.
  for (const GangMember& member : membership.members) {
    const auto node = member.placed ? snapshot.Find(member.node) : std::nullopt;
    if (node && takes_some(snapshot.node(*node))) has -= member.pod->requests.main.gpus;
  }
  if (needed <= has) return {};
  return fmt::format("it needs {} {}{}, the cluster has {}", needed.count(), gpu_resource_,
                     membership.running > 0 ? " more" : "", has.count());
}

std::string Gangs::DescribeLack(const GangMembership& membership, const GangPlan& plan,
                                const ClusterSnapshot& snapshot) const {
  std::string text = fmt::format("{} of {} members fit beside each other",
                                 plan.fitting + membership.running, membership.members.size());
  if (!plan.lacking || !plan.lacking_on) return text;
  const Resources requests = membership.to_place.front()->requests;
  return text + ", the next: " +
         DescribeFailures(*plan.lacking, requests, &snapshot.node(*plan.lacking_on), gpu_resource_);
}

std::shared_ptr<GangBind> Gangs::BeginBind(const std::string& uid, const std::string& node) {
  auto bind = std::make_shared<GangBind>();
  bind->uid = uid;
  bind->until = clock_.Now() + times_.wait;
  const auto pod = state_.FindPod(uid);
  // kube-scheduler calls the extender for every pod that names the GPU resource, even with an
  // amount of zero.
  if (!pod || !pod->gang || !pod->UsesGpus()) {
    bind->outcome = GangBindOutcome();
    return bind;
  }
  const Gang& gang = *pod->gang;
  bind->gang = gang.name;
  const auto found = records_.find(gang.name);
  const auto fail = [&](ErrorCode code, std::string_view why) {
    bind->outcome = Fail(code, fmt::format("gang {}: {}", gang.name, why));
    return bind;
  };
  if (found == records_.end()) return fail(ErrorCode::kConflict, "its places were released");
  Record& record = found->second;
  if (stopped_) return fail(ErrorCode::kUnavailable, kStops);
  const auto place = record.places.find(uid);
  if (place == record.places.end()) return fail(ErrorCode::kConflict, "its places were released");
  if (place->second != node) return fail(ErrorCode::kConflict, "its place is now on another node");
  End(record, uid, {ErrorCode::kConflict, "kube-scheduler binds the pod again"});
  if (record.let_go.contains(uid) && record.allocation) {
    bind->outcome = GangBindOutcome(*record.allocation);
    return bind;
  }
  if (record.binds.empty() && ExpectedBinds() + record.places.size() > kMostWaitingBinds)
    return fail(ErrorCode::kOverloaded, "too many binds wait already");
  record.passed.insert(uid);
  record.binds[uid] = bind;
  LetGo(record, gang);
  return bind;
}

std::optional<GangBindOutcome> Gangs::OutcomeOf(GangBind& bind) {
  if (bind.outcome || clock_.Now() < bind.until) return bind.outcome;
  // A gang has a record as long as one of its binds waits.
  Record& record = records_.at(bind.gang);
  const std::string why =
      fmt::format("{} of {} members wait to be bound", record.binds.size(), record.places.size());
  record.passed.erase(bind.uid);
  End(record, bind.uid, {ErrorCode::kUnavailable, why});
  return bind.outcome;
}

void Gangs::LetGo(Record& record, const Gang& gang) {
  if (record.binds.empty()) return;
  // Count again: a member may have left since.
  const GangMembership membership = Read(gang, record);
  const bool all_wait =
      std::all_of(membership.to_place.begin(), membership.to_place.end(), [&](const auto& member) {
        return record.binds.contains(member->uid) || record.let_go.contains(member->uid);
      });
  if (!all_wait || !membership.IsWhole(gang) || !membership.disagreement.empty()) return;
  // kube-scheduler retries a member whose bind failed, and the others wait for it.
  const auto snapshot = state_.Snapshot();
  bool all_have_room = true;
  for (const auto& member : membership.to_place) {
    if (!record.binds.contains(member->uid)) continue;
    if (HasRoom(*member, record.places.at(member->uid), *snapshot)) continue;
    all_have_room = false;
    record.passed.erase(member->uid);
    End(record, member->uid, {ErrorCode::kConflict, "another pod has taken its room"});
  }
  if (!all_have_room) return;
  if (!record.allocation) record.allocation = AllocationOfGang(*snapshot, gang.name, reserve_);
  for (const auto& [uid, bind] : std::exchange(record.binds, {})) {
    bind->outcome = GangBindOutcome(*record.allocation);
    record.let_go.insert(uid);
  }
  record.let_go_at = clock_.Now();
}

void Gangs::End(Record& record, const std::string& uid, Error error) {
  const auto found = record.binds.find(uid);
  if (found == record.binds.end()) return;
  GangBind& bind = *found->second;
  error.message = fmt::format("gang {}: {}", bind.gang, error.message);
  bind.outcome = Fail(std::move(error));
  record.binds.erase(found);
}

size_t Gangs::ExpectedBinds() const {
  size_t expected = 0;
  for (const auto& [name, record] : records_) {
    if (!record.binds.empty()) expected += record.places.size();
  }
  return expected;
}

void Gangs::Release(Record& record) {
  std::vector<std::string> uids;
  for (const auto& [uid, node] : std::exchange(record.places, {})) uids.push_back(uid);
  for (const auto& [uid, bind] : std::map(record.binds))
    End(record, uid, {ErrorCode::kConflict, "its places were released"});
  state_.Release(uids);
  state_.Release(std::exchange(record.launchers, {}));
  record.passed.clear();
  record.let_go.clear();
  record.allocation.reset();
  record.started_over = record.moved_nearer = record.resumed = false;
}

void Gangs::GiveUp(const std::string& name, const GangMembership& membership, Record& record) {
  constexpr size_t kNamed = 3;
  std::vector<std::string> late;
  for (const auto& member : membership.to_place) {
    if (!record.passed.contains(member->uid) && late.size() < kNamed) late.push_back(member->name);
  }
  const Instant now = clock_.Now();
  record.rest = record.rest == Duration{} ? kFirstRest : std::min(2 * record.rest, kLongestRest);
  record.rests_until = now + record.rest;
  record.why_it_rests = fmt::format(
      "its places were held for {} s, but {} of {} members were not bound{}{}; tried again after "
      "{} s",
      std::chrono::duration_cast<std::chrono::seconds>(now - record.held_since).count(),
      membership.to_place.size(), membership.members.size(),
      late.empty() ? "" : ", for another reason than resources: ", fmt::join(late, ", "),
      std::chrono::duration_cast<std::chrono::seconds>(record.rest).count());
  log_.Warn("gang's places are released", {{"gang", name}, {"why", record.why_it_rests}});
  Release(record);
  record.refusals.Clear();
}

bool Gangs::NoteSucceeded(const Pod& pod, size_t members) {
  Record& record = records_[pod.gang->name];
  record.succeeded = members;
  record.succeeded_until = clock_.Now() + (members == 0 ? kBetweenAsks : kSucceeded);
  return Read(*pod.gang, record).IsWhole(*pod.gang);
}

void Gangs::Stop() {
  stopped_ = true;
  for (auto& [name, record] : records_) {
    for (const auto& [uid, bind] : std::map(record.binds))
      End(record, uid, {ErrorCode::kUnavailable, std::string(kStops)});
  }
}

void Gangs::Resume() {
  // The gangs of higher priority come first.
  std::map<std::pair<int64_t, std::string>, GangMembership> in_part;
  std::set<std::string> looked_at;
  for (const auto& pod : state_.WaitingPods()) {
    if (!pod->IsOfGang() || records_.contains(pod->gang->name)) continue;
    if (!looked_at.insert(pod->gang->name).second) continue;
    // The places of lost members are reserved already.
    if (!state_.ReplacementsOf(pod->gang->name).empty()) continue;
    GangMembership membership = GangMembership::Read(state_, *pod->gang, 0);
    const bool fits_size = membership.members.size() <= static_cast<size_t>(pod->gang->size);
    if (membership.running == 0 || membership.to_place.empty() || !fits_size ||
        !membership.disagreement.empty())
      continue;
    in_part.emplace(std::pair(-int64_t{pod->priority}, pod->gang->name), std::move(membership));
  }
  for (const auto& [rank, membership] : in_part)
    Resume(rank.second, membership, records_[rank.second]);
}

void Gangs::Resume(const std::string& name, const GangMembership& membership, Record& record) {
  const auto snapshot = state_.Snapshot();
  GangTerms terms([&](size_t member, NodeIndex node) {
    return MayGoByMessages(*membership.to_place[member], snapshot->node(node));
  });
  terms.storage = storage_;
  const Planned planned = PlanAround(*snapshot, name, membership, terms, {});
  if (planned.local.plan.places.empty() || planned.TakesOthersPlaces()) return;
  record.resumed = Take(planned, membership, *snapshot, record);
}

void Gangs::Look() {
  const Instant now = clock_.Now();
  for (auto& [name, record] : records_) Look(name, record, now);
  std::erase_if(records_, [&](const auto& entry) {
    const auto& [name, record] = entry;
    if (!record.places.empty()) return false;
    // After a recent filter call, the watch may be about to report the gang's pods.
    return now - record.last_asked > times_.creation && state_.GangMembers(name).empty();
  });
}

void Gangs::Look(const std::string& name, Record& record, Instant now) {
  if (record.places.empty()) return;
  const std::vector<GangMember> members = state_.GangMembers(name);
  if (members.empty()) return Release(record);
  const Gang& gang = *members.front().pod->gang;
  const GangMembership membership = Read(gang, record);
  if (membership.to_place.empty()) {
    if (membership.running > 0)
      log_.Info("gang is bound", {{"gang", name}, {"members", members.size()}});
    Release(record);
    // The next filter call begins a new wait.
    record = Record{.last_asked = record.last_asked};
    return;
  }
  if (!membership.IsWhole(gang)) {
    log_.Info("gang has lost a member: its places are released",
              {{"gang", name}, {"members", members.size()}, {"size", gang.size}});
    Release(record);
    record.first_asked = now;
    return;
  }
  // Another scheduler may have bound the members for which the binds wait.
  LetGo(record, gang);
  if (!record.let_go.empty() && now - record.let_go_at < kBeingBound) return;
  if (now - record.held_since >= times_.hold) GiveUp(name, membership, record);
}

GangCounts Gangs::Count() const {
  const Instant now = clock_.Now();
  GangCounts counts{.placed = placed_};
  for (const auto& [name, record] : records_) {
    counts.waiting_binds += record.binds.size();
    if (!record.places.empty()) {
      ++counts.held;
      counts.oldest_held = std::max(counts.oldest_held, now - record.held_since);
    } else {
      const auto members = state_.GangMembers(name);
      const bool waits = std::any_of(members.begin(), members.end(),
                                     [](const GangMember& member) { return !member.placed; });
      counts.waiting += waits ? 1 : 0;
      counts.waiting_for_locality += waits && record.waits_for_locality ? 1 : 0;
    }
  }
  return counts;
}

}  // namespace synergy
