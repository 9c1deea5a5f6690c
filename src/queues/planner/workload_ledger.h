#pragma once

// Keeps an account of each workload in the ordered queues: its service so far, its waiting times by
// cause, and its remaining time. An account begins with the note on the Workload (RoundNote), so it
// survives a restart of this process. If Kueue replaces the Workload of a job, the account passes
// to the replacement.
//
// Threading: one owner. Pure: the caller passes objects and time.

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/clock.h"
#include "profile/pod_progress.h"
#include "profile/remaining_time_check.h"
#include "queues/elastic_rounds.h"
#include "queues/queue_objects.h"
#include "queues/round_workload.h"
#include "queues/rounds.h"

namespace synergy {

// Returns the progress of the pod with that UID; nullopt if unknown.
using ProgressOf = std::function<std::optional<PodProgress>(const std::string& uid)>;

// The GPU pods of one workload, with the progress of the running ones.
struct ObservedPods {
  WorkloadPods counts;
  std::optional<Duration> remaining;  // the longest of any pod
  std::optional<int64_t> iteration;   // the highest of any pod
  std::optional<double> began_at;     // the highest iteration at which a pod began
  ElasticSight sight;
  std::optional<double> rate;     // iterations per second, the highest of any pod
  std::string node;               // the node of one of the pods; empty: none has a node
  Gpus placed;                    // GPUs of the pods that have a node
  std::vector<std::string> uids;  // of all pods
};

// Returns the pods of each workload, by its Key().
std::unordered_map<std::string, ObservedPods> ObservePods(const QueueObjects& objects,
                                                          const ProgressOf& progress);

class WorkloadLedger {
 public:
  struct Account {
    RoundService service;
    Rounds::Doing doing = Rounds::Doing::kNeither;  // at the last observation
    std::optional<int64_t> iteration;               // the last in its log; only while it runs
    // The time since which it could start but Kueue has passed over it; nullopt: it is not passed
    // over.
    std::optional<Instant> overlooked_since;
    // The time since which its GPUs have been free but Kueue has not admitted it; nullopt: they are
    // not free, or it is admitted.
    std::optional<Instant> refused_since;
    bool accrues = false;  // whether it received service in the last observation
    bool follows = false;  // whether it waits to replace another slice of its job
  };

  void StartOver() { *this = {}; }

  // Begins a pass; Forget() ends it.
  void Begin(const QueueObjects& objects, Instant now);
  bool Has(const Workload& workload) const { return entries_.contains(workload.uid); }
  // Charges the workload's service and waiting since its last observation or, at the first one,
  // since its note. `replaced`: the slice of its job that it will replace, whose service counts as
  // its own until then; null if there is none. `held`: whether it has its quota and waits for its
  // GPU type. Returns the delays since the last observation. They are zero at the first one,
  // because another process may have charged the earlier time.
  RoundDelays Observe(const QueueObjects& objects, const Rounds& rounds, const Workload& workload,
                      const ObservedPods& pods, const Workload* replaced, bool held, Moment at);
  // REQUIRES: the workload was observed in this pass.
  Account& Of(const Workload& workload) { return entries_.at(workload.uid).account; }
  const Account& Of(const Workload& workload) const { return entries_.at(workload.uid).account; }
  // Returns the message about the iterations that a workload repeats after a suspension, once they
  // are known; empty otherwise. Returns each message only once.
  std::string TakeLoss(const Workload& workload, const ObservedPods& pods);
  // Returns whether the account must be written into the workload's note, because the note and the
  // objects are not enough to restore it.
  bool WantsNote(const Workload& workload) const;
  // Forgets workloads that were not observed in this pass.
  void Forget();

 private:
  struct Entry {
    Account account;
    RemainingTimeCheck remaining_check;
    // Its running time when its TrainJob's status last reported a remaining time; nullopt without
    // such a report, or if its log reports the remaining time.
    std::optional<Seconds> trainer_reported;
    Seconds ran{};                    // how long all its pods have run
    WallTime charged_until{};         // `account` includes everything up to this time
    std::optional<Instant> observed;  // the time of the last observation
    uint64_t pass = 0;
    std::string job;  // the UID of its owner
  };
  // The account of a workload that is gone or finished.
  struct Left {
    RoundService service;
    WallTime charged_until{};
    Instant at{};
  };

  // Reads the remaining time of a running workload from its log or, failing that, its TrainJob.
  static void ObserveRemaining(const QueueObjects& objects, Entry& entry, const Workload& workload,
                               const ObservedPods& pods, WallTime now);
  // Gives the workload the account that an earlier workload of its job has left.
  void Inherit(Entry& entry, WallTime created);

  std::unordered_map<std::string, Entry> entries_;  // by UID
  std::unordered_map<std::string, Left> left_;      // by the UID of the job
  uint64_t pass_ = 0;
};

}  // namespace synergy
