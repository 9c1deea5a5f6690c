#pragma once

// Translates a Workload of Kueue for rounds (queues/rounds.h). The controller, which decides which
// workload has its turn, and the command line, which explains the decision, share this code. The
// Workload's priority gives its band, relative to its own priority:
//
//   own + 2   runs, raised once more because Kueue has not considered it
//   own + 1   runs
//   own       next; also workloads to which nothing has been written yet
//   own - 1   waits
//
// Threading: pure.

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/clock.h"
#include "core/units.h"
#include "queues/kueue.h"
#include "queues/round_policy.h"
#include "queues/rounds.h"

namespace synergy {

int64_t PriorityOf(int64_t own, Band band);
// Returns the higher priority of the band `kRuns` for a workload that has the lower priority of
// this band; nullopt for others.
std::optional<int64_t> RaisedAgain(const Workload& workload);
// Returns the present band. A priority that another client wrote becomes the workload's own
// priority, so the band is kNext.
Band BandOf(const Workload& workload);

// The GPU pods of a workload.
struct WorkloadPods {
  // The GPUs of a running pod, and the time when it began to run.
  struct Held {
    Gpus gpus;
    WallTime since{};
  };

  int64_t unplaced = 0;  // without a node
  int64_t running = 0;
  WallTime since{};  // when the last of these pods began
  std::vector<Held> held;
  Gpus idle;  // the GPUs of the pods that do not run

  void Add(const QueuedPod& pod);
};

// Returns whether Kueue has requeued the workload with a backoff, for example because its pods were
// not ready in time. Ignores the backoff of one second after a Retry of Synergy's own admission
// check.
bool InBackoff(const Workload& workload, WallTime now);

// A workload that has had its quota, or its GPU type, for this long counts as running, unless a pod
// has no node. Its pods may be unknown, because they name their workload in an annotation that
// users may remove.
inline constexpr Duration kMostStart = std::chrono::minutes(5);
Rounds::Doing DoingOf(const Workload& workload, const WorkloadPods& pods, WallTime now = {});
// Returns the time since which the workload has been in its state, according to the objects. The
// result is never earlier than the true time.
WallTime DoingSince(const Workload& workload, const WorkloadPods& pods, WallTime now = {});

// Charges the workload's service or wait from `from` to `now` (rounds.h). `doing`: DoingOf(), or
// kWaited if it waits for its GPU type. While some of its pods do not run, the workload is still
// charged for the running ones. Otherwise one waiting pod would make all others free of charge.
void ChargeUntil(const Rounds& rounds, RoundService& service, const Workload& workload,
                 const WorkloadPods& pods, Rounds::Doing doing, WallTime from, WallTime now);

// A training's last report about itself stays valid for this running time.
inline constexpr Duration kLongestSilence = std::chrono::minutes(30);
// A report is ignored if its clock is ahead by more than this.
inline constexpr Duration kMostAhead = std::chrono::minutes(1);
// Returns the time at which a job that has run since `since` reported its remaining time. Returns
// nullopt if there is no report from this run, or no recent one, or if the report's time is too far
// in the future.
std::optional<WallTime> ReportedAt(const TrainerStatus& trainer_status, WallTime since,
                                   WallTime now);

// Describes the workload for Rounds. `service`: its service so far. A workload in backoff is left
// alone.
RoundWorkload ToRoundWorkload(const RoundPolicy& policy, const Workload& workload,
                              const RoundService& service, WallTime now);

}  // namespace synergy
