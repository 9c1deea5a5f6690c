#pragma once

// Acts on failures of jobs (engine/retries) if the annotation synergy.io/retries on the job, its
// queue or its namespace asks for that; the nearest annotation counts.
//
//   history of failures -> a row of like failures? -> opted in? -> the failure's record is marked
//              |                                                             |
//              |  event with the command that resumes the job <- the job is suspended <- the
//              history | is stored
//              +--------> an infrastructure failure? -> opted in? -> elsewhere_keeper.h
//              +--------> killed for lack of memory? -> opted in? -> memory_raiser.h
//
// Decisions are in the history, and a completed action is an annotation of the job. So a new leader
// finishes what the previous one began, and does nothing twice: a job that its user has resumed
// stays resumed. Failures from before a suspension no longer count after it. A decision is
// withdrawn if the job fails in another way before it is carried out, or its user no longer asks
// for it.
//
// Bounds: only failures within kLatest are considered, and for a suspension only those within
// kLatestToSuspend; SuspensionLimit limits how many jobs are suspended per hour. A job's objects
// are read only if its row of failures is long enough, or its last failure came from the
// infrastructure or from a lack of memory. At most kMostExamined jobs are examined per step.
//
// Threading: one owner. Failures: a failed call is repeated after kPause. A job for which calls are
// refused rests for twice as long each time, and does not delay others. A job that cannot be
// suspended within kLatestToSuspend is left alone, counted and logged. If the annotation cannot be
// read, nothing is done.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <tuple>
#include <vector>

#include "cluster/pod_failure.h"
#include "controller/progress/failures/elsewhere_keeper.h"
#include "controller/progress/failures/memory_raiser.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/rests.h"
#include "core/result.h"
#include "engine/retries/retries.h"
#include "kube/apis/events.h"
#include "kube/apis/failures/retry_api.h"
#include "metrics/controller_metrics.h"

namespace synergy::controller {

class RetryKeeper {
 public:
  // How long after a failure its retries may be acted on.
  static constexpr Duration kLatest = std::chrono::minutes(10);
  // How long after a failure its job may be suspended, and also how long after the decision. Later,
  // the next attempt may already train.
  static constexpr Duration kLatestToSuspend = std::chrono::minutes(2);
  static constexpr Duration kPause = std::chrono::seconds(5);
  static constexpr size_t kMostExamined = 10;

  // `memory`: raises the memory of workloads. `kueue`: whether Kueue is installed. `may_act`:
  // returns whether this process leads. All references must outlive this object.
  RetryKeeper(kube::RetryApi& api, MemoryRaiser memory, bool kueue, kube::EventRecorder& events,
              std::function<bool()> may_act, const Clock& clock, Logger& log,
              metrics::ControllerMetrics& metrics);

  // Begins with the histories that were read, by namespace.
  void StartOver(const std::map<std::string, FailureHistory>& histories);
  // Records that the namespace has a new failure.
  void Look(const std::string& of_namespace) { looks_.try_emplace(of_namespace); }
  // Returns the namespaces that need a step now.
  std::vector<std::string> Due() const;
  // Carries out the step of a namespace. `stored`: whether the cluster has exactly this history.
  // Returns whether the history was changed and must be stored.
  bool Step(FailureHistory& history, bool stored, const std::stop_token& stop);
  // Publishes which nodes jobs avoid. Call it about every second.
  void Publish(const std::stop_token& stop) { elsewhere_.Publish(stop); }

 private:
  using RunKey = std::tuple<std::string, std::string, int32_t>;  // uid, container, run

  // A namespace that needs a look.
  struct Looked {
    Instant due = Instant::min();
    std::optional<ErrorCode> error;  // the last call's error, if it failed
  };
  enum class Outcome {
    kSettled,
    kChanged,
    kPending,
    kFailed,  // a call about this job was refused
    kOutage,  // calls about other jobs would fail, too
  };
  // The annotation that counts, and the state of the job itself.
  struct Wish {
    std::optional<std::string> text;
    std::string where;  // "job bert"
    bool independent_completions = false;
  };

  // Returns the actions that are possible for the job.
  RetryActions ActionsFor(const ObjectOwner& job) const;
  // Decides about the last failure of a job.
  Outcome Examine(const FailureHistory& history, FailureRecord& last, const std::stop_token& stop);
  // Makes the next attempt prefer other nodes.
  void GoElsewhere(const std::string& of_namespace, const FailureRecord& last,
                   const RetryDecision& decision);
  // Raises the memory of the next attempt if `decision` includes that, and reports the decision.
  Outcome Enlarge(const std::string& of_namespace, FailureRecord& last,
                  const MemoryRaiser::Profile& profile, const RetryDecision& decision,
                  const std::stop_token& stop);
  // Returns nullopt if the job is gone, has ended, or belongs to an owner that could not be read.
  Result<std::optional<Wish>> ReadWish(const std::string& of_namespace, const FailureRecord& last,
                                       const std::stop_token& stop);
  static bool AsksToStop(const std::optional<Wish>& wish);
  // Suspends the job of a marked failure.
  Outcome Suspend(const FailureHistory& history, FailureRecord& marked,
                  const std::stop_token& stop);
  // Returns the object to stop; nullopt if the job is gone, has ended, or can be stopped only
  // through a Workload that it does not have.
  Result<std::optional<wire::StoppableJob>> FindStoppable(const std::string& of_namespace,
                                                          const FailureRecord& failure,
                                                          const std::stop_token& stop);
  Outcome Settle(FailureRecord& marked, bool is_suspended, const char* outcome);
  Outcome TryLater(const std::string& of_namespace, const ObjectOwner& job, const Error& error);
  void Announce(const std::string& of_namespace, const FailureRecord& marked,
                const wire::StoppableJob& stopped);
  void RecordEvent(const std::string& of_namespace, const ObjectOwner& job, const char* type,
                   const char* reason, std::string message);

  kube::RetryApi& api_;
  MemoryRaiser memory_;
  const bool kueue_;
  kube::EventRecorder& events_;
  const std::function<bool()> may_act_;
  const Clock& clock_;
  Logger& log_;
  metrics::ControllerMetrics& metrics_;
  SuspensionLimit limit_;
  ElsewhereKeeper elsewhere_;
  std::map<std::string, Looked> looks_;  // by namespace
  std::map<RunKey, WallTime> examined_;  // failures that were decided, with their times
  Rests failing_;                        // by the uid of the job
};

// Returns the job of that failure, with its attempts up to the failure, oldest first.
FailingJob FailingJobOf(const FailureHistory& history, const FailureRecord& last);

}  // namespace synergy::controller
