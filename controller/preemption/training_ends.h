#pragma once

// Predicts when running jobs end: from the progress of their pods, as an interval calibrated by
// ended trainings (engine/reservations/remaining_time.h), and from the pods' own deadlines. It also
// predicts how long waiting jobs will run: as long as earlier jobs of the same workload, namespace
// and number of GPUs have run (engine/reservations/learnt_durations.h), or else as long as their
// users expect (engine/reservations/expected_durations.h).
//
// A user's estimate counts as it was when its pod was first seen, because an estimate written later
// could hide an overrun.
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

  // `times` must outlive this object.
  TrainingEnds(ProgressOf progress, const KeyedStore<wire::PodTimes>& times)
      : progress_(std::move(progress)), times_(times) {}

  // Records which jobs run now, and how far they have come. Call it before EndOf().
  void Observe(const std::vector<RunningJob>& running, Moment at);
  // Returns when the job ends; nullopt if neither progress nor deadlines show it.
  std::optional<TimeRange> EndOf(const RunningJob& job, Moment at) const;
  // Returns how long a waiting job will run; nullopt if unknown. `pods`: all pods of the job.
  std::optional<Duration> LongestRunOf(const std::vector<std::shared_ptr<const Pod>>& pods,
                                       WallTime now) const;

 private:
  struct Run {
    std::string uid;  // the least of its pods' UIDs
    std::string its_namespace;
    std::string workload;  // with its namespace and number of GPUs; empty: unknown
    WallTime started{};    // start of its first pod; unset: unknown
    std::optional<Duration> expected;
  };

  Run RunOf(const RunningJob& job) const;
  // Learns from a job that no longer runs.
  void NoteEnd(const Run& run, bool completed, WallTime now);
  void NoteEstimates();
  // Returns the longest estimate of the pods; nullopt if one has none.
  std::optional<Duration> EstimateOf(const std::vector<std::shared_ptr<const Pod>>& pods) const;
  std::optional<Duration> RemainingOf(const RunningJob& job, Instant now) const;
  // Returns when the last of the pods reaches its deadline; nullopt if one has none.
  std::optional<Instant> DeadlineOf(const RunningJob& job, Moment at) const;

  const ProgressOf progress_;
  const KeyedStore<wire::PodTimes>& times_;
  RemainingTimes remaining_{RemainingTimes::kConfidence};
  LearntDurations durations_{RemainingTimes::kConfidence};
  ExpectedDurations expected_{RemainingTimes::kConfidence};
  std::map<std::string, Duration> estimates_;  // by pod, as first seen
  std::map<std::string, Run> running_;         // by job
};

}  // namespace synergy::controller
