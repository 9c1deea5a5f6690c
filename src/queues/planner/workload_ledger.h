#pragma once

// Keeps an account of each workload in the queues that are ordered: what it has been served, how
// long it waited and why, and how long it still needs. An account begins with the note on the
// Workload (RoundNote), so it outlives this process.
//
// Threading: one owner. Pure: objects and time are handed in.

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/clock.h"
#include "profile/pod_progress.h"
#include "queues/elastic_rounds.h"
#include "queues/queue_objects.h"
#include "queues/round_workload.h"
#include "queues/rounds.h"

namespace synergy {

// Decides whether to trust a job's own report of how long it still needs. The report comes from its
// log, and a job that reports "a minute" forever would always go first and never lose its turn. So
// each report is compared with how long the job has run since. A report is refuted once the job has
// run for twice as long as reported plus ten minutes and does not report half as much yet; the job
// is trusted again once it does. A job that reports at least twice as much as ever before starts
// over.
class RemainingTimeCheck {
 public:
  // Returns `reported`, or nullopt if it is refuted. `ran`: how long the job has run in all.
  std::optional<Seconds> Check(Seconds reported, Seconds ran);
  bool refuted() const { return refuted_; }

 private:
  std::optional<Seconds> claimed_;  // the report that is being checked
  Seconds claimed_at_{};            // how long the job had run when it came
  Seconds most_{};                  // the longest report so far
  bool refuted_ = false;
};

// Returns how far the pod of that UID is; nullopt if that is not known.
using ProgressOf = std::function<std::optional<PodProgress>(const std::string& uid)>;

// The GPU pods of one workload, and the progress of those that run.
struct ObservedPods {
  WorkloadPods counts;
  std::optional<Duration> remaining;  // the longest of any pod
  std::optional<int64_t> iteration;   // the highest
  std::optional<double> began_at;     // the highest iteration at which a pod began
  ElasticSight sight;
  std::optional<double> rate;     // iterations a second, summed over all pods
  std::string node;               // of one of them; empty: none has a node
  std::vector<std::string> uids;  // of all
};

// Returns the pods of each workload, by its Key().
std::unordered_map<std::string, ObservedPods> ObservePods(const QueueObjects& objects,
                                                          const ProgressOf& progress);

class WorkloadLedger {
 public:
  struct Account {
    RoundService service;
    Rounds::Doing doing = Rounds::Doing::kNeither;  // at the last observation
    std::optional<int64_t> iteration;               // last in its log; only while it runs
    // When Kueue began to pass over it though it could start; nullopt: it does not.
    std::optional<Instant> overlooked_since;
  };

  void StartOver() { entries_.clear(); }

  // Begins a pass; Forget() ends it.
  void Begin() { ++pass_; }
  bool Has(const Workload& workload) const { return entries_.contains(workload.uid); }
  // Charges what the workload did since the last observation, or since its note if this is the
  // first one. `carried`: the service of a workload that it replaces. `held`: it has its quota and
  // waits for its GPU type. Returns the delays since the last observation; none at the first,
  // because another process may have charged the time before.
  RoundDelays Observe(const QueueObjects& objects, const Rounds& rounds, const Workload& workload,
                      const ObservedPods& pods, const std::optional<RoundService>& carried,
                      bool held, Moment at);
  // REQUIRES: the workload was observed in this pass.
  Account& Of(const Workload& workload) { return entries_.at(workload.uid).account; }
  const Account& Of(const Workload& workload) const { return entries_.at(workload.uid).account; }
  // Returns the message about the iterations that a workload repeats after it was suspended, once
  // they are known; empty otherwise.
  std::string TakeLoss(const Workload& workload, const ObservedPods& pods);
  // Returns whether the account differs from the workload's note by more than can be restored from
  // the note and the objects.
  bool WantsNote(const Workload& workload) const;
  // Forgets workloads that were not observed in this pass.
  void Forget();

 private:
  struct Entry {
    Account account;
    RemainingTimeCheck remaining_check;
    // The time that it had run when its TrainJob's status last reported how long it still needs;
    // nullopt if it did not, or if its log reports that.
    std::optional<Seconds> trainer_reported;
    WallTime charged_until{};         // everything up to this time is in `account`
    std::optional<Instant> observed;  // the last time
    uint64_t pass = 0;
  };

  // Reads how long a running workload still needs, from its log or, failing that, its TrainJob.
  static void ObserveRemaining(const QueueObjects& objects, Entry& entry, const Workload& workload,
                               const ObservedPods& pods, WallTime now);

  std::unordered_map<std::string, Entry> entries_;  // by UID
  uint64_t pass_ = 0;
};

}  // namespace synergy
