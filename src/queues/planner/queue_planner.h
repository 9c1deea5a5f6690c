#pragma once

// Plans the writes for the ClusterQueues that RoundPolicies order (docs/queues.md): the priorities
// that give workloads their bands, notes of their service, numbers of workers of elastic Jobs, and
// the policies' statuses. Kueue then admits and evicts workloads by their priorities.
//
//   QueueObjects --> Plan() --> QueuePlan --> the caller writes it --> QueueOutcome --> OnResult()
//
// The planner observes every workload (workload_ledger.h). rounds.h decides which workloads have
// their turn. For a policy of GPU types, a TypeChooser decides the order. For an elastic queue,
// elastic_jobs.h decides the number of workers of each job.
//
// The note on the Workload (RoundNote) stores its original priority and its service so far, so that
// they survive a restart of this process. The priority is restored once no policy orders the queue
// any more.
//
// One workload never blocks the others of its queue. If the API server refuses its writes, its
// priority is left alone for a while before the next attempt. If Kueue does not admit it in its
// turn although its GPUs are free (because of CPU or memory quotas, or taints), others go before it
// for a while.
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

  // Reports every later call to `journal`, which must outlive this object. Call it once, before the
  // functions below.
  void SetJournal(QueueJournal& journal);

  // Forgets all state, so that the next plan starts from the notes. Call it on becoming the leader.
  void StartOver();
  // Returns the writes that are due. Call it every second while all objects are current.
  QueuePlan Plan(const QueueObjects& objects, Moment at);
  // Takes the outcome of a plan's writes. REQUIRES: `plan` is the last one.
  void OnResult(const QueuePlan& plan, const QueueOutcome& outcome);

  // Returns the GPU type on which each workload has its turn in the last plan.
  const TypeChooser& types() const { return types_; }

 private:
  struct Pass;

  // Observes all workloads. Collects those of ordered ClusterQueues by queue, and restores the
  // priorities of the others.
  void Observe(Pass& pass);
  void ObserveOrdered(Pass& pass, const JudgedPolicy& policy, const LocalQueue& local,
                      const std::string& queue, const std::shared_ptr<const Workload>& workload);
  // Plans to restore the own priority of a workload that no policy orders.
  static void Restore(Pass& pass, const std::shared_ptr<const Workload>& workload, bool keeps_note);
  // Decides on which type each workload of the policy has its turn, and the resulting order. A
  // failure becomes a problem of the policy's queues.
  void ChooseTypes(Pass& pass, JudgedPolicy& policy, bool begins);
  void PlanPolicy(Pass& pass, JudgedPolicy& policy);
  // Decides about all ordered queues of the policy. Queues that share GPUs are decided together.
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
  // If Kueue has not admitted a workload in its turn for long enough, lets others go before this
  // workload and those of the same shape. `could_start`: whether the workload's GPUs are free.
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
  std::map<std::string, WallTime> rounds_;  // the start of the present round, by policy UID
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
