#pragma once

// When running jobs end: by the progress of their pods, as an interval that trainings which have
// ended calibrate (engine/reservations/remaining_time.h), and by the pods' own deadlines. And how
// long waiting jobs will run: as long as others of their workload in their namespace, with as many
// GPUs, have run (engine/reservations/learnt_durations.h), else as long as their users expect
// (engine/reservations/expected_durations.h).
//
// A user's estimate counts as it was when its pod was seen first: what is written later, when the
// pod runs, would hide an overrun.
//
// Threading: one owner.

#include <functional>
#include <map>
#include <memory>
#include <optional>
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
#include "wire/pods/gpu_reservation.h"

namespace synergy::controller {

class TrainingEnds {
 public:
  // Returns the last known progress of a pod.
  using ProgressOf =
      std::function<std::optional<KnownProgress>(const std::string& uid, Instant now)>;

  // `times` outlives this.
  TrainingEnds(ProgressOf progress, const KeyedStore<wire::PodTimes>& times)
      : progress_(std::move(progress)), times_(times) {}

  // Takes in which jobs run now, and how far they are. Call it before EndOf().
  void Observe(const std::vector<RunningJob>& running, Moment at);
  // Returns nullopt if neither progress nor deadlines say it.
  std::optional<TimeRange> EndOf(const RunningJob& job, Moment at) const;
  // Returns how long a waiting job will run; nullopt: unknown. `pods`: all of the job.
  std::optional<Duration> LongestRunOf(const std::vector<std::shared_ptr<const Pod>>& pods,
                                       WallTime now) const;

 private:
  struct Run {
    std::string uid;  // the least of its pods'
    std::string its_namespace;
    std::string workload;  // with its namespace and number of GPUs; empty: unknown
    WallTime started{};    // when the first of its pods did; none: unknown
    std::optional<Duration> expected;
  };

  Run RunOf(const RunningJob& job) const;
  // Learns from a job that runs no more.
  void NoteEnd(const Run& run, bool completed, WallTime now);
  void NoteEstimates();
  // Returns the longest estimate of the pods; nullopt if one has none.
  std::optional<Duration> EstimateOf(const std::vector<std::shared_ptr<const Pod>>& pods) const;
  std::optional<Duration> RemainingOf(const RunningJob& job, Instant now) const;
  // Returns by when the last of the pods reaches its deadline; nullopt if one has none.
  std::optional<Instant> DeadlineOf(const RunningJob& job, Moment at) const;

  const ProgressOf progress_;
  const KeyedStore<wire::PodTimes>& times_;
  RemainingTimes remaining_{RemainingTimes::kConfidence};
  LearntDurations durations_{RemainingTimes::kConfidence};
  ExpectedDurations expected_{RemainingTimes::kConfidence};
  std::map<std::string, Duration> estimates_;  // by pod, as they were first
  std::map<std::string, Run> running_;         // by job
};

}  // namespace synergy::controller
