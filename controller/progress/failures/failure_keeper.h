#pragma once

// Reports failures of managed pods: an event on the pod and on its owner, a metric, and a record in
// a ConfigMap per namespace. retry_keeper.h and suspect_nodes.h act on these records.
//
//   watch of failed pods ----+
//                            +-> waits for the agent's report -> FailureRecord -> events, history
//   reports of restarted  ---+   (or judges without it)            ^
//   containers, and GET pod                                        |
//                                                                  |
//   watch of pods that have a node, but do not run -> waits for kNoStart
//
// A pod whose image cannot be pulled, or whose configuration is missing, never fails. It is
// reported once if it still waits after kNoStart, separately from the attempts of pods that ran.
//
// Pods of one owner that fail together are one attempt, with one event on the owner about the
// cause. A pod that was created after another one failed, and started later or never, belongs to
// the next attempt. A member that ends up to kLateMember later joins the attempt, and may lead it.
//
// Replicas: all watch, and the leader reports. A run (the pod's UID, container and run number) is
// reported once, however often its pod is seen. A new leader learns from the histories which runs
// were reported. If a leader dies between event and record, the next leader reports again.
//
// Bounds: pods that ended more than an hour ago do not count. Per namespace, kMostWaiting pods
// wait, kMostReported runs are remembered as reported, and kMostAttempts attempts are reported per
// step. A ConfigMap is written at most every kWriteInterval, and kMostWrites of them per step. Per
// node, kMostReadsOfNode pods are read per step. When a namespace is gone and its last record is
// kGone old, its ConfigMap is removed, at most one per step.
//
// Threading: the watches' threads call Replace, Upsert and Remove; one other thread calls the rest.
// Failures: a failed call is repeated in a later step, with backoff if it was refused. A conflict
// is merged. If an owner cannot be read, its own owners are not followed. An attempt waits until it
// is reported.

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cluster/pod_failure.h"
#include "cluster/state/cluster_state.h"
#include "cluster/state/pod_acts.h"
#include "controller/progress/failure_reports.h"
#include "controller/progress/failures/failure_judge.h"
#include "controller/progress/failures/retry_keeper.h"
#include "controller/progress/failures/suspect_nodes.h"
#include "core/backoff.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "kube/apis/events.h"
#include "kube/apis/failures/failure_api.h"
#include "kube/reflector.h"
#include "metrics/controller_metrics.h"

namespace synergy::controller {

// The sources of the keeper's facts.
struct FailureSources {
  FailureReports& reports;
  const ClusterState& state;
  const PodActs& acts;                                    // what this program did to pods
  std::function<bool(const std::string&)> has_namespace;  // whether the API server has it
};

class FailureKeeper final : public kube::ObjectStore<EndedPod> {
 public:
  static constexpr Duration kOldest = std::chrono::hours(1);
  static constexpr size_t kMostWaiting = 500;
  static constexpr size_t kMostReported = 5000;
  static constexpr size_t kMostAttempts = 4;
  static constexpr size_t kMostReadsOfNode = 2;
  static constexpr Duration kWriteInterval = std::chrono::seconds(5);
  static constexpr size_t kMostWrites = 5;
  // How old the last record of a deleted namespace is when its ConfigMap is removed. Until then,
  // the watch of namespaces may lag, or the decision about a retry may still be open.
  static constexpr Duration kGone = 2 * RetryKeeper::kLatest;
  // How long to wait for further members of an attempt, and for the last member.
  static constexpr Duration kSettle = std::chrono::seconds(3);
  static constexpr Duration kMostSettle = std::chrono::seconds(60);
  // Longer than a usual grace period plus the time that the agent needs to find the cause.
  static constexpr Duration kLateMember = std::chrono::minutes(2);
  // How long a pod may wait for its start before it is reported: a registry may be slow, or a
  // ConfigMap may be created a moment later.
  static constexpr Duration kNoStart = std::chrono::seconds(30);

  // `patience`: how long to wait for an agent's report. `retries`: null if retries are off. All
  // references must outlive this object.
  FailureKeeper(kube::FailureApi& api, FailureSources sources, RetryKeeper* retries,
                kube::EventRecorder& events, std::function<bool()> may_act, Duration patience,
                const Clock& clock, Logger& log, metrics::ControllerMetrics& metrics);

  void Replace(std::vector<EndedPod> all) override;
  void Upsert(EndedPod pod) override;
  void Remove(const EndedPod&) override {}  // a deleted pod still counts as failed
  // The store of the watch of pods that have a node, but do not run.
  kube::ObjectStore<EndedPod>& starting() { return starting_; }

  // Reads the histories again before the next step.
  void StartOver();
  void Step(const std::stop_token& stop);
  // Returns whether the histories were read since StartOver(), and the histories by namespace. Only
  // for the thread that steps.
  bool HasHistories() const { return loaded_; }
  const std::map<std::string, FailureHistory>& histories() const { return histories_; }
  // Drops entries that are too old; for replicas that do not act. A full namespace then drops its
  // oldest end without counting it, because the leader reports it.
  void Forget();

