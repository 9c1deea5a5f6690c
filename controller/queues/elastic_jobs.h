#pragma once

// The Jobs of queues whose policy is optimus (docs/optimus.md): what is learnt of them, with how
// many workers each is to run (queues/elastic_rounds.h), and the writes that change it. The
// bands of their workloads are written by RoundsDriver, which owns this.
//
// A job that runs is suspended and given its new workers in one write; Kueue makes another workload
// of that, and starts it. One that waits gets them before it gets its place. Jobs of other kinds
// keep their size.
//
// Threading: one owner.
// Failures: what cannot be written is tried again for a minute; what is refused is left until the
// next round. What was learnt is lost with the process.

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "controller/cluster/patch_rate.h"
#include "controller/queues/round_queues.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/apis/events.h"
#include "kube/apis/round_api.h"
#include "metrics/round_metrics.h"
#include "queues/elastic_rounds.h"
#include "queues/round_workload.h"
#include "queues/rounds.h"

namespace synergy::controller {

// The workloads of one queue, in the same order in all lists; the last three are of the policy
// optimus.
struct RoundQueue {
  std::vector<std::shared_ptr<const Workload>> objects;
  std::vector<RoundWorkload> workloads;
  std::vector<std::shared_ptr<const QueuedJob>> jobs;  // null: of something else
  std::vector<ElasticWorkload> elastic;
  std::vector<std::optional<int64_t>> iterations;  // that the log told last
};

class ElasticJobs {
 public:
  // All references outlive this; `rate` is that of all writes of rounds.
  ElasticJobs(const RoundObjects& objects, kube::RoundApi& api, kube::EventRecorder& events,
              ProfileCheckpoints checkpoints, const Clock& clock, PatchRate& rate, Logger& log,
              metrics::RoundMetrics& metrics);

  void StartOver();
  // Adds the workload that was added to the queue last, which has run with all its pods since
  // `runs_since`; none: it does not run.
  void Add(RoundQueue& queue, const RoundSettings& settings, std::optional<WallTime> runs_since,
           const ElasticSight& sight, std::optional<int64_t> iteration, WallTime now);
  RoundDecision Decide(const RoundSettings& settings, Gpus quota, const RoundQueue& queue,
                       bool begins, WallTime now);
  // Gives those that wait their new workers. The UIDs of workloads that do not have them yet: their
  // bands are not to be written now.
  std::set<std::string> SizeWaiting(const std::string& name, const RoundQueue& queue, WallTime now,
                                    const std::stop_token& stop);
  // Gives those that run theirs: once nobody who waits is sized any more.
  void SizeRunning(const std::string& name, const RoundQueue& queue, WallTime now,
                   const std::stop_token& stop);
  // What the workload that a job had before its workers were changed has had; once.
  std::optional<RoundService> TakeCarried(const std::string& job);
  // `jobs`: UIDs of all that have a workload in any of the queues.
  void ForgetOthers(std::set<std::string> jobs);

 private:
  struct Due {
    size_t index;  // in the queue
    WorkerChange change;
  };

  std::shared_ptr<const QueuedJob> JobOf(const Workload& workload) const;
  // Why its workers are not changed; empty: nothing is wrong.
  std::string ProblemOf(const Workload& workload, const QueuedJob& job) const;
  std::vector<Due> FindDue(const RoundQueue& queue, RoundState state, WallTime now) const;
  void Write(const std::string& name, const RoundQueue& queue, const std::vector<Due>& due,
             const std::stop_token& stop);

  const RoundObjects& objects_;
  kube::RoundApi& api_;
  kube::EventRecorder& events_;
  const ProfileCheckpoints checkpoints_;
  const Clock& clock_;
  PatchRate& rate_;
  Logger& log_;
  metrics::RoundMetrics& metrics_;
  ElasticRounds rounds_;
  std::unordered_map<std::string, RoundService> carried_;  // by the job's UID
  std::unordered_map<std::string, std::string> told_;      // problems, likewise
};

}  // namespace synergy::controller
