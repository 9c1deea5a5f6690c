#pragma once

// Decides which jobs of a simulation fail, and when. The product's own decision
// (engine/retries/retries.h) follows: a retry after the Job controller's backoff, or the job's end.
//
//   Run() --> runs --Pause()--> stands still --Run()--> runs --Fail()--> next attempt, or the end
//              +------------------------------------------+--Pass()--> the end
//
// Failures are drawn by job and attempt, in running time, independently of everything else in the
// run. So the same seed gives the same failures under every policy and mechanism. An attempt that
// will fail does so before the job could end: at the latest after nine tenths of the remaining work
// at the fair share.
//
// Threading: one owner. Pure: the caller passes the time.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/units.h"
#include "engine/retries/retries.h"
#include "sim/failures/failure_assumptions.h"
#include "sim/failures/failure_figures.h"

namespace synergy {

struct FailureSettings {
  std::vector<FailureAssumption> assumptions;
  RetryActions actions;
  bool prerun = false;
  Duration prerun_limit = std::chrono::minutes(5);
  // An attempt that ran this long has made an iteration. This is an assumption.
  Duration first_iteration = std::chrono::minutes(2);
  uint64_t seed = 1;
};

class FailingJobs {
 public:
  struct Job {
    uint64_t id = 0;
    Gpus gpus;
    Seconds ideal{};  // running time at the fair share
  };
  // `settings` must outlive this object.
  FailingJobs(const FailureSettings& settings, std::span<const Job> jobs);

  // Records that all pods of the job run, each on one of these nodes. Returns the time until its
  // attempt fails; nullopt if it does not. This makes earlier results of Run() void.
  std::optional<Duration> Run(size_t job, std::vector<std::string> nodes, Moment at);
  // Records that not all of the job's pods run any more. Does nothing if they did not run before.
  void Pause(size_t job, Moment at);
  bool IsRunning(size_t job) const { return jobs_[job].running_since.has_value(); }
  // Returns whether the next Run() begins an attempt.
  bool BeginsAttempt(size_t job) const { return !jobs_[job].attempt; }
  // Returns whether the current attempt will fail, so that it cannot complete the job.
  bool IsToFail(size_t job) const;

  struct End {
    std::optional<Duration> retry_after;  // absent: the job has failed permanently
    double kept = 0;                      // fraction of the attempt's work that is not lost
    // The only pod that failed, as a position in the nodes passed to Run(); absent: all pods did.
    std::optional<size_t> pod = std::nullopt;
    // The nodes that the next attempt avoids if others have room, and until when.
    std::vector<std::string> avoid;
    WallTime until{};
  };
  // Makes the attempt fail now. REQUIRES: the job runs, and IsToFail().
  End Fail(size_t job, Moment at);
  void Pass(size_t job, Moment at);

  // Begins a pre-run of a waiting job. Returns when it ends at the latest; nullopt if there are no
  // pre-runs. Run() also ends it.
  std::optional<Duration> BeginPrerun(size_t job, Moment at);
  // Ends a pre-run whose time is over. Returns whether it failed in a way that prevents the job's
  // start; the job is then over.
  bool EndPrerun(size_t job, Moment at);

  // Ends the run; attempts that still run count as useful.
  FailureFigures TakeFigures(Moment at);

 private:
  struct Attempt {
    std::optional<Duration> fails_after;  // in running time; absent: it does not
    Duration ran{};
    WallTime started{};
    std::vector<std::string> nodes;  // the nodes on which it runs
  };
  struct JobState {
    Job job;
    const FailureAssumption* failure = nullptr;  // null: it never fails
    FailingJob history;
    std::optional<Attempt> attempt;
    std::optional<Instant> running_since;
    Duration kept{};  // the work kept from earlier attempts, in running time
    std::optional<Instant> prerun_since;
  };

  // Returns the running time after which this attempt of the job would fail, if it does.
  Duration FailsAfter(const JobState& state, size_t attempt) const;
  bool FailsAgain(const JobState& state, const std::vector<std::string>& nodes) const;
  void CountBusy(Instant now);
  void ClosePrerun(JobState& state, Instant now);
  static Seconds GpuTime(const JobState& state, Duration time);

  const FailureSettings& settings_;
  std::vector<JobState> jobs_;
  SuspensionLimit limit_;
  FailureFigures figures_;
  Gpus busy_;  // GPUs that are busy since `busy_since_`
  Instant busy_since_{};
};

}  // namespace synergy
