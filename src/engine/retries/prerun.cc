#include "engine/retries/prerun.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "core/text/duration_text.h"

namespace synergy {
namespace {

// Returns whether the failure may depend on the completion's index in an array.
bool DependsOnIndex(Category category) {
  return category == Category::kArguments || category == Category::kInputMissing ||
         category == Category::kPermission;
}

}  // namespace

Result<Duration> ParsePrerun(std::string_view text) {
  if (text == "off") return Duration::zero();
  const Result<Duration> limit = ParseGoDuration(text);
  if (!limit || *limit < kShortestPrerun || *limit > kLongestPrerun) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("\"{}\": write a time from 10s to 1h, such as 5m, or off", text));
  }
  return *limit;
}

bool PreventsStart(const PrerunFailure& failure, bool independent_completions) {
  return EntryOf(failure.category).prerun && failure.outcome.cause == Cause::kUser &&
         failure.outcome.behaviour == Behaviour::kDeterministic &&
         !(independent_completions && DependsOnIndex(failure.category));
}

PrerunPlan PlanPreruns(const PrerunState& state,
                       const std::function<bool(const PrerunWorkload&)>& may_begin,
                       const PrerunLimits& limits, WallTime now) {
  PrerunPlan plan;
  std::unordered_map<std::string, PrerunPlan::Workload> of_jobs;  // by the job's UID
  std::set<std::string> stopped;  // UIDs of Jobs whose Workload Kueue or a user has stopped
  for (const PrerunPlan::Workload& workload : state.workloads) {
    // A Job has one Workload in Kueue and, briefly, two, of which one is finished.
    PrerunPlan::Workload& known = of_jobs[workload->job.uid];
    if (known == nullptr || known->finished) known = workload;
    if (!workload->active) stopped.insert(workload->job.uid);
  }

  std::set<std::string> tried;  // UIDs of jobs
  std::map<std::string, size_t> in_namespace;
  size_t in_all = 0;
  for (const PrerunPlan::Trial& trial : state.trials) {
    tried.insert(trial->job_uid);
    // Kueue stops a trial whose time is over.
    if (!trial->finished && !stopped.contains(trial->uid)) {
      ++in_namespace[trial->its_namespace];
      ++in_all;
    }
    const auto found = of_jobs.find(trial->job_uid);
    // The API server deletes the trials of a Job that is gone.
    if (found == of_jobs.end()) continue;
    const PrerunPlan::Workload& workload = found->second;
    if (workload->its_namespace != trial->its_namespace) continue;
    if (workload->trial != trial->uid && !workload->finished) {
      // Write the note first: it remains after the trial has ended.
      plan.note.push_back({workload, trial});
      continue;
    }
    if (trial->deleting) continue;
    if (workload->has_quota || workload->finished) {
      plan.end.push_back(trial);
      continue;
    }
    const auto failure = state.failures.find(trial->uid);
    if (workload->Waits() && workload->stopped != trial->uid && failure != state.failures.end())
      (PreventsStart(failure->second) ? plan.stop : plan.report).push_back({workload, trial});
  }

  for (const auto& [uid, workload] : of_jobs) {
    if (workload->Waits() && now - workload->created >= kLeastWaitForPrerun &&
        !workload->had_quota && workload->trial.empty() && !uid.empty() && !tried.contains(uid) &&
        may_begin(*workload))
      plan.begin.push_back(workload);
  }
  std::sort(plan.begin.begin(), plan.begin.end(),
            [](const PrerunPlan::Workload& a, const PrerunPlan::Workload& b) {
              return std::tie(a->created, a->uid) < std::tie(b->created, b->uid);
            });
  std::erase_if(plan.begin, [&](const PrerunPlan::Workload& workload) {
    size_t& count = in_namespace[workload->its_namespace];
    if (in_all >= limits.in_all || count >= limits.in_namespace) return true;
    ++count;
    ++in_all;
    return false;
  });
  return plan;
}

}  // namespace synergy
