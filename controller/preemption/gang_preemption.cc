#include "controller/preemption/gang_preemption.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "wire/pods/pod_writes.h"

namespace synergy::controller {
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

std::string InWhoseName(const WaitingGang& gang) {
  return fmt::format("{} {}", gang.members.front()->pod_namespace, gang.priority);
}

}  // namespace

GangPreemption::GangPreemption(GangPreemptionSettings settings, ClusterState& state,
                               kube::PodApi& pods, kube::EvictionApi& evictions,
                               kube::EventRecorder& events, std::function<bool()> may_act,
                               const Clock& clock, Logger& log, metrics::ControllerMetrics& metrics)
    : settings_(std::move(settings)),
      state_(state),
      pods_(pods),
      evictions_(evictions),
      events_(events),
      may_act_(std::move(may_act)),
      clock_(clock),
      log_(log),
      metrics_(metrics) {}

std::string_view GangPreemption::ToString(End end) {
  switch (end) {
    case End::kBound:
      return "bound";
    case End::kInVain:
      return "in_vain";
    case End::kRefused:
      return "refused";
    case End::kGangGone:
      return "gang_gone";
    case End::kYielded:
      return "yielded";
  }
  return "";
}

void GangPreemption::StartOver() {
  attempts_.clear();
  looks_.clear();
  in_vain_.clear();
}

void GangPreemption::Step(const std::stop_token& stop) {
  for (Attempt& attempt : std::exchange(attempts_, {})) {
    if (const std::optional<Ended> ended = Advance(attempt, stop)) {
      Finish(attempt, *ended, stop);
    } else {
      attempts_.push_back(std::move(attempt));
    }
  }
  if (attempts_.size() < kMostAttempts) Look(stop);
}

void GangPreemption::Look(const std::stop_token& stop) {
  const auto snapshot = state_.Snapshot();
  if (snapshot->waiting_gpu_pods() == 0) {
    looks_.clear();
    return;
  }
  const WallTime wall = clock_.WallNow();
  const Instant now = clock_.Now();
  const std::vector<WaitingGang> gangs =
      GangsToPreemptFor(*snapshot, state_.WaitingPods(), settings_.rules, wall);
  for (Rests* const rests : {&looks_, &in_vain_}) {
    std::erase_if(
        *rests, [&](const auto& entry) { return entry.second.until + settings_.most_rest < now; });
  }
  for (const WaitingGang& gang : gangs) {
    Rest& look = looks_[gang.name];
    const auto in_vain = in_vain_.find(InWhoseName(gang));
    if (now < look.until || (in_vain != in_vain_.end() && now < in_vain->second.until)) continue;
    const bool is_served =
        std::any_of(attempts_.begin(), attempts_.end(),
                    [&](const Attempt& attempt) { return attempt.gang.name == gang.name; });
    if (is_served) continue;
    const auto victims = VictimsOf(*snapshot, gang, settings_.headroom, wall);
    if (victims) {
      std::set<std::string> nodes = NodesOf(*snapshot, *victims);
      if (Claim(*snapshot, gang, *victims, nodes, stop) && !victims->pods.empty())
        return Begin(*snapshot, gang, *victims, std::move(nodes), stop);
    }
    // Only one gang per step, because this is expensive in a large cluster. Every other gang has
    // its turn before this one comes again.
    const auto others = std::chrono::seconds(gangs.size());
    look.until = now + std::max<Duration>(settings_.look_again, others);
    return;
  }
}

bool GangPreemption::Claim(const ClusterSnapshot& snapshot, const WaitingGang& gang,
                           const GangVictims& victims, const std::set<std::string>& nodes,
                           const std::stop_token& stop) {
  const auto is_there = [&nodes](const Attempt& attempt) {
    return std::any_of(attempt.nodes.begin(), attempt.nodes.end(),
                       [&nodes](const std::string& node) { return nodes.contains(node); });
  };
  std::set<std::string> leaving;
  for (const auto& pod : victims.pods) leaving.insert(pod->uid);
  for (const Attempt& attempt : attempts_) {
    if (!is_there(attempt)) continue;
    if (attempt.gang.priority >= gang.priority) return false;
    for (const auto* const pods : {&attempt.asked, &attempt.refused}) {
      for (const auto& pod : *pods) leaving.insert(pod->uid);
    }
  }
  std::vector<PlannedPlace> taken = PlacesOf(snapshot, gang, victims);
  std::stable_sort(attempts_.begin(), attempts_.end(), [](const Attempt& a, const Attempt& b) {
    return a.gang.priority > b.gang.priority;
  });
  for (Attempt& attempt : std::exchange(attempts_, {})) {
    if (is_there(attempt)) {
      const std::vector<PlannedPlace> places = NotBound(attempt);
      if (!FitBeside(snapshot, places, taken, leaving, clock_.WallNow())) {
        Finish(attempt, {End::kYielded, fmt::format("its room is given to gang {}", gang.name)},
               stop);
        continue;
      }
      taken.insert(taken.end(), places.begin(), places.end());
    }
    attempts_.push_back(std::move(attempt));
  }
  return true;
}

