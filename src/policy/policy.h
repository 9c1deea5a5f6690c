#pragma once

// Policies define the order in which jobs run when not all of them can. Times are in seconds,
// service in GPU-seconds.
//
// Threading: policies hold no state of jobs; any number of threads may use them.

#include <compare>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "policy/gittins.h"
#include "policy/job.h"
#include "policy/service_queues.h"

namespace synergy {

// Ranks are compared member by member; the lower rank goes first.
struct PolicyRank {
  double first = 0;
  double second = 0;
  double third = 0;

  auto operator<=>(const PolicyRank&) const = default;
};

class Policy {
 public:
  virtual ~Policy() = default;

  // Returns a rank that depends only on the job and the time.
  virtual PolicyRank Rank(const Job& job, Seconds now) const = 0;
  // Returns whether a running job may lose its turn to another one.
  virtual bool Preempts() const { return true; }
  // Records the `stretch` up to `now` in the job's fields for this policy. In that time the job ran
  // if it Runs(). Does not update Job::attained.
  virtual void Charge(Job& /*job*/, Seconds /*stretch*/, Seconds /*now*/) const {}
};

// First come, first served: by arrival.
class Fifo final : public Policy {
 public:
  PolicyRank Rank(const Job& job, Seconds now) const override;
  bool Preempts() const override { return false; }
};

// Shortest remaining time first, at the speed of the fair share, so that the order does not depend
// on the latest allocation.
class Srtf final : public Policy {
 public:
  PolicyRank Rank(const Job& job, Seconds now) const override;
};

// Least attained service (Tiresias, NSDI'19): by GPU-time held so far.
class Las final : public Policy {
 public:
  PolicyRank Rank(const Job& job, Seconds now) const override;
};

// Finish-time fairness (Themis, NSDI'20). Compares a job's finish time, if it runs from now on at
// its fair share, with its finish time on a cluster of its own. The larger the ratio, the sooner
// the job runs.
class Ftf final : public Policy {
 public:
  PolicyRank Rank(const Job& job, Seconds now) const override;
};

// Discretised 2D-LAS (Tiresias, NSDI'19, section 3.2): orders by queue; within a queue running jobs
// come before waiting ones, then earlier entries before later ones. So no job is preempted by
// another in the same queue. In the first queue, jobs go in the order in which they started, before
// those that have not started, which go by arrival.
class QueuedLas final : public Policy {
 public:
  explicit QueuedLas(ServiceQueues queues) : queues_(std::move(queues)) {}

  PolicyRank Rank(const Job& job, Seconds now) const override;
  void Charge(Job& job, Seconds stretch, Seconds now) const override;

 private:
  ServiceQueues queues_;
};

// 2D-Gittins (Tiresias, NSDI'19, section 3.2): orders by queue; within a queue the highest Gittins
// index up to the queue's limit comes first, then running jobs before waiting ones.
class QueuedGittins final : public Policy {
 public:
  QueuedGittins(ServiceQueues queues, SizeHistory sizes)
      : queues_(std::move(queues)), sizes_(std::move(sizes)) {}

  PolicyRank Rank(const Job& job, Seconds now) const override;
  void Charge(Job& job, Seconds stretch, Seconds now) const override;

 private:
  ServiceQueues queues_;
  SizeHistory sizes_;
};

struct PolicyOptions {
  ServiceQueues queues;  // of 2d-las and 2d-gittins
  SizeHistory sizes;     // of 2d-gittins
};

struct PolicyName {
  std::string_view name;
  std::string_view meaning;   // one line, for users
  bool by_remaining = false;  // orders by the remaining times of jobs
  std::string_view needs;     // facts and fields that it needs to be useful; empty: none
  std::unique_ptr<const Policy> (*make)(const PolicyOptions&);
};

// Returns the table of all policies. A new policy takes a row here and a class above.
std::span<const PolicyName> PolicyNames();
// Returns null if there is no policy of that name.
const PolicyName* FindPolicy(std::string_view name);
// Returns the policy with this name in lower case; the error lists the valid names.
Result<std::unique_ptr<const Policy>> MakePolicy(std::string_view name,
                                                 const PolicyOptions& options = {});

// Returns the jobs in the policy's order. Jobs with a current lease come first; jobs of equal rank
// follow by arrival, then by id, so the order is total.
std::vector<JobIndex> Order(std::span<const Job> jobs, const Policy& policy, Seconds now);

}  // namespace synergy
