#pragma once

// The journal of the queue planner: what it reads and plans, step by step, so that a replay can
// plan again and compare. A step has only what has changed since the last one.
//
// GPU types are an input: a solver chooses them, and how far it gets within its time limit depends
// on the machine.
//
// Threading: values. Each journal documents from which threads it may be called.

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

// Changes of the objects of a kind, or of other values with a Key().
template <class T>
struct ObjectChanges {
  std::vector<std::shared_ptr<const T>> put;
  std::vector<std::string> removed;  // keys

  bool empty() const { return put.empty() && removed.empty(); }
};

// The members of PodProgress on which plans depend.
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

  std::string policy;  // UID
  std::string problem;
  std::vector<Turn> turns;  // of the workloads about which there is a decision

  bool operator==(const TypeDecision&) const = default;
};

// For how many pods of a workload the nodes have room.
struct RoomForPods {
  std::string workload;  // UID
  int64_t pods = 0;

  bool operator==(const RoomForPods&) const = default;
};

struct QueueChanges : QueueKinds<ObjectChanges> {
  bool watches_train_jobs = false;
  bool elastic = false;
  ObjectChanges<ProgressReport> progress;
  // The profiles with checkpoints, of those that were asked for; nullopt: the same as before.
  std::optional<std::vector<std::string>> checkpoints;
  std::optional<std::vector<TypeDecision>> types;  // nullopt: the same as before
  std::optional<std::vector<RoomForPods>> room;    // nullopt: the same as before, or not asked for
};

namespace queue_step {

struct StartedOver {};

struct Planned {
  Moment at;
  QueueChanges changes;
  // Without the statuses that are the same as in the last step. Not read from a recording.
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
