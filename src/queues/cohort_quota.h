#pragma once

// The GPUs that the ClusterQueues of a cohort may use, as Kueue lends them.
//
// A queue lends what its own workloads do not need, up to its lending limit; the others borrow from
// this pool, up to their borrowing limits. Borrowed GPUs that a queue uses now stay with it: to get
// them, Kueue evicts only workloads of that queue, or those that exceed what the lenders can spare.
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
  Gpus need;                      // of the workloads that run or may run
  Gpus used;                      // of the workloads that have their quota
};

struct QueueQuota {
  Gpus own;      // its part of its own quota, which it does not lend
  Gpus borrows;  // the most of the pool that it may use
  Gpus held;     // what it uses of the pool now
};

struct RoundQuotas {
  std::vector<QueueQuota> queues;
  Gpus pool;

  // Returns the quota of a queue that borrows and lends nothing.
  static RoundQuotas Alone(Gpus quota) { return {.queues = {{.own = quota}}}; }
  // `shared`: the quota of the cohort itself.
  static RoundQuotas OfCohort(std::span<const QueueDemand> queues, Gpus shared);

  // Returns the most GPUs that a workload of the queue can have.
  Gpus MostOf(size_t queue) const;
};

// Keeps what is left of the quotas while workloads are chosen.
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

  // Returns what the queue may still take from the pool.
  Gpus PoolFor(size_t queue) const;

  std::vector<Left> queues_;
  Gpus pool_;
};

}  // namespace synergy
