#pragma once

// Repeats the queue planner's steps of one run, from the inputs that the recording contains.
// Private to this folder.
//
// Threading: one owner.

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "profile/pod_progress.h"
#include "queues/planner/queue_journal.h"
#include "queues/planner/queue_planner.h"
#include "queues/planner/type_chooser.h"

namespace synergy::record {

class ReplayedQueues {
 public:
  ReplayedQueues();
  ReplayedQueues(const ReplayedQueues&) = delete;
  ReplayedQueues& operator=(const ReplayedQueues&) = delete;

  // Repeats the step, and returns its present outcome together with its inputs.
  QueueStep Again(const QueueStep& recorded);

 private:
  // Chooses GPU types as recorded.
  class RecordedTypes final : public TypeChooser {
   public:
    void Record(std::vector<TypeDecision> decisions) { decisions_ = std::move(decisions); }

    void StartOver() override { turns_.clear(); }
    void Keep(const std::set<std::string>& policies) override;
    Result<> Decide(const RoundPolicy& policy, const Rounds& rounds,
                    std::span<const TypedWorkload> workloads, const std::set<std::string>& ours,
                    bool begins, Moment at) override;
    const GpuTypeTurn* Of(const std::string& uid) const override;
    const std::map<std::string, ProductGpus>& gpus() const override { return gpus_; }
    // Only the choice of types, which is recorded, depends on a node's product.
    std::string ProductOf(std::string_view /*node*/) const override { return {}; }

   private:
    std::vector<TypeDecision> decisions_;
    std::map<std::string, GpuTypeTurn> turns_;
    const std::map<std::string, ProductGpus> gpus_;
  };
  class LastStep final : public QueueJournal {
   public:
    void Wrote(const QueueStep& step) override { step_ = step; }
    const QueueStep& step() const { return step_; }

   private:
    QueueStep step_;
  };

  void Take(const QueueChanges& changes);
  void Make(const queue_step::StartedOver& step);
  void Make(const queue_step::Planned& step);
  void Make(const queue_step::Learned& step);

  QueueObjects objects_;
  std::map<std::string, PodProgress> progress_;  // by the pod's UID
  std::set<std::string> checkpoints_;            // "team/resnet50"
  std::map<std::string, int64_t> room_;          // number of pods of a workload, by its UID
  RecordedTypes types_;
  LastStep last_;
  QueuePlan plan_;  // the last one
  QueuePlanner planner_;
};

}  // namespace synergy::record
