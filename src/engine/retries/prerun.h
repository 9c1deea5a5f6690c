#pragma once

// Decides about pre-runs. While a Job waits in its queue, a trial (a copy with one pod and one GPU)
// runs for a few minutes where GPUs are cheap. If the trial fails because of the user's template,
// the Job does not start. A job's first minutes show most user errors (Philly; Jeon et al., ATC
// 2019).
//
//   the Job waits -> trial -> it fails by the template -> the Job's Workload is stopped
//        |             |
//        +-- quota ----+-> the trial ends; nothing waits for it
//
// A Workload gets at most one trial. A Workload that may have run before gets none.
//
// Threading: pure.

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "engine/retries/prerun_objects.h"
#include "failure/category.h"

namespace synergy {

inline constexpr Duration kShortestPrerun = std::chrono::seconds(10);
inline constexpr Duration kLongestPrerun = std::chrono::hours(1);
// A job that has waited for less time than this gets no trial, because it may be about to start.
inline constexpr Duration kLeastWaitForPrerun = std::chrono::seconds(10);

// Parses how long a trial may run: "5m", "90s". "off" gives 0: no trial. For any other text,
// returns kInvalid with the valid forms.
Result<Duration> ParsePrerun(std::string_view text);

// The failure of a trial, as classified.
struct PrerunFailure {
  Category category = Category::kUnknown;
  Outcome outcome;
  std::string evidence;  // the line that shows it; may be empty
};

// Returns whether a failed trial prevents its job's start: the user's template causes such a
// failure every time, also on one GPU of another product. `independent_completions`: whether the
// job is an array. Its other completions may have other arguments, files and permissions.
bool PreventsStart(const PrerunFailure& failure, bool independent_completions = false);

// Limits on unfinished trials, including those that wait for their GPU.
struct PrerunLimits {
  size_t in_namespace = 5;
  size_t in_all = 50;
};

struct PrerunPlan {
  using Workload = std::shared_ptr<const PrerunWorkload>;
  using Trial = std::shared_ptr<const PrerunTrial>;
  struct Pair {
    Workload workload;
    Trial trial;
  };
  std::vector<Workload> begin;  // Workloads that get a trial now, oldest first
  std::vector<Pair> note;       // record on the Workload that it has had its trial
  std::vector<Trial> end;
  std::vector<Pair> stop;    // the trial failed; its failure satisfies PreventsStart()
  std::vector<Pair> report;  // the trial failed otherwise
};

struct PrerunState {
  std::vector<PrerunPlan::Workload> workloads;
  std::vector<PrerunPlan::Trial> trials;
  std::map<std::string, PrerunFailure> failures;  // by the trial's UID
};

// `may_begin`: returns whether a job may have opted in.
PrerunPlan PlanPreruns(const PrerunState& state,
                       const std::function<bool(const PrerunWorkload&)>& may_begin,
                       const PrerunLimits& limits, WallTime now);

}  // namespace synergy