std::vector<PlannedPlace> GangPreemption::NotBound(const Attempt& attempt) const {
  std::vector<PlannedPlace> places;
  for (const PlannedPlace& member : attempt.members) {
    const auto pod = state_.FindPod(member.pod->uid);
    if (pod && pod->waiting) places.push_back({pod, member.node});
  }
  return places;
}

void GangPreemption::Begin(const ClusterSnapshot& snapshot, const WaitingGang& gang,
                           const GangVictims& victims, std::set<std::string> nodes,
                           const std::stop_token& stop) {
  const Instant now = clock_.Now();
  Attempt attempt{.gang = gang,
                  .members = PlacesOf(snapshot, gang, victims),
                  .nodes = std::move(nodes),
                  .asked = {},
                  .refused = victims.pods};
  attempt.victims = victims.pods.size();
  attempt.began = now;
  for (const auto& pod : victims.pods) attempt.leave = std::max(attempt.leave, pod->grace);
  attempt.leave = std::clamp(attempt.leave + settings_.keep, settings_.leave, settings_.most_leave);
  if (!KeepPlaces(attempt, stop))
    return Finish(attempt, {End::kRefused, "a place could not be reserved"}, stop);
  if (const Result<> allowed = TryAll(victims, stop); !allowed)
    return Finish(attempt, {End::kRefused, allowed.error().message}, stop);
  log_.Info("evicting for a gang", {{"gang", gang.name},
                                    {"priority", gang.priority},
                                    {"members", gang.members.size()},
                                    {"victims", victims.pods.size()}});
  for (const auto& pod : gang.members) {
    Tell(*pod, "Normal", "SynergyPreempting",
         fmt::format("gang {}: evicting {} pods of lower priority for it", gang.name,
                     victims.pods.size()));
  }
  EvictAll(attempt, stop);
  attempts_.push_back(std::move(attempt));
}

bool GangPreemption::KeepPlaces(Attempt& attempt, const std::stop_token& stop) {
  attempt.renewed = clock_.Now();
  const WallTime until = clock_.WallNow() + settings_.keep;
  for (const PlannedPlace& member : attempt.members) {
    if (stop.stop_requested() || !may_act_()) return false;
    const Result<Pod> kept = pods_.Annotate(
        *member.pod, {{annotations::kKeptPlace, wire::WriteKeptPlace(member.node, until)}},
        kube::Precondition::kSamePod, stop);
    if (!kept) {
      log_.Warn("cannot reserve a place for a gang's member",
                {{"pod", member.pod->Key()}, {"error", kept.error().message}});
      return false;
    }
    state_.RefreshPod(*kept);
  }
  return true;
}

Result<> GangPreemption::TryAll(const GangVictims& victims, const std::stop_token& stop) {
  for (const auto& pod : victims.pods) {
    if (stop.stop_requested() || !may_act_())
      return Fail(ErrorCode::kCancelled, "another replica acts now");
    const Result<> tried = evictions_.TryEvict(kube::IdentityOf(*pod), stop);
    // A pod that is gone needs no eviction.
    if (!tried && tried.error().code != ErrorCode::kNotFound &&
        tried.error().code != ErrorCode::kConflict) {
      return tried;
    }
  }
  return {};
}

void GangPreemption::EvictAll(Attempt& attempt, const std::stop_token& stop) {
  for (const auto& pod : std::exchange(attempt.refused, {})) {
    if (stop.stop_requested() || !may_act_()) {
      attempt.refused.push_back(pod);
      continue;
    }
    const Result<> evicted = evictions_.Evict(kube::IdentityOf(*pod), stop);
    if (evicted) {
      metrics_.CountEvictedForGang();
      Tell(*pod, "Warning", "SynergyPreempted",
           fmt::format("evicted for gang {} with priority {}; this pod has priority {}",
                       attempt.gang.name, attempt.gang.priority, pod->priority));
    } else if (evicted.error().code != ErrorCode::kNotFound &&
               evicted.error().code != ErrorCode::kConflict) {
      log_.Warn("cannot evict", {{"pod", pod->Key()}, {"error", evicted.error().message}});
      attempt.refused.push_back(pod);
      continue;
    }
    attempt.asked.push_back(pod);
  }
}

