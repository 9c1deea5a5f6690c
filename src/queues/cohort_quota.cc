#include "queues/cohort_quota.h"

#include <algorithm>

namespace synergy {

RoundQuotas RoundQuotas::OfCohort(std::span<const QueueDemand> queues, Gpus shared) {
  RoundQuotas quotas;
  quotas.pool = shared;
  Gpus total = shared;
  for (const QueueDemand& queue : queues) total += queue.nominal;
  for (const QueueDemand& queue : queues) {
    const Gpus spare = std::max(queue.nominal - queue.need, Gpus(0));
    const Gpus lent = std::min(spare, queue.lending.value_or(queue.nominal));
    QueueQuota& quota = quotas.queues.emplace_back();
    quota.own = queue.nominal - lent;
    quota.borrows = queue.borrowing.value_or(total);
    quota.held = std::max(queue.used - quota.own, Gpus(0));
    quotas.pool += lent;
  }
  return quotas;
}

Gpus RoundQuotas::MostOf(size_t queue) const {
  return queues[queue].own + std::min(queues[queue].borrows, pool);
}

QuotaLeft::QuotaLeft(const RoundQuotas& quotas) : pool_(quotas.pool) {
  for (const QueueQuota& queue : quotas.queues)
    queues_.push_back({queue.own, queue.borrows, queue.held, Gpus(0)});
}

Gpus QuotaLeft::PoolFor(size_t queue) const {
  Gpus pool = pool_ - queues_[queue].borrowed;
  for (size_t other = 0; other < queues_.size(); ++other) {
    if (other != queue) pool -= std::max(queues_[other].borrowed, queues_[other].held);
  }
  return std::max(std::min(pool, queues_[queue].borrows - queues_[queue].borrowed), Gpus(0));
}

Gpus QuotaLeft::Of(size_t queue) const { return queues_[queue].own + PoolFor(queue); }

void QuotaLeft::Take(size_t queue, Gpus gpus) {
  Left& left = queues_[queue];
  const Gpus beyond = gpus - std::clamp(left.own, Gpus(0), gpus);
  const Gpus borrowed = std::min(beyond, PoolFor(queue));
  left.own -= gpus - borrowed;
  left.borrowed += borrowed;
}

}  // namespace synergy
