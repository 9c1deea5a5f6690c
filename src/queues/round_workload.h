#pragma once

// A Workload of Kueue as rounds see it (queues/rounds.h): the same for whoever decides whose
// turn it is and for whoever explains it.
//
//   own + 2   runs, raised once more for a Kueue that has not looked at it
//   own + 1   runs
//   own       next; also what nobody has written anything about yet
//   own - 1   waits
//
// Threading: pure.

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/clock.h"
#include "queues/kueue.h"
#include "queues/queued_job.h"
#include "queues/round_policy.h"
#include "queues/rounds.h"

namespace synergy {

int64_t PriorityOf(int64_t own, Band band);
// A priority of the band `kRuns` that it has not had yet; none: it has had both.
std::optional<int64_t> RaisedAgain(const Workload& workload);
// What somebody wrote into the priority is its own from then on, and so the band in the middle.
Band BandOf(const Workload& workload);

// The GPU pods of a workload.
struct WorkloadPods {
  int64_t unplaced = 0;  // without a node
  int64_t running = 0;
  WallTime since{};  // when the last of these began

  void Add(const QueuedPod& pod);
};

// Kueue has put it back and does not admit it for a while yet: after it was not ready in time, say.
// An answer of our own admission checks keeps it from its queue for a second only, which is no such
// while.
bool InBackoff(const Workload& workload, WallTime now);

// Which pods are a workload's is told by an annotation of theirs, which their owner may take away.
// By `now` one that has had its quota for kMostStart has its GPUs, whatever its pods say.
inline constexpr Duration kMostStart = std::chrono::minutes(5);
Rounds::Doing DoingOf(const Workload& workload, const WorkloadPods& pods, WallTime now = {});
// Since when, as far as the objects tell: never before what they tell of.
WallTime DoingSince(const Workload& workload, const WorkloadPods& pods, WallTime now = {});

// A training's word on itself counts for so long, by what it has run since then.
inline constexpr Duration kLongestSilence = std::chrono::minutes(30);
// A clock that is further ahead than that tells no age.
inline constexpr Duration kMostAhead = std::chrono::minutes(1);
// Tells when a job that runs since `since` said how long it still needs; none: it has not, in this
// run, or not lately, or at a time to come.
std::optional<WallTime> ToldAt(const TrainerStatus& told, WallTime since, WallTime now);

// `service`: what it has had so far. What is in backoff is left alone.
RoundWorkload ToRoundWorkload(const RoundPolicy& policy, const Workload& workload,
                              const RoundService& service, WallTime now);

}  // namespace synergy
