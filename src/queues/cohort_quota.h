#pragma once

// The GPUs that the ClusterQueues of a cohort may use, as Kueue lends them.
//
// A queue lends the GPUs that its own workloads do not need, up to its lending limit. The lent GPUs
// form a pool, from which the other queues borrow, up to their borrowing limits. Borrowed GPUs that
// a queue uses now stay with it: Kueue frees them only for workloads of that queue, or if the queue
// uses more than the lenders can spare.
//
// Threading: values; pure.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/units.h"

namespace synergy {

struct QueueDemand {
  Gpus nominal;
  std::optional<Gpus> lending;    // the most that it lends; nullopt: all
  std::optional<Gpus> borrowing;  // the most that it borrows; nullopt: all
  Gpus need;                      // GPUs of the workloads that run or may run
  Gpus used;                      // GPUs of the workloads that have their quota
};

struct QueueQuota {
  Gpus own;      // the part of its own quota that it does not lend
  Gpus borrows;  // the most of the pool that it may use
  Gpus held;     // the part of the pool that it uses now
};

struct RoundQuotas {
  std::vector<QueueQuota> queues;
  Gpus pool;

  // Returns the quotas for a single queue that borrows and lends nothing.
  static RoundQuotas Alone(Gpus quota) { return {.queues = {{.own = quota}}}; }
  // `shared`: the quota of the cohort itself.
  static RoundQuotas OfCohort(std::span<const QueueDemand> queues, Gpus shared);

  // Returns the most GPUs that a workload of the queue can have.
  Gpus MostOf(size_t queue) const;
};

// Tracks the unused part of the quotas while workloads are chosen.
class QuotaLeft {
 public:
  explicit QuotaLeft(const RoundQuotas& quotas);

  // Returns the GPUs that a further workload of the queue may have; below zero if workloads that
  // are never suspended use more than the quota.
  Gpus Of(size_t queue) const;
  void Take(size_t queue, Gpus gpus);

 private:
  struct Left {
    Gpus own;
    Gpus borrows;
    Gpus held;
    Gpus borrowed;
  };

  // Returns the GPUs that the queue may still take from the pool.
  Gpus PoolFor(size_t queue) const;

  std::vector<Left> queues_;
  Gpus pool_;
};

}  // namespace synergy
