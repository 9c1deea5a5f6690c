#include "engine/gangs/gang_preemption.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace synergy {
namespace {

constexpr size_t kMostAttempts = 8;

std::set<std::string> NodesOf(const ClusterSnapshot& snapshot, const GangVictims& victims) {
  std::set<std::string> nodes;
  for (const NodeIndex node : victims.places) nodes.insert(snapshot.node(node).detail->name);
  for (const auto& pod : victims.pods) nodes.insert(pod->node);
  return nodes;
}

std::vector<PlannedPlace> PlacesOf(const ClusterSnapshot& snapshot, const WaitingGang& gang,
                                   const GangVictims& victims) {
  std::vector<PlannedPlace> places;
  for (size_t i = 0; i < gang.members.size(); ++i) {
    places.push_back({gang.members[i], snapshot.node(victims.places[i]).detail->name});
  }
  return places;
}

// Returns the places of the members that are still waiting.
std::vector<PlannedPlace> NotBound(const ClusterState& state,
                                   const std::vector<PlannedPlace>& members) {
  std::vector<PlannedPlace> places;
  for (const PlannedPlace& member : members) {
    const auto pod = state.FindPod(member.pod->uid);
    if (pod && pod->waiting) places.push_back({pod, member.node});
  }
  return places;
}

bool IsGone(const ClusterState& state, const Pod& pod) {
  const auto seen = state.FindPod(pod.uid);
  return seen == nullptr || seen->terminal;
}

std::string NamespaceAndPriority(const WaitingGang& gang) {
  return fmt::format("{} {}", gang.members.front()->pod_namespace, gang.priority);
}

}  // namespace

void GangPreemption::StartOver() {
  attempts_.clear();
  looked_.reset();
  looks_.clear();
  in_vain_.clear();
}

std::vector<PreemptionAction> GangPreemption::Plan(const ClusterState& state, Moment at) {
  std::vector<PreemptionAction> actions = AdvanceAll(state, at);
  if (!actions.empty() || looked_ == at.now || attempts_.size() >= kMostAttempts) return actions;
  looked_ = at.now;
  Look(state, at);
  return AdvanceAll(state, at);
}

std::vector<PreemptionAction> GangPreemption::AdvanceAll(const ClusterState& state, Moment at) {
  std::vector<PreemptionAction> actions;
  for (Attempt& attempt : std::exchange(attempts_, {})) {
    if (!attempt.ended) Advance(attempt, state, at, actions);
    if (attempt.ended) {
      Finish(attempt, state, at.now, actions);
    } else {
      attempts_.push_back(std::move(attempt));
    }
  }
  return actions;
}

void GangPreemption::Advance(Attempt& attempt, const ClusterState& state, Moment at,
                             std::vector<PreemptionAction>& actions) const {
  const bool may_evict = attempt.phase == Phase::kTrial || attempt.phase == Phase::kEviction;
  if (may_evict && NotBound(state, attempt.members).size() < attempt.members.size()) {
    attempt.ended = {PreemptionEnd::kRefused, "a member was bound, or is gone, meanwhile"};
    return;
  }
  switch (attempt.phase) {
    case Phase::kPlaces:
      return KeepPlaces(attempt, at, actions);
    case Phase::kTrial:
      actions.push_back({attempt.gang, preemption_action::TryEvictions{attempt.refused}});
      return;
    case Phase::kEviction:
      attempt.evicted = at.now;
      actions.push_back({attempt.gang, preemption_action::Begin{attempt.victims}});
      actions.push_back({attempt.gang, preemption_action::Evict{attempt.refused}});
      return;
    case Phase::kLeaving:
      return AdvanceLeaving(attempt, state, at, actions);
  }
}

