#include "queues/planner/elastic_jobs.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "cluster/annotations.h"

namespace synergy {
namespace {

// For this time after a start at most, a training's speed is ignored, because it begins slowly.
constexpr Duration kLongestSettling = std::chrono::seconds(30);

std::shared_ptr<const QueuedJob> JobOf(const QueueObjects& objects, const Workload& workload) {
  const std::string key = workload.workload_namespace + "/" + workload.owner.name;
  std::shared_ptr<const QueuedJob> job;
  if (workload.owner.kind == "Job" && workload.owner.api_version == "batch/v1") {
    job = objects.jobs.Find(key);
  } else if (workload.owner.kind == "TrainJob") {
    job = objects.train_jobs.Find(key);
  }
  return job && job->uid == workload.owner.uid ? job : nullptr;
}

// Returns why the job's workers must not be changed; empty if they may be.
std::string ProblemOf(const Workload& workload, const QueuedJob& job,
                      const ProfileCheckpoints& checkpoints) {
  if (!job.IsElastic() || workload.MayLoseTurn(checkpoints)) return job.problem;
  return fmt::format(
      "annotation {} of its pod template: set it to \"true\" if the training continues from its "
      "checkpoint",
      kCheckpointAnnotation);
}

// Lowers the largest number of workers to the number for which the nodes have room. A job whose
// pods all run keeps its workers, because they already have nodes, even if these nodes are now
// closed to new pods.
void Cap(ElasticWorkload& elastic, const auto& room) {
  if (elastic.least >= elastic.most) return;
  const int64_t least = std::max(elastic.least, elastic.all_run ? elastic.workers : 0);
  const int64_t most = std::max(least, room());
  elastic.capped = most < elastic.most;
  if (elastic.capped) elastic.most = static_cast<int>(most);
}

}  // namespace

void ElasticJobs::StartOver() { *this = {}; }

void ElasticJobs::Observe(const QueueObjects& objects, const ProfileCheckpoints& checkpoints,
                          const RoundSettings& settings, std::optional<WallTime> runs_since,
                          const ElasticSight& sight, WallTime now, QueuedWorkload& workload,
                          std::vector<JobNotice>& notices) {
  const Workload& object = *workload.object;
  ElasticWorkload& elastic = workload.elastic;
  workload.job = JobOf(objects, object);
  elastic.job = object.owner.uid.empty() ? object.uid : object.owner.uid;
  const QueuedJob* const job = workload.job.get();
  std::string problem = job ? ProblemOf(object, *job, checkpoints) : std::string();
  const bool may_change = problem.empty();
  if (std::string& reported = problems_[elastic.job]; reported != problem) {
    reported = std::move(problem);
    if (!may_change) {
      notices.push_back({workload.object, "SynergyNotElastic", "its workers stay: " + reported});
    }
  }
  // If the size is outside the job's own bounds, its user has chosen it, and it stays.
  const bool is_elastic = job && job->IsElastic() && may_change && object.pods >= job->least &&
                          object.pods <= job->most;
  if (!is_elastic) return;
  elastic.workers = static_cast<int>(object.pods);
  elastic.least = static_cast<int>(job->least);
  elastic.most = static_cast<int>(job->most);
  elastic.all_run = runs_since.has_value();
  elastic.stays = job->succeeded > 0 || job->workers != object.pods;
  elastic.target_loss = job->target_loss;
  const Duration settling = std::min(kLongestSettling, settings.round / 2);
  if (runs_since && now - *runs_since >= settling) rounds_.See(elastic.job, elastic.workers, sight);
}

RoundDecision ElasticJobs::Decide(const RoundSettings& settings, Gpus quota, const PodRoom& room,
                                  const QueuedWorkloads& queue, bool begins, WallTime now) {
  std::vector<ElasticWorkload> elastic;
  elastic.reserve(queue.size());
  for (const QueuedWorkload& workload : queue) {
    elastic.push_back(workload.elastic);
    if (begins) Cap(elastic.back(), [&] { return room(*workload.object, quota); });
  }
  return rounds_.Decide(settings, quota, RoundsOf(queue), elastic, begins, now);
}

std::optional<WorkerChange> ElasticJobs::ChangeOf(const QueuedWorkload& workload,
                                                  WallTime now) const {
  const QueuedJob* const job = workload.job.get();
  const bool may_change = job && job->IsElastic() && !workload.round.left_alone &&
                          job->workers == workload.object->pods;
  if (!may_change) return std::nullopt;
  return rounds_.ChangeOf(job->uid, static_cast<int>(job->workers), now);
}

std::vector<WorkersWrite> ElasticJobs::Due(const std::string& name, const QueuedWorkloads& queue,
                                           RoundState state, WallTime now) const {
  std::vector<WorkersWrite> due;
  for (const QueuedWorkload& workload : queue) {
    if (workload.round.state != state) continue;
    const auto change = ChangeOf(workload, now);
    if (!change) continue;
    WorkersWrite& write = due.emplace_back(WorkersWrite{workload.job, name, *change, {}});
    if (state != RoundState::kRuns) continue;
    write.notice = {workload.object, "SynergyWorkersChanged",
                    fmt::format("from {} to {} workers: {}; it continues from its checkpoint",
                                change->from, change->to, change->why)};
  }
  // Put jobs that shrink first, because they make room for jobs that grow.
  std::stable_sort(due.begin(), due.end(), [](const WorkersWrite& a, const WorkersWrite& b) {
    return a.change.to - a.change.from < b.change.to - b.change.from;
  });
  return due;
}

std::set<std::string> ElasticJobs::Sizing(const QueuedWorkloads& queue, WallTime now) const {
  std::set<std::string> sizing;
  for (const QueuedWorkload& workload : queue) {
    if (workload.round.state != RoundState::kWaits) continue;
    const QueuedJob* const job = workload.job.get();
    // If some workers of the job are done, its workload contains only the rest.
    const bool differs =
        job && job->IsElastic() && job->succeeded == 0 && job->workers != workload.object->pods;
    if (differs || ChangeOf(workload, now)) sizing.insert(workload.object->uid);
  }
  return sizing;
}

void ElasticJobs::OnWritten(const WorkersWrite& write) { rounds_.Changed(write.job->uid); }

void ElasticJobs::OnRefused(const WorkersWrite& write) { rounds_.Changed(write.job->uid); }

void ElasticJobs::ForgetOthers(const QueueObjects& objects, std::set<std::string> jobs) {
  // While a job's workers are changed, it briefly has no workload.
  for (const auto& [key, job] : objects.jobs) jobs.insert(job->uid);
  const auto is_gone = [&jobs](const auto& entry) { return !jobs.contains(entry.first); };
  rounds_.Forget(jobs);
  std::erase_if(problems_, is_gone);
}

}  // namespace synergy
