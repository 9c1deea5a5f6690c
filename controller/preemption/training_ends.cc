#include "controller/preemption/training_ends.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace synergy::controller {
namespace {

using Pods = std::vector<std::shared_ptr<const Pod>>;

// Returns the job's workload, apart from those of other namespaces; empty: unknown.
std::string WorkloadOf(const Pods& pods) {
  const Pod& pod = *pods.front();
  if (!pod.fungible || pod.fungible->workload.empty()) return {};
  return fmt::format("{}/{}", pod.pod_namespace, pod.fungible->workload);
}

// Returns the same for as many GPUs; empty: unknown.
std::string SizedWorkloadOf(const Pods& pods) {
  const std::string workload = WorkloadOf(pods);
  if (workload.empty()) return {};
  Gpus gpus;
  for (const auto& pod : pods) gpus += pod->requests.main.gpus;
  return fmt::format("{} {}", workload, gpus.count());
}

}  // namespace

void TrainingEnds::Observe(const std::vector<RunningJob>& running, Moment at) {
  std::map<std::string, Run> now;
  for (const RunningJob& job : running) now.emplace(job.name, RunOf(job));
  for (const auto& [job, run] : running_) {
    const auto still = now.find(job);
    if (still != now.end() && still->second.uid == run.uid) continue;
    const auto times = times_.Find(run.uid);
    if (times && times->succeeded) {
      remaining_.Ended(job, at.now);
      if (!run.workload.empty() && run.started != WallTime{} && run.started < at.wall)
        durations_.Ended(run.workload, at.wall - run.started);
    } else {
      remaining_.Forget(job);
    }
  }
  running_ = std::move(now);
  for (const RunningJob& job : running) {
    if (const auto remaining = RemainingOf(job, at.now))
      remaining_.EstimateMade(job.name, WorkloadOf(job.pods), *remaining, at.now);
  }
}

std::optional<TimeRange> TrainingEnds::EndOf(const RunningJob& job, Moment at) const {
  const std::optional<Duration> remaining = RemainingOf(job, at.now);
  const std::optional<Instant> deadline = DeadlineOf(job, at);
  std::optional<TimeRange> ends;
  if (remaining) ends = remaining_.EndOf(WorkloadOf(job.pods), *remaining, at.now);
  if (!deadline) return ends;
  if (!ends) return TimeRange{std::min(at.now, *deadline), *deadline, *deadline};
  return TimeRange{std::min(ends->earliest, *deadline), std::min(ends->likely, *deadline),
                   std::min(ends->latest, *deadline)};
}

TrainingEnds::Run TrainingEnds::RunOf(const RunningJob& job) const {
  Run run{.uid = job.pods.front()->uid, .workload = SizedWorkloadOf(job.pods)};
  for (const auto& pod : job.pods) {
    run.uid = std::min(run.uid, pod->uid);
    const auto times = times_.Find(pod->uid);
    if (!times || !times->started) continue;
    if (run.started == WallTime{} || *times->started < run.started) run.started = *times->started;
  }
  return run;
}

std::optional<Duration> TrainingEnds::LongestRunOf(
    const std::vector<std::shared_ptr<const Pod>>& pods, WallTime now) const {
  const std::string workload = SizedWorkloadOf(pods);
  if (workload.empty()) return std::nullopt;
  std::vector<Duration> running;
  for (const auto& [job, run] : running_) {
    if (run.workload == workload && run.started != WallTime{} && run.started < now)
      running.push_back(now - run.started);
  }
  return durations_.LongestOf(workload, running);
}

std::optional<Duration> TrainingEnds::RemainingOf(const RunningJob& job, Instant now) const {
  std::optional<Duration> longest;
  for (const auto& pod : job.pods) {
    const std::optional<KnownProgress> known = progress_(pod->uid, now);
    if (!known || !known->pod.remaining) continue;
    const Duration left = std::max(*known->pod.remaining - known->age, Duration::zero());
    longest = std::max(longest.value_or(left), left);
  }
  return longest;
}

std::optional<Instant> TrainingEnds::DeadlineOf(const RunningJob& job, Moment at) const {
  std::optional<Instant> last;
  for (const auto& pod : job.pods) {
    const auto times = times_.Find(pod->uid);
    if (!times || !times->longest) return std::nullopt;
    const Instant end = at.now + (times->started.value_or(at.wall) + *times->longest - at.wall);
    last = std::max(last.value_or(end), end);
  }
  return last;
}

}  // namespace synergy::controller