void GangPreemption::AdvanceLeaving(Attempt& attempt, const ClusterState& state, Moment at,
                                    std::vector<PreemptionAction>& actions) const {
  size_t bound = 0;
  for (const PlannedPlace& member : attempt.members) {
    const auto pod = state.FindPod(member.pod->uid);
    if (!pod || pod->deleting || pod->terminal) {
      attempt.ended = {PreemptionEnd::kGangGone,
                       fmt::format("{} no longer exists", member.pod->Key())};
      return;
    }
    if (!pod->waiting) ++bound;
  }
  if (bound == attempt.members.size()) {
    attempt.ended = {PreemptionEnd::kBound};
    return;
  }
  const bool has_lapsed = at.now - attempt.kept >= settings_.keep;
  if (!attempt.refused.empty() && attempt.evicted != at.now) {
    if (has_lapsed) {
      attempt.ended = {PreemptionEnd::kInVain, "the reserved places lapsed before all evictions"};
      return;
    }
    attempt.evicted = at.now;
    actions.push_back({attempt.gang, preemption_action::Evict{attempt.refused}});
    return;
  }
  for (auto* const victims : {&attempt.refused, &attempt.asked})
    std::erase_if(*victims, [&state](const auto& pod) { return IsGone(state, *pod); });
  const bool all_gone = attempt.asked.empty() && attempt.refused.empty();
  const bool has_failed = attempt.kept < attempt.renewed;
  if (has_failed && has_lapsed) {
    attempt.ended = {PreemptionEnd::kInVain, "the reserved places could not be renewed"};
  } else if (!all_gone && at.now - attempt.began >= attempt.leave) {
    attempt.ended = {PreemptionEnd::kInVain, "not all victims have left"};
  } else if (all_gone && !attempt.room_since) {
    attempt.room_since = at.now;
    KeepPlaces(attempt, at, actions);
  } else if (attempt.room_since && at.now - *attempt.room_since >= settings_.keep) {
    attempt.ended = {PreemptionEnd::kInVain, "the gang was not bound in the room that was made"};
  } else if ((has_failed && attempt.renewed != at.now) ||
             (!all_gone && at.now - attempt.renewed >= settings_.keep / 2)) {
    KeepPlaces(attempt, at, actions);
  }
}

void GangPreemption::KeepPlaces(Attempt& attempt, Moment at,
                                std::vector<PreemptionAction>& actions) const {
  attempt.renewed = at.now;
  actions.push_back(
      {attempt.gang, preemption_action::KeepPlaces{attempt.members, at.wall + settings_.keep}});
}

void GangPreemption::OnResult(const PreemptionAction& action, const PreemptionResult& result) {
  const auto attempt = std::find_if(attempts_.begin(), attempts_.end(), [&](const Attempt& each) {
    return each.gang->name == action.gang->name;
  });
  if (attempt == attempts_.end()) return;  // it has ended
  if (std::holds_alternative<preemption_action::KeepPlaces>(action.what)) {
    const bool is_first = attempt->phase == Phase::kPlaces;
    if (is_first) attempt->phase = Phase::kTrial;
    if (result.done)
      attempt->kept = attempt->renewed;
    else if (is_first)
      attempt->ended = {PreemptionEnd::kRefused, "a place could not be reserved"};
  } else if (std::holds_alternative<preemption_action::TryEvictions>(action.what)) {
    attempt->phase = Phase::kEviction;
    if (!result.done) attempt->ended = {PreemptionEnd::kRefused, result.why};
  } else if (const auto* const evict = std::get_if<preemption_action::Evict>(&action.what)) {
    attempt->phase = Phase::kLeaving;
    attempt->refused = result.refused;
    for (const auto& pod : evict->pods) {
      const bool is_refused =
          std::find(result.refused.begin(), result.refused.end(), pod) != result.refused.end();
      if (!is_refused) attempt->asked.push_back(pod);
    }
  }
}

void GangPreemption::Finish(const Attempt& attempt, const ClusterState& state, Instant now,
                            std::vector<PreemptionAction>& actions) {
  const auto& [end, why] = *attempt.ended;
  preemption_action::EndPlaces places;
  for (const PlannedPlace& member : NotBound(state, attempt.members)) {
    if (!member.pod->waiting->kept_node.empty()) places.pods.push_back(member.pod);
  }
  if (!places.pods.empty()) actions.push_back({attempt.gang, std::move(places)});
  actions.push_back({attempt.gang, preemption_action::End{end, why, attempt.victims}});
  if (end == PreemptionEnd::kBound) {
    in_vain_.erase(NamespaceAndPriority(*attempt.gang));
    return;
  }
  // If the attempt was refused, no pod has left, and other gangs of the namespace may still
  // succeed. If a gang of higher priority took the room, the evictions did help another gang. In
  // both cases only this gang backs off.
  const bool is_own_rest = end == PreemptionEnd::kRefused || end == PreemptionEnd::kYielded;
  Rest& rest =
      is_own_rest ? looks_[attempt.gang->name] : in_vain_[NamespaceAndPriority(*attempt.gang)];
  rest.until = now + std::min<Duration>(settings_.rest * (1 << std::min(rest.times, 10)),
                                        settings_.most_rest);
  ++rest.times;
}