std::optional<GangPreemption::Ended> GangPreemption::Advance(Attempt& attempt,
                                                             const std::stop_token& stop) {
  const Instant now = clock_.Now();
  size_t bound = 0;
  for (const PlannedPlace& member : attempt.members) {
    const auto pod = state_.FindPod(member.pod->uid);
    if (!pod || pod->deleting || pod->terminal) {
      return Ended{End::kGangGone, fmt::format("{} no longer exists", member.pod->Key())};
    }
    if (!pod->waiting) ++bound;
  }
  if (bound == attempt.members.size()) return Ended{End::kBound};
  if (!attempt.refused.empty()) EvictAll(attempt, stop);
  std::erase_if(attempt.refused, [this](const auto& pod) { return !IsThere(*pod); });
  std::erase_if(attempt.asked, [this](const auto& pod) { return !IsThere(*pod); });
  const bool all_gone = attempt.asked.empty() && attempt.refused.empty();
  if (!all_gone && now - attempt.began >= attempt.leave) {
    return Ended{End::kInVain, "not all victims have left"};
  }
  if (all_gone && !attempt.room_since) {
    attempt.room_since = now;
    if (!KeepPlaces(attempt, stop)) return Ended{End::kInVain, "a reserved place was lost"};
  }
  if (attempt.room_since && now - *attempt.room_since >= settings_.keep) {
    return Ended{End::kInVain, "the gang was not bound in the room that was made"};
  }
  if (!all_gone && now - attempt.renewed >= settings_.keep / 2 && !KeepPlaces(attempt, stop)) {
    return Ended{End::kInVain, "a reserved place was lost"};
  }
  return std::nullopt;
}

void GangPreemption::Finish(const Attempt& attempt, const Ended& ended,
                            const std::stop_token& stop) {
  const auto& [end, why] = ended;
  GiveUpPlaces(attempt, stop);
  metrics_.CountGangPreemption(ToString(end));
  log_.Info("eviction for a gang ended", {{"gang", attempt.gang.name},
                                          {"outcome", ToString(end)},
                                          {"why", why},
                                          {"victims", attempt.victims}});
  if (end == End::kBound) {
    in_vain_.erase(InWhoseName(attempt.gang));
    return;
  }
  // If an eviction was refused, no pod has left, and other gangs of the namespace may succeed. If a
  // higher priority took the room, the evictions were not in vain. In both cases only this gang
  // backs off.
  const bool is_own_rest = end == End::kRefused || end == End::kYielded;
  Rest& rest = is_own_rest ? looks_[attempt.gang.name] : in_vain_[InWhoseName(attempt.gang)];
  rest.until = clock_.Now() + std::min<Duration>(settings_.rest * (1 << std::min(rest.times, 10)),
                                                 settings_.most_rest);
  ++rest.times;
  if (end == End::kGangGone) return;
  for (const PlannedPlace& member : attempt.members) {
    Tell(*member.pod, "Warning", "SynergyPreemptionEnded",
         fmt::format("gang {}: {}", attempt.gang.name, why));
  }
}

void GangPreemption::GiveUpPlaces(const Attempt& attempt, const std::stop_token& stop) {
  for (const PlannedPlace& member : attempt.members) {
    const auto pod = state_.FindPod(member.pod->uid);
    if (!pod || pod->waiting == nullptr || pod->waiting->kept_node.empty()) continue;
    if (stop.stop_requested() || !may_act_()) return;
    const Result<Pod> given = pods_.Annotate(*pod, {{annotations::kKeptPlace, std::nullopt}},
                                             kube::Precondition::kSamePod, stop);
    if (given) state_.RefreshPod(*given);  // otherwise the reservation expires
  }
}

void GangPreemption::Tell(const Pod& pod, std::string type, std::string reason,
                          std::string message) {
  events_.Record({.pod_namespace = pod.pod_namespace,
                  .pod_name = pod.name,
                  .pod_uid = pod.uid,
                  .type = std::move(type),
                  .reason = std::move(reason),
                  .message = std::move(message)});
}

bool GangPreemption::IsThere(const Pod& pod) const {
  const auto seen = state_.FindPod(pod.uid);
  return seen != nullptr && !seen->terminal;
}

}  // namespace synergy::controller
