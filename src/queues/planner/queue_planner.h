#pragma once

// Decides what to write for the ClusterQueues that RoundPolicies order (docs/queues.md): the
// priorities that give workloads their bands, notes of their service, numbers of workers of elastic
// Jobs, and the policies' statuses. Kueue does the rest.
//
//   QueueObjects --> Plan() --> QueuePlan --> the caller writes it --> QueueOutcome --> OnResult()
//
// The planner observes every workload (workload_ledger.h). rounds.h decides which have their turn;
// for a policy of GPU types a TypeChooser decides the order, and for an elastic queue
// elastic_jobs.h decides the number of workers of each job.
//
// The Workload itself keeps (in RoundNote) its earlier priority and its service so far. Both
// survive this process, and the priority is restored once no policy orders the queue any more.
//
// One workload never stops the others of its queue: if the API server refuses its writes, its
// priority is left alone for a while, and then they are tried again. If Kueue does not admit it in
// its turn although its GPUs are free (because of CPU or memory quotas, or taints), others go
// before it for a while, and then it has its turn again.
//
// Threading: one owner. Pure: the caller passes objects and time. Failures: a failed write is
// planned again from the next objects; until then Kueue uses the existing priorities. The next
// leader continues from the notes, and loses only the running time of pods that have ended since
// the last note.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/rests.h"
#include "queues/planner/elastic_jobs.h"
#include "queues/planner/judged_policies.h"
#include "queues/planner/queue_plan.h"
#include "queues/planner/queue_recording.h"
#include "queues/planner/queued_workload.h"
#include "queues/planner/type_chooser.h"
#include "queues/planner/workload_ledger.h"
#include "queues/queue_objects.h"
#include "queues/rounds.h"

namespace synergy {

class QueuePlanner {
 public:
  // References must outlive this object.
  QueuePlanner(ProgressOf progress, ProfileCheckpoints checkpoints, PodRoom room,
               TypeChooser& types);

  // Reports every call below to `journal`, which must outlive this object. Call it once, before the
  // others.
  void SetJournal(QueueJournal& journal);

  // Starts again from the notes. Call it on becoming the leader.
  void StartOver();
  // Call it every second while all objects are current.
  QueuePlan Plan(const QueueObjects& objects, Moment at);
  // REQUIRES: `plan` is the last one.
  void OnResult(const QueuePlan& plan, const QueueOutcome& outcome);

  // Returns the GPU type on which each workload has its turn in the last plan.
  const TypeChooser& types() const { return types_; }

 private:
  struct Pass;

  // Observes all workloads and sorts them by the ClusterQueues that are ordered; restores those in
  // other queues.
  void Observe(Pass& pass);
  void ObserveOrdered(Pass& pass, const JudgedPolicy& policy, const LocalQueue& local,
                      const std::string& queue, const std::shared_ptr<const Workload>& workload);
  // Gives a workload that no policy orders its own priority again.
  static void Restore(Pass& pass, const std::shared_ptr<const Workload>& workload, bool keeps_note);
  // Decides on which type each workload of the policy has its turn, and the order that follows. An
  // obstacle becomes a problem of the policy's queues.
  void ChooseTypes(Pass& pass, JudgedPolicy& policy, bool begins);
  void PlanPolicy(Pass& pass, JudgedPolicy& policy);
  // Decides about all queues of the policy that are ordered; those that share GPUs together.
  void Decide(Pass& pass, const JudgedPolicy& policy, bool begins);
  void PlanQueue(Pass& pass, const JudgedPolicy& policy, const std::string& name,
                 RoundPolicyStatus::Queue& status);
  // Plans the write of a workload whose band is right: a note, or a second raise.
  void PlanSameBand(Pass& pass, const RoundPolicy& policy, const QueuedWorkload& workload,
                    const RoundVerdict& verdict, bool could_start, const std::string& queue,
                    RoundNote note);
  void PlanWorkers(Pass& pass);
  // Returns whether the workload could have started for some seconds, but Kueue has passed over it.
  bool IsOverlooked(const Workload& workload, bool could_start, Instant now);
  // Lets others go before a workload, and those like it, that Kueue has not admitted in its turn.
  // `could_start`: by the GPUs alone.
  void ObserveRefusal(Pass& pass, const Rounds& rounds, const QueuedWorkloads& queue, size_t index,
                      bool could_start);
  // Returns the slice that the workload will replace; null if there is none.
  const Workload* ReplacedBy(const QueueObjects& objects, const Workload& workload) const;
  JobNotice LostTurn(const QueuedWorkloads& queue, const RoundDecision& decision, size_t index,
                     WallTime now) const;

  ProgressOf progress_;
  ProfileCheckpoints checkpoints_;
  PodRoom room_;
  TypeChooser& types_;
  ElasticJobs elastic_;
  WorkloadLedger ledger_;
  std::map<std::string, WallTime> rounds_;  // by policy UID: the round that has begun
  struct PlannedRound {
    WallTime round{};
    std::vector<std::string> queues;
    bool undecided = false;  // the GPU types could not be chosen
  };
  // The rounds of the last plan, by policy UID, and when it was made.
  std::map<std::string, PlannedRound> planned_rounds_;
  Moment planned_at_;
  Rests unwritable_;                           // workloads whose writes the API server refuses
  Rests unadmitted_;                           // workloads that Kueue did not admit in their turn
  std::unique_ptr<QueueRecording> recording_;  // null without a journal
};

}  // namespace synergy
