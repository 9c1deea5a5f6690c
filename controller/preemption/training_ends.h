#pragma once

// Predicts when running jobs end: from the progress of their pods, as an interval calibrated by
// ended trainings (engine/reservations/remaining_time.h), and from the pods' own deadlines.
// Progress that a job's own running time has refuted does not count
// (profile/remaining_time_check.h). It also predicts how long waiting jobs will run. The prediction
// follows earlier jobs of the same workload, namespace and number of GPUs
// (engine/reservations/learnt_durations.h), or else the users' estimates
// (engine/reservations/expected_durations.h).
//
// A user's estimate counts as it was when its pod was first seen, because an estimate written later
// could hide an overrun.
//
// TrainingEnds learns nothing from jobs that ended while Observe() was not called, because it is
// unknown when they ended.
//
// Threading: one owner.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/cluster/keyed_store.h"
#include "core/clock.h"
#include "engine/reservations/expected_durations.h"
#include "engine/reservations/gpu_reservations.h"
#include "engine/reservations/learnt_durations.h"
#include "engine/reservations/remaining_time.h"
#include "engine/reservations/waiting_jobs.h"
#include "profile/pod_progress.h"
#include "profile/remaining_time_check.h"
#include "wire/pods/gpu_reservation.h"

namespace synergy::controller {

class TrainingEnds {
 public:
  // Returns the last known progress of a pod.
  using ProgressOf =
      std::function<std::optional<KnownProgress>(const std::string& uid, Instant now)>;

  // `times` must outlive this object.
  TrainingEnds(ProgressOf progress, const KeyedStore<wire::PodTimes>& times)
      : progress_(std::move(progress)), times_(times) {}

  // A job that ends longer than this after the last look counts as unseen.
  static constexpr Duration kLongestGap = std::chrono::seconds(30);

  // Records which jobs run now, and how far they have come. Call it every few seconds, and before
  // EndOf().
  void Observe(const std::vector<RunningJob>& running, Moment at);
  // Returns when the job ends; nullopt if neither progress nor deadlines show it.
  std::optional<TimeRange> EndOf(const RunningJob& job, Moment at) const;
  // Returns how long a waiting job will run; nullopt if unknown. `pods`: all pods of the job.
  std::optional<Duration> LongestRunOf(const std::vector<std::shared_ptr<const Pod>>& pods,
                                       WallTime now) const;

 private:
  // A job's pods from the start of the first to the end of the last.
  struct Run {
    std::set<std::string> uids;  // pods that ran at the last look
    std::string its_namespace;
    Gpus gpus;
    std::string workload;  // with its namespace and number of GPUs; empty: unknown
    WallTime started{};    // start of its first pod; unset: unknown
    std::optional<Duration> expected;
    Instant seen{};            // first look at it
    RemainingTimeCheck check;  // checks the times that its progress predicts
  };

  Run RunOf(const RunningJob& job, Instant now) const;
  // Adds the facts from an earlier look at the same run, when more of its pods may have run.
  static void Continue(const Run& before, Run& run);
  // Learns from a job that no longer runs.
  void NoteEnd(const Run& run, bool completed, WallTime now);
  void NoteEstimates();
  // Returns the longest estimate of the pods; nullopt if one has none.
  std::optional<Duration> EstimateOf(const std::vector<std::shared_ptr<const Pod>>& pods) const;
  // Returns the longest remaining time of its pods; nullopt if unknown or refuted.
  std::optional<Duration> RemainingOf(const RunningJob& job, Instant now) const;
  std::optional<Duration> ReportedFor(const RunningJob& job, Instant now) const;
  // Returns when the last of the pods reaches its deadline; nullopt if one has none.
  std::optional<Instant> DeadlineOf(const RunningJob& job, Moment at) const;

  const ProgressOf progress_;
  const KeyedStore<wire::PodTimes>& times_;
  RemainingTimes remaining_{RemainingTimes::kConfidence};
  LearntDurations durations_{RemainingTimes::kConfidence};
  ExpectedDurations expected_{RemainingTimes::kConfidence};
  std::map<std::string, std::optional<Duration>> estimates_;  // by pod, as first seen
  std::map<std::string, Run> running_;                        // by job
  std::optional<Instant> looked_;
};

}  // namespace synergy::controller
