#include "controller/preemption/training_ends.h"

#include <algorithm>
#include <utility>

namespace synergy::controller {
namespace {

std::string WorkloadOf(const RunningJob& job) {
  const auto& fungible = job.pods.front()->fungible;
  return fungible ? fungible->workload : std::string();
}

}  // namespace

void TrainingEnds::Observe(const std::vector<RunningJob>& running, Moment at) {
  std::map<std::string, std::string> now;
  for (const RunningJob& job : running) {
    std::string& least = now.emplace(job.name, job.pods.front()->uid).first->second;
    for (const auto& pod : job.pods) least = std::min(least, pod->uid);
  }
  for (const auto& [job, uid] : running_) {
    const auto still = now.find(job);
    if (still != now.end() && still->second == uid) continue;
    const auto times = times_.Find(uid);
    if (times && times->succeeded) {
      remaining_.Ended(job, at.now);
    } else {
      remaining_.Forget(job);
    }
  }
  running_ = std::move(now);
  for (const RunningJob& job : running) {
    if (const auto remaining = RemainingOf(job, at.now))
      remaining_.EstimateMade(job.name, WorkloadOf(job), *remaining, at.now);
  }
}

std::optional<TimeRange> TrainingEnds::EndOf(const RunningJob& job, Moment at) const {
  const std::optional<Duration> remaining = RemainingOf(job, at.now);
  const std::optional<Instant> deadline = DeadlineOf(job, at);
  std::optional<TimeRange> ends;
  if (remaining) ends = remaining_.EndOf(WorkloadOf(job), *remaining, at.now);
  if (!deadline) return ends;
  if (!ends) return TimeRange{std::min(at.now, *deadline), *deadline, *deadline};
  return TimeRange{std::min(ends->earliest, *deadline), std::min(ends->likely, *deadline),
                   std::min(ends->latest, *deadline)};
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
