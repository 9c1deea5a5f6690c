#pragma once

// Reports the queue planner's steps to a journal: records the answers of the planner's sources, and
// finds the changes since the last step.
//
// Threading: one owner.

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "queues/planner/elastic_jobs.h"
#include "queues/planner/queue_journal.h"
#include "queues/planner/queue_plan.h"
#include "queues/planner/type_chooser.h"
#include "queues/planner/workload_ledger.h"
#include "queues/queue_objects.h"

namespace synergy {

class QueueRecording {
 public:
  // `journal` must outlive this object.
  explicit QueueRecording(QueueJournal& journal) : journal_(journal) {}
  QueueRecording(const QueueRecording&) = delete;
  QueueRecording& operator=(const QueueRecording&) = delete;

  // Return functions that give the same answers and record them. The functions must not outlive
  // this object.
  ProgressOf Noting(ProgressOf progress);
  ProfileCheckpoints Noting(ProfileCheckpoints checkpoints);
  PodRoom Noting(PodRoom room);
  // Records the decision of `types` about the workloads of a policy.
  void Chose(const std::string& policy, const Result<>& decided,
             std::span<const TypedWorkload> workloads, const TypeChooser& types);

  void StartedOver() { journal_.Wrote(queue_step::StartedOver{}); }
  // Reports a plan with the answers recorded since the last one.
  void Planned(const QueueObjects& objects, Moment at, QueuePlan plan);
  void Learned(const QueueOutcome& outcome) { journal_.Wrote(queue_step::Learned{outcome}); }

 private:
  // The objects of a kind at the last plan, and their changes since the plan before.
  template <class T>
  struct Known {
    ObjectMap<T> objects;
    ObjectChanges<T> changes;

    void Take(const ObjectMap<T>& now);
  };

  ObjectMap<ProgressReport> TakeReports();

  QueueJournal& journal_;
  // Recorded since the last plan.
  std::map<std::string, ProgressReport> reports_;  // by UID
  std::set<std::string> checkpoints_;              // "team/resnet50"
  std::vector<TypeDecision> types_;
  std::vector<RoomForPods> room_;
  // As of the last plan.
  QueueKinds<Known> known_;
  Known<ProgressReport> progress_;
  std::set<std::string> known_checkpoints_;
  std::vector<TypeDecision> known_types_;
  std::vector<RoomForPods> known_room_;
  std::map<std::string, RoundPolicyStatus> statuses_;  // by the policy's UID
};

}  // namespace synergy
