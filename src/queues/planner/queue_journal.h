#pragma once

// The journal of the queue planner: the inputs and the plan of each step, so that a replay can plan
// again and compare. A step contains only the changes since the previous step.
//
// The chosen GPU types are recorded as an input: a solver with a time limit chooses them, so the
// result depends on the speed of the machine.
//
// Threading: values. Each journal documents which threads may call it.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/clock.h"
#include "queues/planner/queue_plan.h"
#include "queues/queue_objects.h"

namespace synergy {

// Changes of the objects of one kind, or of other values with a Key().
template <class T>
struct ObjectChanges {
  std::vector<std::shared_ptr<const T>> put;
  std::vector<std::string> removed;  // keys

  bool empty() const { return put.empty() && removed.empty(); }
};

// The members of PodProgress that affect plans.
struct ProgressReport {
  std::string uid;
  std::optional<int64_t> iteration;
  std::optional<int64_t> total;
  std::optional<double> epoch;
  std::optional<double> loss;
  std::optional<double> rate;
  double iterations = 0;
  std::optional<Duration> remaining;

  const std::string& Key() const { return uid; }
  bool operator==(const ProgressReport&) const = default;
};

// The TypeChooser's answer for a policy.
struct TypeDecision {
  struct Turn {
    std::string uid;  // of a workload
    double place = 0;

    bool operator==(const Turn&) const = default;
  };

  std::string policy;  // UID of a policy
  std::string problem;
  std::vector<Turn> turns;  // turns of the workloads that have a decision

  bool operator==(const TypeDecision&) const = default;
};

// The number of a workload's pods for which the nodes have room.
struct RoomForPods {
  std::string workload;  // UID
  int64_t pods = 0;

  bool operator==(const RoomForPods&) const = default;
};

struct QueueChanges : QueueKinds<ObjectChanges> {
  bool watches_train_jobs = false;
  bool elastic = false;
  ObjectChanges<ProgressReport> progress;
  // The profiles that the planner has queried and that declare checkpoints; nullopt: unchanged.
  std::optional<std::vector<std::string>> checkpoints;
  std::optional<std::vector<TypeDecision>> types;  // nullopt: unchanged
  std::optional<std::vector<RoomForPods>> room;    // nullopt: unchanged, or not queried
};

namespace queue_step {

struct StartedOver {};

struct Planned {
  Moment at;
  QueueChanges changes;
  // The plan without the statuses that are unchanged since the last step. It is not read from a
  // recording.
  QueuePlan plan;
};

struct Learned {
  QueueOutcome outcome;  // of the last plan
};

}  // namespace queue_step

using QueueStep = std::variant<queue_step::StartedOver, queue_step::Planned, queue_step::Learned>;

class QueueJournal {
 public:
  virtual ~QueueJournal() = default;
  virtual void Wrote(const QueueStep& step) = 0;
};

}  // namespace synergy
