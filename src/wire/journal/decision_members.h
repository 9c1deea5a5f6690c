#pragma once

// The members of decisions and their names in a recording, like journal_members.h for the cluster.
// Private to this folder.
//
// Threading: pure.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/overloaded.h"
#include "engine/decisions.h"
#include "wire/base/storage_members.h"
#include "wire/journal/journal_members.h"

namespace synergy::wire {

template <>
inline constexpr std::array<std::string_view, 3> kWords<PlaceEnd>{"Bound", "GivenUp", "PodGone"};
template <>
inline constexpr std::array<std::string_view, 5> kWords<ChangeFailure>{
    "Refused", "NoRoom", "Deferred", "Infeasible", "Timeout"};
template <>
inline constexpr std::array<std::string_view, 5> kWords<Respected>{
    "ByHand", "ProfileChanged", "ProfileGone", "Devices", "DevicesLost"};

// A TunerAction in a recording: one form of object for all actions. Members that the action lacks
// have their defaults.
struct RecordedAction {
  enum class Kind : uint8_t {};  // index of the alternative

  Kind kind{};
  std::shared_ptr<const Pod> pod;
  std::string node;
  WallTime until{};
  Duration waited{};
  double cost = 0;
  PlaceEnd place_end = PlaceEnd::kBound;
  ChangeRecord change;
  ChangeRecord before;
  bool unchanged = false;
  std::optional<WallTime> unshrinkable_until;
  std::optional<ChangeFailure> failure;
  Respected respected = Respected::kByHand;
  std::string message;
};
template <>
inline constexpr std::array<std::string_view, std::variant_size_v<TunerAction::What>>
    kWords<RecordedAction::Kind>{"KeepPlace", "EndPlace", "Remind",  "Announce", "Resize",
                                 "Record",    "Withdraw", "PutBack", "Tell"};

// Match(each, record, what) calls each(member of the record, member of the action) for every member
// of the action.
void Match(auto each, auto& record, Like<tuner_action::KeepPlace> auto& what) {
  each(record.node, what.node);
  each(record.until, what.until);
  each(record.waited, what.waited);
  each(record.cost, what.cost);
}
void Match(auto each, auto& record, Like<tuner_action::EndPlace> auto& what) {
  each(record.node, what.node);
  each(record.place_end, what.end);
}
void Match(auto, auto&, Like<tuner_action::Remind> auto&) {}
void MatchStep(auto each, auto& record, auto& what) {
  each(record.change, what.change);
  each(record.unchanged, what.unchanged);
}
void Match(auto each, auto& record, Like<tuner_action::Announce> auto& what) {
  MatchStep(each, record, what);
}
void Match(auto each, auto& record, Like<tuner_action::Resize> auto& what) {
  MatchStep(each, record, what);
}
void Match(auto each, auto& record, Like<tuner_action::Record> auto& what) {
  MatchStep(each, record, what);
}
void Match(auto each, auto& record, Like<tuner_action::Withdraw> auto& what) {
  MatchStep(each, record, what);
  each(record.before, what.before);
  each(record.unshrinkable_until, what.unshrinkable_until);
  each(record.failure, what.failure);
}
void Match(auto each, auto& record, Like<tuner_action::PutBack> auto& what) {
  each(record.change, what.change);
  each(record.unshrinkable_until, what.unshrinkable_until);
  each(record.failure, what.failure);
}
void Match(auto each, auto& record, Like<tuner_action::Notify> auto& what) {
  each(record.respected, what.reason);
  each(record.message, what.message);
}

void Members(auto& each, Like<Moment> auto& moment) {
  auto& [now, wall] = moment;
  each("now", now);
  each("wall", wall);
}

void Members(auto& each, Like<ReserveRule> auto& reserve) {
  auto& [per_gpu, headroom] = reserve;
  each("perGpu", per_gpu);
  each("headroom", headroom);
}

void Members(auto& each, Like<RecordedAction> auto& action) {
  auto& [kind, pod, node, until, waited, cost, place_end, change, before, unchanged,
         unshrinkable_until, failure, respected, message] = action;
  each("kind", kind);
  each("pod", pod);
  each("node", node);
  each("until", until);
  each("waited", waited);
  each("cost", cost);
  each("placeEnd", place_end);
  each("change", change);
  each("before", before);
  each("unchanged", unchanged);
  each("unshrinkableUntil", unshrinkable_until);
  each("failure", failure);
  each("respected", respected);
  each("message", message);
}

void Members(auto& each, const TunerAction& action) {
  RecordedAction record{.kind = RecordedAction::Kind(action.what.index()), .pod = action.pod};
  const auto write = [](auto& in_record, const auto& member) { in_record = member; };
  std::visit([&](const auto& what) { Match(write, record, what); }, action.what);
  Members(each, std::as_const(record));
}
void Members(auto& each, TunerAction& action) {
  RecordedAction record;
  Members(each, record);
  const auto read =
      Overloaded{[](const auto& in_record, auto& member) { member = in_record; },
                 [](const std::optional<ChangeFailure>& in_record, ChangeFailure& member) {
                   if (in_record) member = *in_record;
                 }};
  action.pod = std::move(record.pod);
  action.what = MakeAlternative<TunerAction::What>(static_cast<size_t>(record.kind));
  std::visit([&](auto& what) { Match(read, record, what); }, action.what);
}

void Members(auto& each, Like<TunerSettings> auto& settings) {
  auto& [scheduler_name, round, least_gain, max_speed_up, within_counted, keep, retry, look_again,
         remind, settle, patience, remind_kubelet, unshrinkable, infeasible, unnamed, refused,
         most_refused, idle_after, headroom] = settings;
  each("schedulerName", scheduler_name);
  each("round", round);
  each("leastGain", least_gain);
  each("maxSpeedUp", max_speed_up);
  each("withinCounted", within_counted);
  each("keep", keep);
  each("retry", retry);
  each("lookAgain", look_again);
  each("remind", remind);
  each("settle", settle);
  each("patience", patience);
  each("remindKubelet", remind_kubelet);
  each("unshrinkable", unshrinkable);
  each("infeasible", infeasible);
  each("unnamed", unnamed);
  each("refused", refused);
  each("mostRefused", most_refused);
  each("idleAfter", idle_after);
  each("headroom", headroom);
}

void Members(auto& each, Like<JobProfile::Point> auto& point) {
  auto& [cpu, memory, throughput] = point;
  each("cpu", cpu);
  each("memory", memory);
  each("throughput", throughput);
}

void Members(auto& each, Like<CpuPoint> auto& point) {
  auto& [cpu, throughput] = point;
  each("cpu", cpu);
  each("throughput", throughput);
}

void Members(auto& each, Like<CacheModel> auto& model) {
  auto& [data_set, storage_bandwidth, bytes_per_sample] = model;
  each("dataSet", data_set);
  each("storageBandwidth", storage_bandwidth);
  each("bytesPerSample", bytes_per_sample);
}

void Members(auto& each, Like<CachedMeasurements> auto& cached) {
  auto& [model, points, memories] = cached;
  each("model", model);
  each("points", points);
  each("memories", memories);
}

void Members(auto& each, Like<TrainingProfile> auto& training) {
  auto& [model, gpu_product, gpus, process_memory, points, cached, spread] = training;
  each("model", model);
  each("gpuProduct", gpu_product);
  each("gpus", gpus);
  each("processMemory", process_memory);
  each("points", points);
  each("cached", cached);
  each("spread", spread);
}

void Members(auto& each, Like<decision::HeldProfile> auto& held) {
  auto& [profile_namespace, name, generation, measured, training] = held;
  each("namespace", profile_namespace);
  each("name", name);
  each("generation", generation);
  each("measured", measured);
  each("training", training);
}

void Members(auto& each, Like<decision::Asked> auto& asked) {
  auto& [pod, nodes, sent, counted_on] = asked;
  each("pod", pod);
  each("nodes", nodes);
  each("sent", sent);
  each("countedOn", counted_on);
}

void Members(auto& each, Like<decision::PreemptionVictims> auto& victims) {
  auto& [node, uids, disruption_budget_violations] = victims;
  each("node", node);
  each("uids", uids);
  each("disruptionBudgetViolations", disruption_budget_violations);
}

void Members(auto& each, Like<GpuReservation::Place> auto& place) {
  auto& [node, gpus, cpu, memory] = place;
  each("node", node);
  each("gpus", gpus);
  each("cpu", cpu);
  each("memory", memory);
}

void Members(auto& each, Like<TimeRange> auto& range) {
  auto& [earliest, likely, latest] = range;
  each("earliest", earliest);
  each("likely", likely);
  each("latest", latest);
}

void Members(auto& each, Like<GpuReservation> auto& reservation) {
  auto& [job, priority, product, places, starts, waits_for] = reservation;
  each("job", job);
  each("priority", priority);
  each("product", product);
  each("places", places);
  each("starts", starts);
  each("waitsFor", waits_for);
}

void Members(auto& each, Like<PassingTerms> auto& terms) {
  auto& [reservations, gpus, largest, longest, now] = terms;
  each("reservations", reservations);
  each("gpus", gpus);
  each("largest", largest);
  each("longest", longest);
  each("now", now);
}

// The decisions.

void Members(auto& each, Like<decision::Filter> auto& decision) {
  auto& [version, asked, fitting, passing] = decision;
  each("version", version);
  each("asked", asked);
  each("fitting", fitting);
  each("passing", passing);
}
void Members(auto& each, Like<decision::Prioritize> auto& decision) {
  auto& [version, asked, reserve, slack, points, best, avoided, storage] = decision;
  each("version", version);
  each("asked", asked);
  each("reserve", reserve);
  each("slack", slack);
  each("points", points);
  each("best", best);
  each("avoided", avoided);
  each("storage", storage);
}
void Members(auto& each, Like<decision::Bind> auto& decision) {
  auto& [version, pod, node, reserve, planned, common] = decision;
  each("version", version);
  each("pod", pod);
  each("node", node);
  each("reserve", reserve);
  each("planned", planned);
  each("common", common);
}
void Members(auto& each, Like<decision::Preempt> auto& decision) {
  auto& [version, pod, proposed, reclaims_at, chosen, passing] = decision;
  each("version", version);
  each("pod", pod);
  each("proposed", proposed);
  each("reclaimsAt", reclaims_at);
  each("chosen", chosen);
  each("passing", passing);
}
void Members(auto& each, Like<decision::TunerSet> auto& decision) {
  each("settings", decision.settings);
}
void Members(auto& each, Like<decision::ProfilesHeld> auto& decision) {
  auto& [profiles_version, profiles] = decision;
  each("bookVersion", profiles_version);
  each("profiles", profiles);
}
void Members(auto& each, Like<decision::TunerStartedOver> auto& decision) {
  each("at", decision.at);
}
void Members(auto& each, Like<decision::TunerDecided> auto& decision) {
  auto& [version, news, at, first, actions, wake, round] = decision;
  each("version", version);
  each("news", news);
  each("at", at);
  each("first", first);
  each("actions", actions);
  each("wake", wake);
  each("round", round);
}
void Members(auto& each, Like<IdlePod> auto& idle) {
  auto& [node, duration, most_cpu, reported] = idle;
  each("node", node);
  each("idle", duration);
  each("mostCpu", most_cpu);
  each("reported", reported);
}

void Members(auto& each, Like<decision::IdleReported> auto& decision) {
  auto& [pods] = decision;
  each("pods", pods);
}

void Members(auto& each, Like<StorageFacts::Disk> auto& disk) {
  auto& [name, bandwidth] = disk;
  each("name", name);
  each("bandwidth", bandwidth);
}
void Members(auto& each, Like<decision::StorageReported> auto& decision) {
  auto& [disks, readers] = decision.facts;
  each("disks", disks);
  each("readers", readers);
}

void Members(auto& each, Like<decision::ReservationsReported> auto& decision) {
  each("reservations", decision.reservations);
}

void Members(auto& each, Like<decision::TunerLearned> auto& decision) {
  auto& [action, done, at] = decision;
  each("action", action);
  each("done", done);
  each("at", at);
}

}  // namespace synergy::wire
