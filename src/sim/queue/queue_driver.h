#pragma once

// Runs the product's queues in a simulated cluster. The jobs wait in a ClusterQueue of a
// KueueModel, and a RoundPolicy orders it. The queue planner plans once a second, as in the
// controller (controller/queues/queue_controller.h). The planner's writes go to the model, and
// their outcomes to the planner.
//
// Seconds in which the planner would write nothing are skipped: while no object changes, it plans
// only at the start of a round. Before an object changes, the planner plans once more with the
// objects of the last whole second. So it charges the same times as if it had planned every second.
//
// Threading: one owner. Pure: the caller passes the time.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "core/units.h"
#include "queues/planner/queue_planner.h"
#include "queues/planner/type_chooser.h"
#include "queues/rounds.h"
#include "sim/faults.h"
#include "sim/queue/kueue_model.h"

namespace synergy {

struct QueueSetup {
  RoundSettings rounds;
  bool strict = false;  // the ClusterQueue's queueingStrategy is StrictFIFO
  // Jobs' maximum execution times, as multiples of their durations at the fair share; nullopt: they
  // have none. They are not enforced.
  std::optional<double> longest;
  KueueDelays delays;
};

// Returns kInvalid, which names the field, for settings that a RoundPolicy must not have. The same
// applies to settings that are not simulated, such as policies of GPU types that need a solver.
Result<> CheckQueue(const QueueSetup& setup);

// Sets policy, gpuTypes and workers from "las", "sjf:Aware" or "fifo:Elastic"; returns kInvalid for
// any other word after the colon.
Result<> ReadPolicy(std::string_view text, RoundSettings& settings);

// A job of the queue. All its pods have GPUs.
struct QueueJob {
  std::string name;  // unique; also the UID of its Workload
  std::string job_namespace;
  Gpus gpus;
  int64_t pods = 1;
  std::string model;     // the workload of its profiles
  int64_t priority = 0;  // the value of its priority class
  bool may_lose_turn = true;
  std::optional<Duration> longest;  // its maximum execution time
  // The job's least and most workers, each of which is a pod; both 0: the job is not elastic.
  int64_t least = 0;
  int64_t most = 0;
};

class QueueDriver {
 public:
  // REQUIRES: CheckQueue(setup) succeeds. All jobs are in `job_namespace`. `progress` returns the
  // progress that a pod's training logs, and `room` the room for elastic jobs. `types` must outlive
  // this object; it may be null if the policy chooses no types.
  QueueDriver(const QueueSetup& setup, const std::string& job_namespace, Gpus quota,
              ProgressOf progress, PodRoom room, TypeChooser* types, Moment at);
  QueueDriver(const QueueDriver&) = delete;
  QueueDriver& operator=(const QueueDriver&) = delete;

  // Makes `faults` determine which writes fail or are late. It must outlive this object.
  void SetFaults(Faults& faults) { faults_ = &faults; }

  void Add(const QueueJob& job, Moment at);
  // Report a pod of the job, first without a node, then with its node, and then as running.
  void AddPod(const std::string& job, const std::string& uid, Gpus gpus, Moment at);
  void BindPod(const std::string& uid, const std::string& node, Moment at);
  void RunPod(const std::string& uid, Moment at);
  void RemovePod(const std::string& uid, Moment at);
  // Reports that nodes have come or left, so that GPU types may have more room than before.
  void NodesChanged(Moment at) { BeforeChange(at); }
  // Reports that all pods of a stopping job have ended.
  void PodsGone(const std::string& job, Moment at);
  void Finish(const std::string& job, Moment at);

  // Does what is due, and returns the jobs whose pods must be created or deleted. Call it at
  // wake().
  std::vector<KueueAction> Run(Moment at);
  // Returns when Run() is due next.
  Instant wake() const;

  const KueueModel& kueue() const { return kueue_; }
  uint64_t plans() const { return plans_; }

 private:
  // Makes the last step that was skipped before `at`. Call it before an object changes.
  void BeforeChange(Moment at);
  // Returns when to call the planner next.
  Instant NextStep() const;
  void Step(Moment at);
  // Makes the writes of the last plan.
  void Write(Moment at);
  // Answers the admission checks of GPU types, by the last plan.
  void AnswerChecks(Moment at);
  // Returns whether Kueue may need another write to make room for a workload that has its turn.
  bool WaitsForRoom(const QueueObjects& objects) const;
  void ChangePod(const std::string& uid, Moment at, const std::function<void(QueuedPod&)>& change);

  const std::string job_namespace_;
  Rounds rounds_;
  KueueModel kueue_;
  NoTypeChooser no_types_;
  TypeChooser& types_;
  QueuePlanner planner_;
  Faults* faults_ = nullptr;
  std::map<std::string, QueuedPod> pods_;  // by UID
  // By both clocks: the first defines whole seconds, the second the start of rounds.
  const Moment began_;
  Instant stepped_;                    // the last step
  bool changed_ = true;                // an object has changed since the last step
  QueuePlan plan_;                     // the last plan
  std::optional<Instant> late_until_;  // while writes of `plan_` are in progress
  WallTime round_{};                   // the round of the last step
  uint32_t waited_ = 0;  // consecutive steps after which a workload still waited for room
  uint64_t plans_ = 0;
};

}  // namespace synergy
