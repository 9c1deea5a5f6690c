#include "queues/planner/queue_decisions.h"

#include <algorithm>
#include <cstddef>

#include "queues/cohort_quota.h"

namespace synergy {
namespace {

QueueDemand DemandOf(const SharingQueue& sharing) {
  const ClusterQueue& queue = *sharing.queue;
  QueueDemand demand{.nominal = queue.quota,
                     .lending = queue.lending,
                     .borrowing = queue.borrowing,
                     .need = {},
                     .used = {}};
  for (const auto& workload : *sharing.workloads) {
    const Gpus gpus = workload.round.gpus;
    const bool uses = workload.object->has_quota;
    if (uses) demand.used += gpus;
    if (uses || !(workload.round.left_alone || workload.round.Rests())) demand.need += gpus;
  }
  return demand;
}

RoundQuotas QuotasOf(std::span<const SharingQueue> queues, std::span<const QueueDemand> demands,
                     Gpus shared) {
  if (queues.size() == 1 && queues.front().queue->cohort.empty())
    return RoundQuotas::Alone(demands.front().nominal);
  return RoundQuotas::OfCohort(demands, shared);
}

}  // namespace

std::vector<QueueDecision> DecideTogether(const Rounds& rounds,
                                          std::span<const SharingQueue> queues, Gpus shared,
                                          bool begins, WallTime now) {
  std::vector<QueueDemand> demands;
  std::vector<RoundWorkload> workloads;
  std::vector<size_t> first;  // the index of each queue's first workload
  bool is_leaving = false;
  Gpus free = shared;
  for (const SharingQueue& queue : queues) {
    first.push_back(workloads.size());
    for (const QueuedWorkload& workload : *queue.workloads) {
      workloads.push_back(workload.round);
      workloads.back().queue = demands.size();
      is_leaving |= workload.round.state == RoundState::kLeaves;
    }
    demands.push_back(DemandOf(queue));
    free += demands.back().nominal - demands.back().used;
  }
  const RoundQuotas quotas = QuotasOf(queues, demands, shared);
  const QuotaLeft unused(quotas);
  std::vector<QueueDecision> decided;
  for (size_t queue = 0; queue < queues.size(); ++queue)
    decided.push_back({{}, unused.Of(queue), free, is_leaving});
  // Elastic queues are decided one by one, in ElasticRounds.
  if (rounds.IsElastic()) return decided;
  const RoundDecision all = rounds.Decide(quotas, workloads, begins, now);
  for (size_t index = 0; index < workloads.size(); ++index)
    decided[workloads[index].queue].decision.verdicts.push_back(all.verdicts[index]);
  for (const size_t index : all.order) {
    const size_t queue = workloads[index].queue;
    decided[queue].decision.order.push_back(index - first[queue]);
  }
  return decided;
}

Gpus RoomForTurns(const SharingQueue& queue, const QueueDecision& decided) {
  Gpus used;
  Gpus giving;
  for (size_t index = 0; index < queue.workloads->size(); ++index) {
    const QueuedWorkload& workload = (*queue.workloads)[index];
    if (!workload.object->has_quota) continue;
    used += workload.round.gpus;
    const bool gives_way = workload.round.state == RoundState::kRuns &&
                           !workload.round.left_alone && workload.round.band != Band::kRuns &&
                           decided.decision.verdicts[index].band != Band::kRuns;
    if (gives_way) giving += workload.round.gpus;
  }
  const Gpus room = std::min(decided.most - used, decided.free);
  return decided.is_leaving || !queue.queue->TakesTurns() ? room : room + giving;
}

}  // namespace synergy
