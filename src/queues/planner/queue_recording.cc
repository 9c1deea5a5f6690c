#include "queues/planner/queue_recording.h"

#include <memory>
#include <optional>
#include <utility>

namespace synergy {

template <class T>
void QueueRecording::Known<T>::Take(const ObjectMap<T>& now) {
  changes = {};
  for (const auto& [key, object] : now) {
    if (objects.Find(key) != object) changes.put.push_back(object);
  }
  for (const auto& [key, object] : objects) {
    if (now.Find(key) == nullptr) changes.removed.push_back(key);
  }
  objects = now;
}

ProgressOf QueueRecording::Noting(ProgressOf progress) {
  return [this, progress = std::move(progress)](const std::string& uid) {
    std::optional<PodProgress> answer = progress(uid);
    if (answer) {
      reports_[uid] = {uid,          answer->iteration, answer->total,      answer->epoch,
                       answer->loss, answer->rate,      answer->iterations, answer->remaining};
    }
    return answer;
  };
}

ProfileCheckpoints QueueRecording::Noting(ProfileCheckpoints checkpoints) {
  return [this, checkpoints = std::move(checkpoints)](const std::string& profile_namespace,
                                                      const std::string& name) {
    const bool answer = checkpoints(profile_namespace, name);
    if (answer) checkpoints_.insert(profile_namespace + "/" + name);
    return answer;
  };
}

PodRoom QueueRecording::Noting(PodRoom room) {
  return [this, room = std::move(room)](const Workload& workload, Gpus quota) {
    const int64_t answer = room(workload, quota);
    room_.push_back({workload.uid, answer});
    return answer;
  };
}

void QueueRecording::Chose(const std::string& policy, const Result<>& decided,
                           std::span<const TypedWorkload> workloads, const TypeChooser& types) {
  TypeDecision& decision = types_.emplace_back();
  decision.policy = policy;
  if (!decided) {
    decision.problem = decided.error().message;
    return;
  }
  for (const TypedWorkload& workload : workloads) {
    if (const GpuTypeTurn* const turn = types.Of(workload.object->uid))
      decision.turns.push_back({workload.object->uid, turn->place});
  }
}

ObjectMap<ProgressReport> QueueRecording::TakeReports() {
  auto entries = std::make_shared<ObjectMap<ProgressReport>::Entries>();
  for (auto& [uid, report] : std::exchange(reports_, {})) {
    const auto before = progress_.objects.Find(uid);
    const bool same = before && *before == report;
    entries->emplace(uid, same ? before : std::make_shared<const ProgressReport>(report));
  }
  return ObjectMap<ProgressReport>(std::move(entries));
}

void QueueRecording::Planned(const QueueObjects& objects, Moment at, QueuePlan plan) {
  queue_step::Planned step{.at = at, .changes = {}, .plan = std::move(plan)};
  QueueChanges& changes = step.changes;
  objects.ForEach(known_, [](const auto& now, auto& known) { known.Take(now); });
  known_.ForEach(changes, [](const auto& known, auto& changed) { changed = known.changes; });
  changes.watches_train_jobs = objects.watches_train_jobs;
  changes.elastic = objects.elastic;
  progress_.Take(TakeReports());
  changes.progress = progress_.changes;
  if (checkpoints_ != known_checkpoints_)
    changes.checkpoints.emplace(checkpoints_.begin(), checkpoints_.end());
  known_checkpoints_ = std::exchange(checkpoints_, {});
  if (types_ != known_types_) changes.types = types_;
  known_types_ = std::exchange(types_, {});
  if (!room_.empty() && room_ != known_room_) changes.room = known_room_ = room_;
  room_.clear();

  std::map<std::string, RoundPolicyStatus> statuses;
  for (const PolicyStatusWrite& write : step.plan.statuses)
    statuses.emplace(write.policy->uid, write.status);
  std::erase_if(step.plan.statuses, [&](const PolicyStatusWrite& write) {
    const auto last = statuses_.find(write.policy->uid);
    return last != statuses_.end() && last->second == write.status;
  });
  statuses_ = std::move(statuses);
  journal_.Wrote(step);
}

}  // namespace synergy
