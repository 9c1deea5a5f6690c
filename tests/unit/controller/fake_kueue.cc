#include "unit/controller/fake_kueue.h"

#include <utility>

#include <fmt/format.h>

namespace synergy::controller {

void FakeKueue::Put(Workload workload) {
  workload.resource_version += "+";
  objects_.workloads.Upsert(std::move(workload));
}

void FakeKueue::Run(const Workload& workload, const std::string& node) {
  Pod pod;
  pod.uid = pod.name = workload.name + "-0";
  pod.pod_namespace = workload.workload_namespace;
  pod.node = node;
  pod.requests.main.gpus = workload.gpus;
  state_.UpsertPod(pod);
  objects_.pods.Upsert({.uid = pod.uid,
                        .pod_namespace = pod.pod_namespace,
                        .name = pod.name,
                        .workload = workload.name,
                        .has_gpus = true,
                        .gpus = workload.gpus,
                        .has_node = true,
                        .node = node,
                        .running = true,
                        .since = clock_.WallNow()});
}

void FakeKueue::Stop(const Workload& workload) {
  state_.RemovePod(workload.name + "-0");
  if (const auto pod = objects_.pods.Find(workload.name + "-0")) objects_.pods.Remove(*pod);
}

Result<> FakeKueue::WritePriority(const Workload& workload, int64_t priority,
                                  const std::optional<RoundNote>& note, std::stop_token) {
  written.push_back(fmt::format("{} {} -> {}", workload.name, workload.priority, priority));
  if (failure) return Fail(*failure);
  Show(workload, priority, note);
  return {};
}

Result<> FakeKueue::WriteNote(const Workload& workload, const RoundNote& note, std::stop_token) {
  written.push_back(fmt::format("{} served {}", workload.name, note.served));
  if (failure) return Fail(*failure);
  Show(workload, workload.priority, note);
  return {};
}

Result<> FakeKueue::WriteWorkers(const QueuedJob& job, int64_t workers, std::stop_token) {
  written.push_back(fmt::format("{} {} -> {} workers", job.name, job.workers, workers));
  if (failure) return Fail(*failure);
  if (job.name == refused) return Fail(ErrorCode::kDenied, "a policy says no");
  QueuedJob changed = job;
  changed.workers = workers;
  changed.resource_version += "+";
  objects_.jobs.Upsert(changed);
  for (const auto& [key, workload] : objects_.workloads.Snapshot()) {
    if (workload->owner.uid != job.uid) continue;
    Workload other = *workload;
    if (workload->has_quota) {
      other.uid += "+";
      other.has_quota = false;
      other.priority = workload->OwnPriority();
      other.note.reset();
      ++replaced;
    }
    other.gpus = Gpus(workload->gpus.count() / workload->pods * workers);
    other.pods = workers;
    Put(std::move(other));
  }
  return {};
}

Result<> FakeKueue::AnswerCheck(const Workload& workload, size_t check, const CheckAnswer& answer,
                                std::stop_token) {
  answers.push_back(fmt::format("{} {} {}", workload.name, ToString(answer.phase), answer.product));
  if (conflicts) return Fail(ErrorCode::kConflict, "changed meanwhile");
  Workload changed = *objects_.workloads.Find(workload.Key());
  auto& state = changed.checks[check];
  state = {state.name, std::string(ToString(answer.phase)), answer.product, answer.message,
           clock_.WallNow()};
  if (answer.phase == CheckPhase::kReady)
    Run(changed, answer.product.empty() ? "K80" : answer.product);
  if (answer.phase == CheckPhase::kRetry) {
    Stop(changed);
    state.state = "Pending";
    state.product.clear();
    changed.quota_since = clock_.WallNow();
  }
  Put(std::move(changed));
  return {};
}

Result<> FakeKueue::ActivateCheck(const AdmissionCheck& check, WallTime, std::stop_token) {
  activated.push_back(check.name);
  AdmissionCheck changed = check;
  changed.active = true;
  objects_.checks.Upsert(changed);
  return {};
}

Result<> FakeKueue::WriteStatus(const RoundPolicy& policy, const RoundPolicyStatus& status,
                                std::stop_token) {
  if (failure) return Fail(*failure);
  statuses[policy.name] = status;
  RoundPolicy changed = policy;
  changed.status = status;
  if (shows) objects_.policies.Upsert(changed);
  return {};
}

void FakeKueue::Show(const Workload& workload, int64_t priority,
                     const std::optional<RoundNote>& note) {
  if (!shows) return;
  Workload changed = *objects_.workloads.Find(workload.Key());
  changed.priority = priority;
  changed.note = note;
  Put(std::move(changed));
}

}  // namespace synergy::controller