void GangPreemption::Look(const ClusterState& state, Moment at) {
  const auto snapshot = state.Snapshot();
  if (snapshot->waiting_gpu_pods() == 0) {
    looks_.clear();
    return;
  }
  const std::vector<WaitingGang> gangs =
      GangsToPreemptFor(*snapshot, state.WaitingPods(), settings_.rules, at.wall);
  for (Rests* const rests : {&looks_, &in_vain_}) {
    std::erase_if(*rests, [&](const auto& entry) {
      return entry.second.until + settings_.most_rest < at.now;
    });
  }
  for (const WaitingGang& gang : gangs) {
    Rest& look = looks_[gang.name];
    const auto in_vain = in_vain_.find(NamespaceAndPriority(gang));
    if (at.now < look.until || (in_vain != in_vain_.end() && at.now < in_vain->second.until))
      continue;
    const bool is_served =
        std::any_of(attempts_.begin(), attempts_.end(),
                    [&](const Attempt& attempt) { return attempt.gang->name == gang.name; });
    if (is_served) continue;
    const auto victims = VictimsOf(*snapshot, gang, settings_.headroom, at.wall);
    if (victims) {
      std::set<std::string> nodes = NodesOf(*snapshot, *victims);
      if (Claim(*snapshot, state, gang, *victims, nodes, at.wall) && !victims->pods.empty()) {
        attempts_.push_back(Begin(*snapshot, gang, *victims, std::move(nodes), at.now));
        return;
      }
    }
    // Each step searches for only one gang, because a search is expensive in a large cluster. All
    // other gangs get a search before this one gets the next.
    const auto others = std::chrono::seconds(gangs.size());
    look.until = at.now + std::max<Duration>(settings_.look_again, others);
    return;
  }
}

bool GangPreemption::Claim(const ClusterSnapshot& snapshot, const ClusterState& state,
                           const WaitingGang& gang, const GangVictims& victims,
                           const std::set<std::string>& nodes, WallTime wall) {
  const auto is_there = [&nodes](const Attempt& attempt) {
    return std::any_of(attempt.nodes.begin(), attempt.nodes.end(),
                       [&nodes](const std::string& node) { return nodes.contains(node); });
  };
  std::set<std::string> leaving;
  for (const auto& pod : victims.pods) leaving.insert(pod->uid);
  for (const Attempt& attempt : attempts_) {
    if (!is_there(attempt)) continue;
    if (attempt.gang->priority >= gang.priority) return false;
    for (const auto* const pods : {&attempt.asked, &attempt.refused}) {
      for (const auto& pod : *pods) leaving.insert(pod->uid);
    }
  }
  std::vector<PlannedPlace> taken = PlacesOf(snapshot, gang, victims);
  std::stable_sort(attempts_.begin(), attempts_.end(), [](const Attempt& a, const Attempt& b) {
    return a.gang->priority > b.gang->priority;
  });
  for (Attempt& attempt : attempts_) {
    if (!is_there(attempt)) continue;
    const std::vector<PlannedPlace> places = NotBound(state, attempt.members);
    if (FitBeside(snapshot, places, taken, leaving, wall)) {
      taken.insert(taken.end(), places.begin(), places.end());
    } else {
      attempt.ended = {PreemptionEnd::kYielded,
                       fmt::format("its room is given to gang {}", gang.name)};
    }
  }
  return true;
}

GangPreemption::Attempt GangPreemption::Begin(const ClusterSnapshot& snapshot,
                                              const WaitingGang& gang, const GangVictims& victims,
                                              std::set<std::string> nodes, Instant now) const {
  Attempt attempt{.gang = std::make_shared<const WaitingGang>(gang),
                  .members = PlacesOf(snapshot, gang, victims),
                  .nodes = std::move(nodes),
                  .asked = {},
                  .refused = victims.pods};
  attempt.victims = victims.pods.size();
  attempt.began = now;
  for (const auto& pod : victims.pods) attempt.leave = std::max(attempt.leave, pod->grace);
  attempt.leave = std::clamp(attempt.leave + settings_.keep, settings_.leave, settings_.most_leave);
  return attempt;
}

}  // namespace synergy
