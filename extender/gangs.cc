#include "extender/gangs.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "allocation/gang_allocation.h"
#include "allocation/gang_launchers.h"
#include "cluster/fit.h"
#include "cluster/node_selection.h"
#include "core/wall_time.h"

namespace synergy::extender {
namespace {

// Of the server's 512 threads; the rest is for kube-scheduler's other calls.
constexpr size_t kMostWaitingBinds = kMostGangMembers;
constexpr Duration kBetweenLooks = std::chrono::milliseconds(10);
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

bool IsAsked(const AskedNodes& asked, std::string_view name) {
  for (size_t i = 0; i < asked.size(); ++i) {
    if (asked.Name(i) == name) return true;
  }
  return false;
}

bool Has(const std::vector<std::string>& uids, const std::string& uid) {
  return std::find(uids.begin(), uids.end(), uid) != uids.end();
}

// What is known of them: they are of one template, if of several, of one training.
SpreadCost SpreadOf(const std::vector<std::shared_ptr<const Pod>>& members) {
  for (const auto& member : members) {
    if (member->gang->spread != SpreadCost{}) return member->gang->spread;
  }
  return {};
}

// Of those that have GPUs and run.
std::vector<NodeIndex> NodesOf(const std::vector<GangMember>& members,
                               const ClusterSnapshot& snapshot) {
  std::vector<NodeIndex> nodes;
  for (const GangMember& member : members) {
    if (!member.placed || !member.pod->UsesGpus()) continue;
    if (const auto node = snapshot.Find(member.node)) nodes.push_back(*node);
  }
  return nodes;
}

// The same at each ask, so that it is one event.
std::string WaitsText(SpreadTier tier, WallTime until) {
  return fmt::format(
      "it waits for room within one {} until {}; after that it may be spread further",
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

Gangs::Roll Gangs::Call(const Gang& gang) const {
  Roll roll{.members = state_.GangMembers(gang.name),
            .to_place = {},
            .launchers = {},
            .disagreement = {}};
  for (const GangMember& member : roll.members) {
    const Gang& own = *member.pod->gang;
    if (!own.problem.empty()) {
      roll.disagreement = fmt::format("of pod {} {}", member.pod->name, own.problem);
    } else if (own.size != gang.size) {
      roll.disagreement = fmt::format("its members disagree about its size: {} and {}",
                                      std::min(own.size, gang.size), std::max(own.size, gang.size));
    }
    if (!member.pod->UsesGpus()) {
      // It is there, and kube-scheduler places it without us.
      if (!member.placed) roll.launchers.push_back(member.pod);
    } else if (member.placed) {
      ++roll.running;
    } else {
      roll.to_place.push_back(member.pod);
    }
  }
  return roll;
}

GangVerdict Gangs::Place(const Pod& pod, const AskedNodes& asked) {
  const Gang& gang = *pod.gang;
  if (!gang.problem.empty()) return Refused(gang.name, gang.problem);
  const std::lock_guard lock(mutex_);
  const Instant now = clock_.Now();
  Record& record = records_[gang.name];
  if (record.first_asked == Instant{}) record.first_asked = now;
  record.last_asked = now;
  record.waits_for_locality = false;
  const Roll roll = Call(gang);
  const size_t there = roll.members.size();
  const auto size = static_cast<size_t>(gang.size);
  if (!roll.disagreement.empty()) return Refused(gang.name, roll.disagreement);
  if (there > size) {
    return Refused(gang.name,
                   fmt::format("{} pods say that they are of it, and its size is {}", there, size));
  }
  if (std::string why = TooLarge(pod, roll, *state_.Snapshot()); !why.empty()) {
    return Refused(gang.name, why);
  }
  if (!roll.IsWhole(gang)) {
    const std::string why = fmt::format("{} of {} members are there", there, size);
    return now - record.first_asked < times_.creation ? NotYet(gang.name, why)
                                                      : Refused(gang.name, why);
  }
  // The end of a rest is nothing that kube-scheduler would hear of.
  if (now < record.rests_until) return NotYet(gang.name, record.why_it_rests);
  GangVerdict verdict = Refused(gang.name, "");
  if (Has(record.held, pod.uid)) verdict = PlaceHeld(pod, asked, record);
  if (verdict.kind != GangVerdict::Kind::kPlaced) verdict = Plan(pod, asked, roll, record);
  record.may_bind = !record.held.empty() && Missing(roll, record).empty();
  return verdict;
}

WallTime Gangs::FirstAsked(const Roll& roll, const Record& record) const {
  WallTime first = clock_.WallNow() - (clock_.Now() - record.first_asked);
  for (const auto& member : roll.to_place) {
    if (member->waiting == nullptr || member->waiting->since == WallTime{}) continue;
    // What was written since then may be older than the ask: of a pod that was gated, say.
    if (member->waiting->since < began_) first = std::min(first, member->waiting->since);
  }
  return first;
}

GangVerdict Gangs::PlaceHeld(const Pod& pod, const AskedNodes& asked, Record& record) {
  const std::optional<Placement> placement = state_.FindPlacement(pod.uid);
  if (!placement) return NotYet(pod.gang->name, "its places were given up");
  if (!IsAsked(asked, placement->pod->node)) {
    record.refused.emplace(pod.uid, placement->pod->node);
    return Refused(pod.gang->name, "a member may not go where it was to");
  }
  record.passed.insert(pod.uid);
  return {GangVerdict::Kind::kPlaced, placement->pod->node};
}

GangVerdict Gangs::Plan(const Pod& pod, const AskedNodes& asked, const Roll& roll, Record& record) {
  const std::string& name = pod.gang->name;
  const bool is_known = std::any_of(roll.to_place.begin(), roll.to_place.end(),
                                    [&](const auto& member) { return member->uid == pod.uid; });
  // The watch is behind kube-scheduler, or a bind of it is in doubt.
  if (!is_known) return NotYet(name, "the extender has not heard of the pod yet");
  const auto snapshot = state_.Snapshot();
  const std::set<std::string_view> allowed = NamesOf(asked);
  const auto may_go = [&](size_t member, NodeIndex node) {
    const NodeDetail& detail = *snapshot->node(node).detail;
    const Pod& who = *roll.to_place[member];
    if (who.uid == pod.uid) return allowed.contains(detail.name);
    if (record.refused.contains({who.uid, detail.name})) return false;
    const bool says = who.waiting != nullptr && who.waiting->selection != nullptr;
    return !says || MayGoTo(*who.waiting->selection, detail.name, detail.labels, detail.taints);
  };
  const WallTime first_asked = FirstAsked(roll, record);
  const LocalPlan local = PlanAround(*snapshot, name, roll, may_go, clock_.WallNow() - first_asked);
  const GangPlan& plan = local.plan;
  if (local.waits_until) {
    Release(record);
    record.waits_for_locality = true;
    // The end of the wait is nothing that kube-scheduler would hear of.
    return NotYet(name, WaitsText(local.tier, first_asked + *local.waits_until));
  }
  if (plan.places.empty()) {
    record.refused.clear();
    Release(record);
    GangVerdict verdict = Refused(name, DescribeLack(roll, plan, *snapshot));
    verdict.short_of_room = true;
    return verdict;
  }
  std::vector<GangPlace> places;
  record.held.clear();
  record.passed.clear();
  record.allocation.reset();
  GangVerdict verdict{GangVerdict::Kind::kPlaced, {}};
  for (size_t member = 0; member < roll.to_place.size(); ++member) {
    const std::string& uid = roll.to_place[member]->uid;
    const std::string& node = snapshot->node(plan.places[member]).detail->name;
    places.push_back({uid, node});
    record.held.push_back(uid);
    if (uid == pod.uid) verdict.text = node;
  }
  const Instant now = clock_.Now();
  if (!Hold(places, roll, *snapshot, record)) {
    record.held.clear();
    return NotYet(name, "its places were taken by others meanwhile");
  }
  record.held_since = now;
  ++placed_.at(static_cast<size_t>(local.tier));
  record.passed.insert(pod.uid);
  log_.Info("gang has its places", {{"gang", name},
                                    {"members", roll.members.size()},
                                    {"held", places.size()},
                                    {"within", ToString(local.tier)}});
  return verdict;
}

bool Gangs::Hold(const std::vector<GangPlace>& places, const Roll& roll,
                 const ClusterSnapshot& snapshot, Record& record) {
  state_.Release(std::exchange(record.launchers, {}));
  // Longer than a gang is given, so that it is Look() that ends it and says so.
  const Instant until = clock_.Now() + 2 * times_.hold;
  const std::vector<GangPlace> launchers = KnownPlaces(snapshot, roll.launchers);
  if (!launchers.empty()) {
    std::vector<GangPlace> all = places;
    all.insert(all.end(), launchers.begin(), launchers.end());
    if (state_.Hold(all, until)) {
      for (const GangPlace& launcher : launchers) record.launchers.push_back(launcher.uid);
      return true;
    }
  }
  return state_.Hold(places, until);
}

LocalPlan Gangs::PlanAround(const ClusterSnapshot& snapshot, const std::string& gang,
                            const Roll& roll, const MayGo& may_go, Duration waited) const {
  const std::vector<NodeIndex> beside = NodesOf(roll.members, snapshot);
  const auto placed = [&](GangPlan plan) {
    std::vector<NodeIndex> all = beside;
    all.insert(all.end(), plan.places.begin(), plan.places.end());
    const SpreadTier tier = TierOf(snapshot, all, locality_.rack_label);
    return LocalPlan{std::move(plan), tier, {}};
  };
  std::set<std::string> vacant;
  std::set<std::string_view> nodes;
  const std::vector<VacantPlace> places = state_.VacantPlacesOf(gang);
  for (const VacantPlace& place : places) {
    vacant.insert(place.pod->uid);
    nodes.insert(place.pod->node);
  }
  if (!places.empty()) {
    const auto may_replace = [&](size_t member, NodeIndex node) {
      return nodes.contains(snapshot.node(node).detail->name) && may_go(member, node);
    };
    GangPlan plan = PlanGang(snapshot, roll.to_place, reserve_, may_replace, vacant);
    if (!plan.places.empty()) return placed(std::move(plan));
  }
  LocalPlan local = PlanGangLocally(snapshot, roll.to_place, reserve_, may_go, locality_,
                                    SpreadOf(roll.to_place), waited, beside, vacant);
  if (!local.plan.places.empty() || local.waits_until) return local;
  // What members of gangs of lower priority have left is not held against this one.
  const auto is_lower = [&](const Pod& left) {
    return std::all_of(roll.to_place.begin(), roll.to_place.end(),
                       [&](const auto& member) { return left.priority < member->priority; });
  };
  std::vector<std::string> yielding;
  for (const VacantPlace& place : state_.VacantPlaces()) {
    if (place.gang != gang && is_lower(*place.pod)) yielding.push_back(place.pod->uid);
  }
  if (yielding.empty()) return local;
  vacant.insert(yielding.begin(), yielding.end());
  GangPlan higher = PlanGang(snapshot, roll.to_place, reserve_, may_go, vacant);
  if (higher.places.empty()) return local;
  for (const std::string& uid : yielding) state_.SettleVacant(uid, false);
  return placed(std::move(higher));
}

std::string Gangs::TooLarge(const Pod& pod, const Roll& roll,
                            const ClusterSnapshot& snapshot) const {
  Gpus needed;
  for (const GangMember& member : roll.members) needed += member.pod->requests.main.gpus;
  // Those who are not there yet are taken to be like this one.
  const auto missing =
      static_cast<int64_t>(pod.gang->size) - static_cast<int64_t>(roll.members.size());
  if (roll.running == 0 && missing > 0) needed += pod.requests.main.gpus * missing;
  Gpus has;
  for (NodeIndex node = 0; node < snapshot.size(); ++node) {
    if (snapshot.node(node).Schedulable()) has += snapshot.node(node).allocatable.gpus;
  }
  if (needed <= has) return {};
  return fmt::format("it needs {} {}, the cluster has {}", needed.count(), gpu_resource_,
                     has.count());
}

std::string Gangs::DescribeLack(const Roll& roll, const GangPlan& plan,
                                const ClusterSnapshot& snapshot) const {
  std::string text = fmt::format("{} of {} members fit beside each other",
                                 plan.fitting + roll.running, roll.members.size());
  if (!plan.lacking || !plan.lacking_on) return text;
  const Resources requests = roll.to_place.front()->requests;
  return text + ", the next: " +
         DescribeFailures(*plan.lacking, requests, &snapshot.node(*plan.lacking_on), gpu_resource_);
}

std::vector<std::string> Gangs::Missing(const Roll& roll, const Record& record) const {
  std::vector<std::string> missing;
  for (const auto& member : roll.to_place) {
    if (!record.passed.contains(member->uid)) missing.push_back(member->name);
  }
  return missing;
}

Result<std::optional<ResourceVector>> Gangs::Await(const std::string& uid) {
  const auto pod = state_.FindPod(uid);
  if (!pod || !pod->gang) return std::optional<ResourceVector>();
  const Gang& gang = *pod->gang;
  const Instant end = clock_.Now() + times_.wait;
  std::unique_lock lock(mutex_);
  for (bool waits = false;; waits = true) {
    const auto found = records_.find(gang.name);
    if (found == records_.end() || !Has(found->second.held, uid)) {
      return Fail(ErrorCode::kConflict,
                  fmt::format("gang {}: its places were given up", gang.name));
    }
    Record& record = found->second;
    if (record.may_bind) {
      // As it is now: one may have gone since.
      const Roll roll = Call(gang);
      record.may_bind = roll.IsWhole(gang) && Missing(roll, record).empty();
      if (record.may_bind) {
        if (!record.allocation) {
          record.allocation = AllocationOfGang(*state_.Snapshot(), gang.name, reserve_);
        }
        return *record.allocation;
      }
    }
    if (clock_.Now() >= end || (!waits && waiting_binds_ >= kMostWaitingBinds)) {
      return Fail(ErrorCode::kUnavailable,
                  fmt::format("gang {}: {} of {} members have passed the filter", gang.name,
                              record.passed.size(), record.held.size()));
    }
    ++waiting_binds_;
    lock.unlock();
    clock_.SleepFor(kBetweenLooks, {});
    lock.lock();
    --waiting_binds_;
  }
}

void Gangs::Release(Record& record) {
  state_.Release(record.held);
  state_.Release(std::exchange(record.launchers, {}));
  record.held.clear();
  record.passed.clear();
  record.may_bind = false;
}

void Gangs::Look() {
  const std::lock_guard lock(mutex_);
  const Instant now = clock_.Now();
  for (auto& [name, record] : records_) Look(name, record, now);
  std::erase_if(records_, [&](const auto& entry) {
    const auto& [name, record] = entry;
    if (!record.held.empty()) return false;
    // Asked about just now, its pods may be on their way to us.
    return now - record.last_asked > times_.creation && state_.GangMembers(name).empty();
  });
}

void Gangs::Look(const std::string& name, Record& record, Instant now) {
  if (record.held.empty()) return;
  const std::vector<GangMember> members = state_.GangMembers(name);
  size_t running = 0;
  size_t waiting = 0;
  std::vector<std::string> late;
  for (const GangMember& member : members) {
    if (!member.pod->UsesGpus()) continue;
    if (member.placed) {
      ++running;
      continue;
    }
    ++waiting;
    if (!record.passed.contains(member.pod->uid)) late.push_back(member.pod->name);
  }
  if (waiting == 0) {
    if (running > 0) log_.Info("gang is bound", {{"gang", name}, {"members", members.size()}});
    Release(record);
    // The next time that somebody asks is a new beginning.
    record = Record{.last_asked = record.last_asked};
    return;
  }
  const auto size = static_cast<size_t>(members.front().pod->gang->size);
  if (members.size() < size && running == 0) {
    log_.Info("gang has lost a member: its places are given back",
              {{"gang", name}, {"members", members.size()}, {"size", size}});
    Release(record);
    record.first_asked = now;
    return;
  }
  if (now - record.held_since < times_.hold) return;
  constexpr size_t kNamed = 3;
  late.resize(std::min(late.size(), kNamed));
  record.rest = record.rest == Duration{} ? kFirstRest : std::min(2 * record.rest, kLongestRest);
  record.rests_until = now + record.rest;
  record.why_it_rests = fmt::format(
      "its places were held for {} s, and {} of {} members were not bound{}{}; tried again after "
      "{} s",
      std::chrono::duration_cast<std::chrono::seconds>(times_.hold).count(), waiting,
      members.size(),
      late.empty() ? "" : ", for another reason than resources: ", fmt::join(late, ", "),
      std::chrono::duration_cast<std::chrono::seconds>(record.rest).count());
  log_.Warn("gang's places are given back", {{"gang", name}, {"why", record.why_it_rests}});
  Release(record);
}

GangCounts Gangs::Count() const {
  const std::lock_guard lock(mutex_);
  const Instant now = clock_.Now();
  GangCounts counts{.waiting_binds = waiting_binds_, .placed = placed_};
  for (const auto& [name, record] : records_) {
    if (!record.held.empty()) {
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

}  // namespace synergy::extender
