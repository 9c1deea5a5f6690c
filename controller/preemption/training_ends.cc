#include "controller/preemption/training_ends.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace synergy::controller {
namespace {

using Pods = std::vector<std::shared_ptr<const Pod>>;

// Returns the job's workload, qualified by namespace; empty if unknown.
std::string WorkloadOf(const Pods& pods) {
  const Pod& pod = *pods.front();
  if (!pod.fungible || pod.fungible->workload.empty()) return {};
  return fmt::format("{}/{}", pod.pod_namespace, pod.fungible->workload);
}

Gpus SumOfGpus(const Pods& pods) {
  Gpus gpus;
  for (const auto& pod : pods) gpus += pod->requests.main.gpus;
  return gpus;
}

// Returns the same, also qualified by the number of GPUs; empty if unknown.
std::string SizedWorkloadOf(const Pods& pods) {
  const std::string workload = WorkloadOf(pods);
  return workload.empty() ? std::string() : fmt::format("{} {}", workload, SumOfGpus(pods).count());
}

}  // namespace

void TrainingEnds::Observe(const std::vector<RunningJob>& running, Moment at) {
  NoteEstimates();
  const bool saw = looked_ && at.now - *looked_ <= kLongestGap;
  looked_ = at.now;
  std::map<std::string, Run> now;
  for (const RunningJob& job : running) now.emplace(job.name, RunOf(job, at.now));
  for (const auto& [job, run] : running_) {
    const auto still = now.find(job);
    const auto runs = [&](const std::string& uid) { return still->second.uids.contains(uid); };
    if (still != now.end() && std::any_of(run.uids.begin(), run.uids.end(), runs)) {
      Continue(run, still->second);
      continue;
    }
    const bool completed = std::all_of(run.uids.begin(), run.uids.end(), [&](const auto& uid) {
      const auto times = times_.Find(uid);
      return times && times->succeeded;
    });
    (completed && saw) ? remaining_.Ended(job, at.now) : remaining_.Forget(job);
    if (saw) NoteEnd(run, completed, at.wall);
  }
  running_ = std::move(now);
  for (const RunningJob& job : running) {
    Run& run = running_.at(job.name);
    if (const auto reported = ReportedFor(job, at.now))
      run.check.Check(*reported, at.now - run.seen);
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

TrainingEnds::Run TrainingEnds::RunOf(const RunningJob& job, Instant now) const {
  Run run{.uids = {},
          .its_namespace = job.pods.front()->pod_namespace,
          .gpus = SumOfGpus(job.pods),
          .workload = SizedWorkloadOf(job.pods),
          .started = {},
          .expected = EstimateOf(job.pods),
          .seen = now,
          .check = {}};
  for (const auto& pod : job.pods) {
    run.uids.insert(pod->uid);
    const auto times = times_.Find(pod->uid);
    if (!times || !times->started) continue;
    if (run.started == WallTime{} || *times->started < run.started) run.started = *times->started;
  }
  return run;
}

void TrainingEnds::Continue(const Run& before, Run& run) {
  if (before.started != WallTime{} && (run.started == WallTime{} || before.started < run.started))
    run.started = before.started;
  run.seen = before.seen;
  run.check = before.check;
  if (before.gpus < run.gpus) return;
  run.gpus = before.gpus;
  run.workload = before.workload;
  run.expected = before.expected;
}

void TrainingEnds::NoteEnd(const Run& run, bool completed, WallTime now) {
  if (run.started == WallTime{} || run.started >= now) return;
  const Duration ran = now - run.started;
  if (completed && !run.workload.empty()) durations_.Ended(run.workload, ran);
  if (run.expected) expected_.Ended(run.its_namespace, {*run.expected, ran}, completed);
}

void TrainingEnds::NoteEstimates() {
  std::map<std::string, std::optional<Duration>> estimates;
  for (const auto& [uid, times] : times_.Snapshot()) {
    const auto before = estimates_.find(uid);
    estimates.emplace(uid, before == estimates_.end() ? times->expected : before->second);
  }
  estimates_ = std::move(estimates);
}

std::optional<Duration> TrainingEnds::EstimateOf(const Pods& pods) const {
  std::optional<Duration> longest;
  for (const auto& pod : pods) {
    const auto estimate = estimates_.find(pod->uid);
    if (estimate == estimates_.end() || !estimate->second) return std::nullopt;
    longest = std::max(longest.value_or(Duration::zero()), *estimate->second);
  }
  return longest;
}

std::optional<Duration> TrainingEnds::LongestRunOf(const Pods& pods, WallTime now) const {
  const std::string workload = SizedWorkloadOf(pods);
  const std::string& its_namespace = pods.front()->pod_namespace;
  std::vector<Duration> alike;
  std::vector<ExpectedDurations::Run> estimated;
  for (const auto& [job, run] : running_) {
    if (run.started == WallTime{} || run.started >= now) continue;
    const Duration ran = now - run.started;
    if (run.workload == workload) alike.push_back(ran);
    if (run.its_namespace == its_namespace && run.expected)
      estimated.push_back({*run.expected, ran});
  }
  if (!workload.empty()) {
    if (const auto learnt = durations_.LongestOf(workload, alike)) return learnt;
  }
  const std::optional<Duration> expected = EstimateOf(pods);
  return expected ? expected_.LongestOf(its_namespace, *expected, estimated) : std::nullopt;
}

std::optional<Duration> TrainingEnds::RemainingOf(const RunningJob& job, Instant now) const {
  const auto run = running_.find(job.name);
  if (run != running_.end() && run->second.check.refuted()) return std::nullopt;
  return ReportedFor(job, now);
}

std::optional<Duration> TrainingEnds::ReportedFor(const RunningJob& job, Instant now) const {
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
