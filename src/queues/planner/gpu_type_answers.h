#pragma once

// Plans answers to the admission check with which workloads wait for their GPU type
// (queues/kueue.h, docs/internals/gavel.md). Without an answer, a workload does not start. So:
//   * Every replica admits a workload whose queue has no policy of GPU types. It also admits a
//     workload without a type if no replica has decided about it for `patience`.
//   * Every replica resets the answer of a workload that has lost its quota.
//   * The leader, once it has decided, admits a workload to its type as soon as that type has room.
//     It evicts (Retry) a workload that moves to another type, or whose GPUs others need.
//
// Threading: pure.

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "core/clock.h"
#include "queues/kueue.h"
#include "queues/planner/queued_workload.h"
#include "queues/planner/type_chooser.h"
#include "queues/queue_objects.h"

namespace synergy {

// Returns the index of Synergy's check among the workload's checks; nullopt if it has none.
std::optional<size_t> OurCheck(const QueueObjects& objects, const Workload& workload);
// Returns whether the workload has its quota and waits for its GPU type.
bool IsHeld(const QueueObjects& objects, const Workload& workload);

struct TypeAnswer {
  std::shared_ptr<const Workload> workload;
  size_t check = 0;  // index among the workload's checks
  CheckAnswer answer;
  std::optional<JobNotice> notice;  // to record once the answer is written
};

// The time after an eviction within which Kueue resets an answer, if it does so itself.
inline constexpr Duration kAfterEviction = std::chrono::seconds(3);

// Returns the answers to write now. `types`: the decision just made; null if this replica does not
// lead or could not decide. `silent`: whether no replica has decided for `patience`.
std::vector<TypeAnswer> PlanTypeAnswers(const QueueObjects& objects, const TypeChooser* types,
                                        bool silent, Duration patience, WallTime now);

}  // namespace synergy
