#pragma once

// Decides for the ClusterQueues that RoundPolicies order (docs/queues.md) what is to be written:
// the priorities that give workloads their bands, notes of what they have been served, numbers of
// workers of elastic Jobs, and the policies' statuses. Kueue does the rest.
//
//   QueueObjects --> Plan() --> QueuePlan --> the caller writes it --> QueueOutcome --> OnResult()
//
// The planner observes every workload (workload_ledger.h). rounds.h decides which have their turn;
// for a policy of GPU types a TypeChooser decides the order, and for an elastic queue
// elastic_jobs.h decides the number of workers of each job.
//
// The priority that a workload had before, and what it has been served, are kept on the Workload
// (RoundNote). They survive this process, and the priority is restored once no policy orders the
// queue any more.
//
// Threading: one owner. Pure: objects and time are handed in.
// Failures: a write that failed is planned again from the next objects; until then Kueue goes by
// the existing priorities. The next leader continues from the notes, and loses only the running
// time of pods that have ended since the last note.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "queues/planner/elastic_jobs.h"
#include "queues/planner/judged_policies.h"
#include "queues/planner/queued_workload.h"
#include "queues/planner/type_chooser.h"
#include "queues/planner/workload_ledger.h"
#include "queues/queue_objects.h"
#include "queues/rounds.h"

namespace synergy {

// A change of a Workload.
struct WorkloadWrite {
  // In the order in which they are made, so that no workload that is to go on running is ever
  // behind one that waits.
  enum class Kind : uint8_t {
    kRestoreWaiting,
    kProtect,  // a running workload gets the upper band
    kRestoreRunning,
    kWithdraw,  // a waiting workload loses the upper band
    kLower,     // a running workload loses the upper band
    // A waiting workload gets the upper band. Kueue looks at it now, and does not when a running
    // workload's priority falls later: so never before kLower.
    kRaise,
    kSort,  // a workload moves between the two lower bands
    kNote,  // only the note changes
  };

  Kind kind = Kind::kNote;
  std::shared_ptr<const Workload> workload;
  int64_t priority = 0;
  std::optional<RoundNote> note;  // nullopt: the note is removed
  std::string_view why;           // for people
  std::string queue = {};         // the ClusterQueue that is ordered
  // The event that the workload loses its turn, to record once this is written.
  std::optional<JobNotice> lost_turn = {};
};

struct PolicyStatusWrite {
  std::shared_ptr<const RoundPolicy> policy;
  RoundPolicyStatus status;  // without `since`
};

struct QueuePlan {
  std::vector<JobNotice> notices;             // to record even if writes fail
  std::vector<WorkersWrite> waiting_jobs;     // written first
  std::vector<WorkloadWrite> writes;          // second, in this order
  std::vector<WorkersWrite> running_jobs;     // last, and only if every band was written
  std::vector<PolicyStatusWrite> statuses;    // at any time
  std::map<std::string, RoundDelays> delays;  // by ClusterQueue, since the last plan
};

enum class WriteOutcome : uint8_t {
  kNotTried,
  kWritten,
  kUnseen,    // an earlier write of the same object has not been observed yet
  kOutdated,  // the object has changed or is gone
  kRefused,   // by the API server, for good
  kFailed,
};

// One outcome for each write of the plan, in the same order.
struct QueueOutcome {
  std::vector<WriteOutcome> waiting_jobs;
  std::vector<WriteOutcome> writes;
  std::vector<WriteOutcome> running_jobs;
};

// Returns whether every write except the notes has reached the API server.
bool AllBandsWritten(const QueuePlan& plan, const std::vector<WriteOutcome>& writes);

// Carries out single writes for WriteInOrder().
class WorkloadWriter {
 public:
  virtual ~WorkloadWriter() = default;
  // Whether an earlier write of the same object has not been observed yet.
  virtual bool IsUnseen(const WorkloadWrite& write) = 0;
  // Whether another write may be made now.
  virtual bool MayWrite() = 0;
  virtual WriteOutcome Write(const WorkloadWrite& write) = 0;
};
// Makes the plan's writes of workloads, and returns the outcome of each. Raises no workload of a
// queue in which a running one could not be lowered: Kueue would make room in other places. Stops
// after three failures: with the API server down, each write takes seconds to fail.
std::vector<WriteOutcome> WriteInOrder(const QueuePlan& plan, WorkloadWriter& writer);

class QueuePlanner {
 public:
  // References outlive this.
  QueuePlanner(ProgressOf progress, ProfileCheckpoints checkpoints, TypeChooser& types);

  // Begins again from the notes. To be called on becoming the leader.
  void StartOver();
  // To be called every second while all objects are current.
  QueuePlan Plan(const QueueObjects& objects, Moment at);
  // REQUIRES: `plan` is the last one.
  void OnResult(const QueuePlan& plan, const QueueOutcome& outcome);

  // The GPU type on which each workload has its turn by the last plan.
  const TypeChooser& types() const { return types_; }

 private:
  struct Pass;

  // Observes all workloads and sorts them by the ClusterQueues that are ordered; restores those in
  // other queues.
  void Observe(Pass& pass);
  void ObserveOrdered(Pass& pass, const JudgedPolicy& policy, const std::string& queue,
                      const std::shared_ptr<const Workload>& workload);
  // Decides on which type each workload of the policy has its turn, and the order that follows. An
  // obstacle becomes the problem of the policy's queues.
  void ChooseTypes(Pass& pass, JudgedPolicy& policy, bool begins);
  void PlanPolicy(Pass& pass, JudgedPolicy& policy);
  void PlanQueue(Pass& pass, const JudgedPolicy& policy, const std::string& name, bool begins,
                 RoundPolicyStatus::Queue& status);
  // Plans the write of a workload whose band is right: a note, or a second raise.
  void PlanSameBand(Pass& pass, const RoundPolicy& policy, const QueuedWorkload& workload,
                    const RoundVerdict& verdict, bool could_start, const std::string& queue,
                    RoundNote note);
  void PlanWorkers(Pass& pass);
  // Returns whether Kueue has passed over the workload for a while in which it could have started.
  bool IsOverlooked(const Workload& workload, bool could_start, Instant now);
  JobNotice LostTurn(const QueuedWorkloads& queue, const RoundDecision& decision, size_t index,
                     WallTime now) const;

  const ProgressOf progress_;
  const ProfileCheckpoints checkpoints_;
  TypeChooser& types_;
  ElasticJobs elastic_;
  WorkloadLedger ledger_;
  std::map<std::string, WallTime> rounds_;  // by policy UID: the round that has begun
  // The rounds of the last plan, and when it was made.
  std::map<std::string, WallTime> planned_rounds_;
  WallTime planned_at_{};
};

}  // namespace synergy
