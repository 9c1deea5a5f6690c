#pragma once

// Plans the number of workers of the Jobs in elastic queues (docs/internals/optimus.md). Records
// the progress of each job, decides its size at the start of a round (queues/elastic_rounds.h), and
// returns the changes that are due.
//
// A running job is suspended and resized in one write. Kueue then replaces its workload and starts
// the job again. A waiting job is resized before it gets its place in the queue. Jobs of other
// kinds keep their size.
//
// No job gets more workers than the empty nodes have room for, unless all its workers already run.
//
// Threading: one owner. Pure. Failures: a change that was not written stays due for a minute. A
// change that the API server refused is not retried before the next round. A restart of this
// process loses the records.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/clock.h"
#include "queues/elastic_rounds.h"
#include "queues/planner/queued_workload.h"
#include "queues/queue_objects.h"
#include "queues/rounds.h"

namespace synergy {

// Returns the number of the workload's pods for which the nodes have room, as PodsOnEmptyNodes()
// does (queues/empty_nodes.h). `quota`: the quota of its ClusterQueue.
using PodRoom = std::function<int64_t(const Workload& workload, Gpus quota)>;

// A change of the number of workers of a Job.
struct WorkersWrite {
  std::shared_ptr<const QueuedJob> job;
  std::string queue;
  WorkerChange change;
  // For a running job: the event to record once the change is written.
  std::optional<JobNotice> notice;
};

class ElasticJobs {
 public:
  void StartOver();
  // Sets `job` and `elastic` of a workload. `runs_since`: when the last of its pods began to run;
  // nullopt if not all run. Appends an event if the job requests to be elastic but cannot be.
  void Observe(const QueueObjects& objects, const ProfileCheckpoints& checkpoints,
               const RoundSettings& settings, std::optional<WallTime> runs_since,
               const ElasticSight& sight, WallTime now, QueuedWorkload& workload,
               std::vector<JobNotice>& notices);
  RoundDecision Decide(const RoundSettings& settings, Gpus quota, const PodRoom& room,
                       const QueuedWorkloads& queue, bool begins, WallTime now);
  // Returns the changes that are due for workloads in `state`, jobs that shrink before jobs that
  // grow.
  std::vector<WorkersWrite> Due(const std::string& name, const QueuedWorkloads& queue,
                                RoundState state, WallTime now) const;
  // Returns the UIDs of the waiting workloads that do not have their new size yet. The caller must
  // not write their bands until Kueue has observed the new size.
  std::set<std::string> Sizing(const QueuedWorkloads& queue, WallTime now) const;
  void OnWritten(const WorkersWrite& write);
  void OnRefused(const WorkersWrite& write);
  // Forgets all jobs except those in `objects` and those with UIDs in `jobs`, which have a workload
  // in an elastic queue.
  void ForgetOthers(const QueueObjects& objects, std::set<std::string> jobs);

 private:
  std::optional<WorkerChange> ChangeOf(const QueuedWorkload& workload, WallTime now) const;

  ElasticRounds rounds_;
  std::unordered_map<std::string, std::string> problems_;  // last reported, by the job's UID
};

}  // namespace synergy
