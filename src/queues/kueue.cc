#include "queues/kueue.h"

#include <algorithm>

namespace synergy {

bool Workload::MayLoseTurn(const ProfileCheckpoints& checkpoints) const {
  if (profiles_to_ask.empty()) return may_lose_turn;
  return std::all_of(
      profiles_to_ask.begin(), profiles_to_ask.end(),
      [&](const std::string& name_of) { return checkpoints(workload_namespace, name_of); });
}

RoundService ServiceOf(const RoundNote& note) {
  RoundService service;
  service.served = note.served;
  service.place = {note.queue, Seconds(note.queue_served), Seconds(note.queue_waited),
                   Seconds(note.queue_entered)};
  if (note.remaining) service.remaining = Seconds(*note.remaining);
  service.delays = {Seconds(note.fair_share_delay), Seconds(note.fragmentation_delay)};
  service.lost_turns = note.lost_turns;
  service.left_at = note.left_at;
  return service;
}

RoundNote NoteOf(const RoundService& service, WallTime at) {
  RoundNote note;
  note.served = service.served;
  note.queue = service.place.queue;
  note.queue_served = service.place.served.count();
  note.queue_waited = service.place.waited.count();
  note.queue_entered = service.place.entered.count();
  if (service.remaining) note.remaining = service.remaining->count();
  note.fair_share_delay = service.delays.fair_share.count();
  note.fragmentation_delay = service.delays.fragmentation.count();
  note.lost_turns = service.lost_turns;
  note.left_at = service.left_at;
  note.at = at;
  return note;
}

std::optional<WallTime> Workload::AdmittedAt() const {
  if (!has_quota) return std::nullopt;
  WallTime at = quota_since;
  for (const CheckState& check : checks) {
    if (check.state != ToString(CheckPhase::kReady)) return std::nullopt;
    at = std::max(at, check.since);
  }
  return at;
}

bool IsHeldBy(const Workload& workload, const CheckState& check) {
  return workload.has_quota && !workload.evicted && check.state != ToString(CheckPhase::kReady);
}

std::string_view ToString(CheckPhase phase) {
  switch (phase) {
    case CheckPhase::kPending:
      return "Pending";
    case CheckPhase::kReady:
      return "Ready";
    case CheckPhase::kRetry:
      return "Retry";
  }
  return "?";
}

}  // namespace synergy
