#include "queues/round_workload.h"

#include <algorithm>

namespace synergy {
namespace {

constexpr Duration kShortestBackoff = std::chrono::seconds(5);

bool AllRun(const Workload& workload, const WorkloadPods& pods) {
  return workload.pods > 0 && pods.running >= workload.pods;
}

// Returns the GPU-seconds that the workload has held since `from` although not all its pods run.
// After kMostStart this includes GPUs of pods that are unknown.
double HeldSince(const Workload& workload, const WorkloadPods& pods, WallTime from, WallTime now) {
  double held = 0;
  const auto hold = [&](Gpus gpus, WallTime since) {
    const Seconds time = now - std::max(from, since);
    held += std::max(time.count(), 0.0) * static_cast<double>(gpus.count());
  };
  Gpus unknown = workload.gpus - pods.idle;
  for (const WorkloadPods::Held& pod : pods.held) {
    hold(pod.gpus, pod.since);
    unknown -= pod.gpus;
  }
  if (unknown > Gpus(0)) hold(unknown, *workload.AdmittedAt() + kMostStart);
  return held;
}

}  // namespace

int64_t PriorityOf(int64_t own, Band band) {
  return own + (band == Band::kRuns ? 1 : band == Band::kWaits ? -1 : 0);
}

std::optional<int64_t> RaisedAgain(const Workload& workload) {
  const int64_t first = PriorityOf(workload.OwnPriority(), Band::kRuns);
  return workload.priority == first ? std::optional(first + 1) : std::nullopt;
}

Band BandOf(const Workload& workload) {
  const int64_t above = workload.priority - workload.OwnPriority();
  return above > 0 ? Band::kRuns : above < 0 ? Band::kWaits : Band::kNext;
}

void WorkloadPods::Add(const QueuedPod& pod) {
  if (!pod.has_gpus) return;
  if (!pod.has_node) ++unplaced;
  if (!pod.running) {
    idle += pod.gpus;
    return;
  }
  ++running;
  since = std::max(since, pod.since);
  held.push_back({pod.gpus, pod.since});
}

bool InBackoff(const Workload& workload, WallTime now) {
  return !workload.has_quota && workload.requeue_at > now + kShortestBackoff;
}

Rounds::Doing DoingOf(const Workload& workload, const WorkloadPods& pods, WallTime now) {
  if (!workload.has_quota) {
    return workload.active && !InBackoff(workload, now) ? Rounds::Doing::kWaited
                                                        : Rounds::Doing::kNeither;
  }
  // Quota without admission, for example while a node is being created, is not service.
  const std::optional<WallTime> admitted = workload.AdmittedAt();
  if (workload.evicted || !admitted) return Rounds::Doing::kNeither;
  if (AllRun(workload, pods)) return Rounds::Doing::kRan;
  if (pods.unplaced > 0) return Rounds::Doing::kUnplaced;
  return now >= *admitted + kMostStart ? Rounds::Doing::kRan : Rounds::Doing::kNeither;
}

WallTime DoingSince(const Workload& workload, const WorkloadPods& pods, WallTime now) {
  if (DoingOf(workload, pods, now) != Rounds::Doing::kRan) return workload.quota_since;
  return AllRun(workload, pods) ? pods.since : *workload.AdmittedAt() + kMostStart;
}

void ChargeUntil(const Rounds& rounds, RoundService& service, const Workload& workload,
                 const WorkloadPods& pods, Rounds::Doing doing, WallTime from, WallTime now) {
  const Duration stretch = now - std::max(from, DoingSince(workload, pods, now));
  rounds.Charge(service, workload.gpus, workload.created, doing, stretch, now);
  const bool starts = doing == Rounds::Doing::kUnplaced || doing == Rounds::Doing::kNeither;
  if (!starts || workload.evicted || !workload.AdmittedAt()) return;
  const double held = HeldSince(workload, pods, std::max(from, workload.quota_since), now);
  rounds.ChargeHeld(service, workload.gpus, workload.created, held, now);
}

std::optional<WallTime> ReportedAt(const TrainerStatus& trainer_status, WallTime since,
                                   WallTime now) {
  const bool counts = trainer_status.remaining && trainer_status.at >= since &&
                      trainer_status.at <= now + kMostAhead &&
                      trainer_status.at >= now - kLongestSilence;
  return counts ? std::optional(std::min(trainer_status.at, now)) : std::nullopt;
}

RoundWorkload ToRoundWorkload(const RoundPolicy& policy, const Workload& workload,
                              const RoundService& service, WallTime now) {
  RoundWorkload described;
  described.name = workload.Key();
  described.state = !workload.has_quota ? RoundState::kWaits
                    : workload.evicted  ? RoundState::kLeaves
                                        : RoundState::kRuns;
  described.may_lose_turn = workload.may_lose_turn;
  described.gpus = workload.gpus;
  described.own_priority = workload.OwnPriority();
  described.left_alone = !workload.active || InBackoff(workload, now) ||
                         PriorityOf(described.own_priority, Band::kWaits) < policy.least_priority ||
                         PriorityOf(described.own_priority, Band::kRuns) > policy.most_priority;
  described.band = BandOf(workload);
  described.created = workload.created;
  // A workload that waits for an admission check keeps its turn, as if it had just started.
  described.started =
      workload.has_quota ? workload.AdmittedAt().value_or(now) : workload.quota_since;
  described.service = service;
  described.longest = workload.longest;
  return described;
}

}  // namespace synergy
