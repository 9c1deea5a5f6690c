#include "record/replayed_queues.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

namespace synergy::record {
namespace {

PodProgress ProgressOfReport(const ProgressReport& report) {
  PodProgress progress;
  progress.uid = report.uid;
  progress.iteration = report.iteration;
  progress.total = report.total;
  progress.epoch = report.epoch;
  progress.loss = report.loss;
  progress.rate = report.rate;
  progress.iterations = report.iterations;
  progress.remaining = report.remaining;
  return progress;
}

}  // namespace

ReplayedQueues::ReplayedQueues()
    : planner_(
          [this](const std::string& uid) -> std::optional<PodProgress> {
            const auto found = progress_.find(uid);
            if (found == progress_.end()) return std::nullopt;
            return found->second;
          },
          [this](const std::string& profile_namespace, const std::string& name) {
            return checkpoints_.contains(profile_namespace + "/" + name);
          },
          [this](const Workload& workload, Gpus /*quota*/) {
            const auto found = room_.find(workload.uid);
            return found == room_.end() ? std::numeric_limits<int64_t>::max() : found->second;
          },
          types_) {
  planner_.SetJournal(last_);
}

QueueStep ReplayedQueues::Again(const QueueStep& recorded) {
  std::visit([this](const auto& step) { Make(step); }, recorded);
  return last_.step();
}

void ReplayedQueues::Make(const queue_step::StartedOver& /*step*/) { planner_.StartOver(); }

void ReplayedQueues::Make(const queue_step::Planned& step) {
  Take(step.changes);
  plan_ = planner_.Plan(objects_, step.at);
}

void ReplayedQueues::Make(const queue_step::Learned& step) {
  // The sizes differ only if the plan differs, which is reported already.
  QueueOutcome outcome = step.outcome;
  outcome.waiting_jobs.resize(plan_.waiting_jobs.size());
  outcome.writes.resize(plan_.writes.size());
  outcome.running_jobs.resize(plan_.running_jobs.size());
  planner_.OnResult(plan_, outcome);
}

void ReplayedQueues::Take(const QueueChanges& changes) {
  changes.ForEach(objects_, [](const auto& changed, auto& map) {
    for (const auto& object : changed.put) map.Upsert(*object);
    for (const std::string& key : changed.removed) map.RemoveKey(key);
  });
  objects_.watches_train_jobs = changes.watches_train_jobs;
  objects_.elastic = changes.elastic;
  for (const auto& report : changes.progress.put)
    progress_.insert_or_assign(report->uid, ProgressOfReport(*report));
  for (const std::string& uid : changes.progress.removed) progress_.erase(uid);
  if (changes.checkpoints)
    checkpoints_ = {changes.checkpoints->begin(), changes.checkpoints->end()};
  if (changes.room) {
    room_.clear();
    for (const RoomForPods& each : *changes.room) room_.emplace(each.workload, each.pods);
  }
  if (changes.types) types_.Record(*changes.types);
}

void ReplayedQueues::RecordedTypes::Keep(const std::set<std::string>& /*policies*/) {
  turns_.clear();
}

Result<> ReplayedQueues::RecordedTypes::Decide(const RoundPolicy& policy, const Rounds& /*rounds*/,
                                               std::span<const TypedWorkload> /*workloads*/,
                                               const std::set<std::string>& /*ours*/,
                                               bool /*begins*/, Moment /*at*/) {
  const auto decision =
      std::find_if(decisions_.begin(), decisions_.end(),
                   [&](const TypeDecision& each) { return each.policy == policy.uid; });
  if (decision == decisions_.end())
    return Fail(ErrorCode::kInvalid, "gpuTypes: the recording has no decision");
  if (!decision->problem.empty()) return Fail(ErrorCode::kInvalid, decision->problem);
  for (const TypeDecision::Turn& turn : decision->turns) turns_[turn.uid].place = turn.place;
  return {};
}

const GpuTypeTurn* ReplayedQueues::RecordedTypes::Of(const std::string& uid) const {
  const auto found = turns_.find(uid);
  return found == turns_.end() ? nullptr : &found->second;
}

}  // namespace synergy::record