 private:
  using RunKey = std::tuple<std::string, std::string, int32_t>;  // uid, container, run

  // Drops a pod that runs or is gone.
  class Starting final : public kube::ObjectStore<EndedPod> {
   public:
    explicit Starting(FailureKeeper& keeper) : keeper_(keeper) {}
    void Replace(std::vector<EndedPod> all) override;
    void Upsert(EndedPod pod) override;
    void Remove(const EndedPod& pod) override;

   private:
    FailureKeeper& keeper_;
  };

  struct Waiting {
    EndedPod pod;
    std::optional<ContainerEnd> end;
    std::optional<ContainerWait> wait;  // set if the pod has not run
    WallTime at{};                      // time of the end
    Instant since{};                    // when it was first seen
  };
  using Attempt = std::vector<Waiting>;

  // Runs of one namespace that need no further report.
  struct Reported {
    std::set<RunKey> runs;
    std::deque<std::pair<Instant, std::set<RunKey>::const_iterator>> by_age;
    // Ends before this one, in the history's order, are missing from the history that was read,
    // because it was full.
    std::optional<std::pair<WallTime, std::string>> first;

    void Add(RunKey key, Instant now);
    bool Contains(const RunKey& key, WallTime at) const;
    void Forget(Instant before);
  };

  // When to repeat a failed call.
  class Retry {
   public:
    bool IsDue(Instant now) const { return now >= due_; }
    Instant due() const { return due_; }
    void Succeed() { *this = Retry(); }
    // Returns whether the kind of error differs from the last one.
    bool Fail(const Error& error, Instant now);

   private:
    Backoff backoff_{std::chrono::seconds(5), std::chrono::minutes(5), 1};
    Instant due_ = Instant::min();
    std::optional<ErrorCode> error_;
  };

  static RunKey KeyOf(const Waiting& one);
  static PodRun RunOf(const Waiting& one);
  // REQUIRES for all three: the mutex is held.
  void Add(EndedPod pod, std::optional<ContainerEnd> end,
           std::optional<ContainerWait> wait = std::nullopt);
  // Drops the known waits of the pod's containers, except that of the container `except`.
  void DropWaits(const EndedPod& pod, std::string_view except = {});
  void ForgetOld();
  bool ReadHistories(const std::stop_token& stop);
  // Finds restarted containers in the agents' reports.
  void AddRestarts(const std::stop_token& stop);
  // Returns the attempts that are complete, as far as is known. The attempts keep waiting.
  std::vector<Attempt> CompleteAttempts();
  bool IsReady(const std::vector<const Waiting*>& attempt, Instant now) const;
  // Returns whether the attempt needs no further report.
  bool Report(const Attempt& attempt, const std::stop_token& stop);
  bool IsRecorded(const std::string& pod_namespace, const RunKey& key) const;
  // Ends the wait of the attempt.
  void Settle(const Attempt& attempt);
  // Returns the outermost owner; sets `queue` if an owner names it.
  ObjectOwner OutermostOwner(const EndedPod& pod, std::string& queue, const std::stop_token& stop);
  void WriteDue(const std::stop_token& stop);
  Result<> Write(FailureHistory& history, const std::stop_token& stop);
  // Removes the records of namespaces that are gone.
  void RemoveGone(const std::stop_token& stop);
  void ActOnRetries(const std::stop_token& stop);

  kube::FailureApi& api_;
  const FailureSources sources_;
  FailureReports& reports_;
  const ClusterState& state_;
  RetryKeeper* const retries_;
  kube::EventRecorder& events_;
  const std::function<bool()> may_act_;
  const Duration patience_;
  const Clock& clock_;
  Logger& log_;
  metrics::ControllerMetrics& metrics_;
  SuspectNodes suspects_{events_, metrics_};
  Starting starting_{*this};

  std::mutex mutex_;
  bool acts_ = false;
  std::map<std::string, std::map<RunKey, Waiting>> waiting_;  // by namespace
  std::map<std::string, Reported> reported_;                  // by namespace

  // Only the thread that steps uses these.
  bool loaded_ = false;
  std::map<std::string, FailureHistory> histories_;  // by namespace
  std::map<std::string, Instant> unwritten_;  // namespaces, and the earliest time to write them
  std::map<std::string, Instant> written_;    // namespaces, and when they were last written
  std::map<std::string, Retry> writes_;       // namespaces whose last write failed
  std::map<std::string, Retry> removals_;     // namespaces whose records could not be removed
  std::map<RunKey, Instant> asked_;           // runs whose pods were read
  std::map<RunKey, Retry> unread_;            // runs whose pods could not be read
  std::string served_;                        // the namespace served last
  std::string served_node_;                   // the node whose pod was read last
  Retry listing_;                             // for the histories
};

}  // namespace synergy::controller
