#pragma once

// Decides which jobs of a simulation fail, when, and what follows: a retry after the backoff of the
// Job controller, or the job's end, by the product's own decision (engine/retries/retries.h).
//
//   Run() --> runs --Pause()--> stands still --Run()--> runs --Fail()--> next attempt, or the end
//              +------------------------------------------+--Pass()--> the end
//
// Failures are drawn by job and attempt, in running time, whatever else happens in the run. So the
// same seed gives the same failures under every policy and mechanism. An attempt that is to fail
// does so before the job could end: at the latest after nine tenths of what is left to do at the
// fair share.
//
// Threading: one owner. Pure: the time is handed in.

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
  // An attempt has made an iteration if it ran for this long. An assumption.
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
  // `settings` outlives this.
  FailingJobs(const FailureSettings& settings, std::span<const Job> jobs);

  // All pods of the job run, each on one of these nodes. Returns the time until its attempt fails;
  // nullopt: it does not. Whatever Run() returned before is void.
  std::optional<Duration> Run(size_t job, std::vector<std::string> nodes, Moment at);
  // Not all of its pods run any more. No effect if they did not.
  void Pause(size_t job, Moment at);
  bool IsRunning(size_t job) const { return jobs_[job].running_since.has_value(); }
  // Returns whether the next Run() begins an attempt.
  bool BeginsAttempt(size_t job) const { return !jobs_[job].attempt; }
  // Returns whether the attempt under way is to fail, so that it cannot complete the job.
  bool IsToFail(size_t job) const;

  struct End {
    std::optional<Duration> retry_after;  // none: the job has failed permanently
    double kept = 0;                      // the part of the attempt's work that is not lost
    // The only pod that failed, by its place in the nodes that Run() was given; none: all did.
    std::optional<size_t> pod = std::nullopt;
    // The nodes that the next attempt avoids if others have room, until then.
    std::vector<std::string> avoid;
    WallTime until{};
  };
  // The attempt fails now. REQUIRES: the job runs, and IsToFail().
  End Fail(size_t job, Moment at);
  void Pass(size_t job, Moment at);

  // Begins a pre-run of a job that waits. Returns when it ends, at the latest; nullopt: there are
  // none. Run() ends it, too.
  std::optional<Duration> BeginPrerun(size_t job, Moment at);
  // The pre-run's time is over. Returns whether it failed in a way that keeps the job from
  // starting; the job is then over.
  bool EndPrerun(size_t job, Moment at);

  // The run is over: what still runs was useful.
  FailureFigures TakeFigures(Moment at);

 private:
  struct Attempt {
    std::optional<Duration> fails_after;  // in running time; none: it does not
    Duration ran{};
    WallTime started{};
    std::vector<std::string> nodes;  // on which it runs
  };
  struct JobState {
    Job job;
    const FailureAssumption* failure = nullptr;  // null: it never fails
    FailingJob history;
    std::optional<Attempt> attempt;
    std::optional<Instant> running_since;
    Duration kept{};  // of earlier attempts, in running time
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
