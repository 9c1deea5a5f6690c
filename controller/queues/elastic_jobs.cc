#include "controller/queues/elastic_jobs.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "controller/queues/job_events.h"
#include "wire/kueue/kueue.h"

namespace synergy::controller {
namespace {

// How long a training runs, at most, before its speed counts: it begins slowly.
constexpr Duration kLongestSettling = std::chrono::seconds(30);
}  // namespace

ElasticJobs::ElasticJobs(const RoundObjects& objects, kube::RoundApi& api,
                         kube::EventRecorder& events, ProfileCheckpoints checkpoints,
                         const Clock& clock, PatchRate& rate, Logger& log,
                         metrics::RoundMetrics& metrics)
    : objects_(objects),
      api_(api),
      events_(events),
      checkpoints_(std::move(checkpoints)),
      clock_(clock),
      rate_(rate),
      log_(log),
      metrics_(metrics) {}

void ElasticJobs::StartOver() {
  rounds_ = {};
  carried_.clear();
  told_.clear();
}

std::shared_ptr<const QueuedJob> ElasticJobs::JobOf(const Workload& workload) const {
  const std::string key = workload.workload_namespace + "/" + workload.owner.name;
  std::shared_ptr<const QueuedJob> job;
  if (workload.owner.kind == "Job" && workload.owner.api_version == "batch/v1") {
    job = objects_.jobs.Find(key);
  } else if (workload.owner.kind == "TrainJob") {
    job = objects_.train_jobs.Find(key);
  }
  return job && job->uid == workload.owner.uid ? job : nullptr;
}

std::string ElasticJobs::ProblemOf(const Workload& workload, const QueuedJob& job) const {
  if (!job.IsElastic() || workload.MayLoseTurn(checkpoints_)) return job.problem;
  return fmt::format(
      "annotation {} of its pod template: set it to \"true\", once the training goes on from its "
      "checkpoint",
      wire::kCheckpointAnnotation);
}

void ElasticJobs::Add(RoundQueue& queue, const RoundSettings& settings,
                      std::optional<WallTime> runs_since, const ElasticSight& sight,
                      std::optional<int64_t> iteration, WallTime now) {
  const Workload& workload = *queue.objects.back();
  const auto job = JobOf(workload);
  ElasticWorkload& elastic = queue.elastic.emplace_back();
  queue.jobs.push_back(job);
  queue.iterations.push_back(iteration);
  elastic.job = workload.owner.uid.empty() ? workload.uid : workload.owner.uid;
  const std::string problem = job ? ProblemOf(workload, *job) : std::string();
  if (std::string& told = told_[elastic.job]; told != problem) {
    told = problem;
    if (!problem.empty())
      events_.Record(AboutJob(workload, "SynergyNotElastic", "its workers stay: " + problem));
  }
  if (!job) return;
  // What it has beyond its own bounds, somebody wants it to have.
  const bool is_elastic = job->IsElastic() && problem.empty() && workload.pods >= job->least &&
                          workload.pods <= job->most;
  if (!is_elastic) return;
  elastic.workers = static_cast<int>(workload.pods);
  elastic.least = static_cast<int>(job->least);
  elastic.most = static_cast<int>(job->most);
  elastic.stays = job->succeeded > 0 || job->workers != workload.pods;
  elastic.target_loss = job->target_loss;
  const Duration settling = std::min(kLongestSettling, settings.round / 2);
  if (runs_since && now - *runs_since >= settling) rounds_.See(elastic.job, elastic.workers, sight);
}

RoundDecision ElasticJobs::Decide(const RoundSettings& settings, Gpus quota,
                                  const RoundQueue& queue, bool begins, WallTime now) {
  return rounds_.Decide(settings, quota, queue.workloads, queue.elastic, begins, now);
}

std::vector<ElasticJobs::Due> ElasticJobs::FindDue(const RoundQueue& queue, RoundState state,
                                                   WallTime now) const {
  std::vector<Due> due;
  for (size_t index = 0; index < queue.elastic.size(); ++index) {
    const RoundWorkload& workload = queue.workloads[index];
    const QueuedJob* const job = queue.jobs[index].get();
    if (workload.left_alone || workload.state != state || job == nullptr || !job->IsElastic() ||
        job->workers != queue.objects[index]->pods)
      continue;
    if (const auto change = rounds_.ChangeOf(job->uid, static_cast<int>(job->workers), now))
      due.push_back({index, *change});
  }
  // Who shrinks makes room for those that grow.
  std::stable_sort(due.begin(), due.end(), [](const Due& a, const Due& b) {
    return a.change.to - a.change.from < b.change.to - b.change.from;
  });
  return due;
}

std::set<std::string> ElasticJobs::SizeWaiting(const std::string& name, const RoundQueue& queue,
                                               WallTime now, const std::stop_token& stop) {
  const std::vector<Due> due = FindDue(queue, RoundState::kWaits, now);
  std::set<std::string> sizing;
  for (const Due& one : due) sizing.insert(queue.objects[one.index]->uid);
  for (size_t index = 0; index < queue.elastic.size(); ++index) {
    const auto& job = queue.jobs[index];
    const Workload& workload = *queue.objects[index];
    // Of one some of whose workers are done the workload has the others.
    const bool differs =
        job && job->IsElastic() && job->succeeded == 0 && job->workers != workload.pods;
    const bool waits = queue.workloads[index].state == RoundState::kWaits;
    if (waits && differs) sizing.insert(workload.uid);
  }
  Write(name, queue, due, stop);
  return sizing;
}

void ElasticJobs::SizeRunning(const std::string& name, const RoundQueue& queue, WallTime now,
                              const std::stop_token& stop) {
  Write(name, queue, FindDue(queue, RoundState::kRuns, now), stop);
}

void ElasticJobs::Write(const std::string& name, const RoundQueue& queue,
                        const std::vector<Due>& due, const std::stop_token& stop) {
  for (const auto& [index, change] : due) {
    const QueuedJob& job = *queue.jobs[index];
    const Instant now = clock_.Now();
    if (stop.stop_requested() || rate_.Next() > now) return;
    rate_.Spend(1, now);
    const Result<> written = api_.WriteWorkers(job, change.to, stop);
    const bool outdated = IsOutdated(written);
    metrics_.CountWrite("workers", written ? "written" : outdated ? "outdated" : "failed");
    if (outdated) continue;
    if (!written) {
      log_.Warn("a job's workers cannot be changed",
                {{"job", job.Key()}, {"error", written.error().message}});
      const ErrorCode code = written.error().code;
      if (code != ErrorCode::kDenied && code != ErrorCode::kInvalid) return;
      // Not in this round: others wait for it.
      rounds_.Changed(job.uid);
      continue;
    }
    rounds_.Changed(job.uid);
    log_.Info("workers", {{"job", job.Key()},
                          {"queue", name},
                          {"from", change.from},
                          {"to", change.to},
                          {"because", change.why}});
    const RoundWorkload& workload = queue.workloads[index];
    if (workload.state != RoundState::kRuns) continue;
    RoundService& carried = carried_[job.uid] = workload.service;
    if (queue.iterations[index]) carried.left_at = queue.iterations[index];
    events_.Record(AboutJob(*queue.objects[index], "SynergyWorkersChanged",
                            fmt::format("from {} to {} workers: {}; it goes on from its checkpoint",
                                        change.from, change.to, change.why)));
  }
}

std::optional<RoundService> ElasticJobs::TakeCarried(const std::string& job) {
  const auto found = carried_.find(job);
  if (found == carried_.end()) return std::nullopt;
  const RoundService service = found->second;
  carried_.erase(found);
  return service;
}

void ElasticJobs::ForgetOthers(std::set<std::string> jobs) {
  // Of a job whose workers are changed there is no workload for a moment.
  for (const auto& job : objects_.jobs.All()) jobs.insert(job->uid);
  const auto is_gone = [&jobs](const auto& entry) { return !jobs.contains(entry.first); };
  rounds_.Forget(jobs);
  std::erase_if(carried_, is_gone);
  std::erase_if(told_, is_gone);
}

}  // namespace synergy::controller
