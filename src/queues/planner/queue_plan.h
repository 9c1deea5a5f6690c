#pragma once

// A plan of the queue planner (queue_planner.h): the writes, their outcomes, and the order in which
// Workloads are written.
//
// Threading: values.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "queues/planner/elastic_jobs.h"
#include "queues/planner/queued_workload.h"
#include "queues/round_policy.h"
#include "queues/rounds.h"

namespace synergy {

// A change of a Workload.
struct WorkloadWrite {
  // The kinds, in the order in which they are written. In this order, no workload that should keep
  // running ever has a lower priority than a waiting one.
  enum class Kind : uint8_t {
    kRestoreWaiting,
    kProtect,  // a running workload gets the upper band
    kRestoreRunning,
    kWithdraw,  // a waiting workload loses the upper band
    kLower,     // a running workload loses the upper band
    // A waiting workload gets the upper band. Kueue then considers the workload at once, but not
    // again when a running workload's priority falls later. So kRaise follows kLower.
    kRaise,
    kSort,  // a workload moves between the two lower bands
    kNote,  // only the note changes
  };

  Kind kind = Kind::kNote;
  std::shared_ptr<const Workload> workload;
  int64_t priority = 0;
  std::optional<RoundNote> note;  // nullopt: the note is removed
  std::string_view why;           // text for users
  std::string queue = {};         // the ordered ClusterQueue
  // The event about the turn that the workload loses, to record once the change is written.
  std::optional<JobNotice> lost_turn = {};
};

struct PolicyStatusWrite {
  std::shared_ptr<const RoundPolicy> policy;
  RoundPolicyStatus status;  // without `since`
};

struct QueuePlan {
  std::vector<JobNotice> notices;             // events to record even if writes fail
  std::vector<WorkersWrite> waiting_jobs;     // write these first
  std::vector<WorkloadWrite> writes;          // write these second, in this order
  std::vector<WorkersWrite> running_jobs;     // write these last, except those of PendingQueues()
  std::vector<PolicyStatusWrite> statuses;    // write these at any time
  std::map<std::string, RoundDelays> delays;  // by ClusterQueue, since the last plan
};

enum class WriteOutcome : uint8_t {
  kNotTried,
  kWritten,
  kUnseen,    // an earlier write of the same object has not been observed yet
  kOutdated,  // the object has changed or is gone
  kRefused,   // by the API server, permanently
  kFailed,
};

// The outcomes of the plan's writes. Each vector has the order of its counterpart in QueuePlan.
struct QueueOutcome {
  std::vector<WriteOutcome> waiting_jobs;
  std::vector<WriteOutcome> writes;
  std::vector<WriteOutcome> running_jobs;
};

// Returns the queues in which the API server has neither accepted nor refused one of the writes
// that give workloads their bands.
std::set<std::string> PendingQueues(const QueuePlan& plan, const std::vector<WriteOutcome>& writes);

// Carries out single writes for WriteInOrder().
class WorkloadWriter {
 public:
  virtual ~WorkloadWriter() = default;
  // Returns whether an earlier write of the same object has not been observed yet.
  virtual bool IsUnseen(const WorkloadWrite& write) = 0;
  // Returns whether another write may be made now.
  virtual bool MayWrite() = 0;
  virtual WriteOutcome Write(const WorkloadWrite& write) = 0;
};
// Makes the plan's writes of workloads, and returns the outcome of each. Raises no workload of a
// queue in which a running one could not be lowered, because Kueue would evict another workload.
// Skips the rest of a queue after three failures, because each write takes seconds to fail while
// the API server is down.
std::vector<WriteOutcome> WriteInOrder(const QueuePlan& plan, WorkloadWriter& writer);

}  // namespace synergy
