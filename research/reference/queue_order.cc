#include "research/reference/queue_order.h"

#include <algorithm>

namespace synergy::reference {
namespace {

double RemainingTime(const Job& job, bool fair_speed) {
  const double at_fair = job.iteration_time * static_cast<double>(job.Remaining());
  return fair_speed ? at_fair : at_fair / job.Speed();
}

// Returns a job's rank; the lowest comes first. Finish-time fairness puts the worst treated job
// last, as the authors' program does, although it should come first.
double Rank(const Job& job, const OrderContext& context) {
  switch (context.policy) {
    case ReferencePolicy::kFifo:
      return job.arrival;
    case ReferencePolicy::kSrtf:
      return RemainingTime(job, context.fair_speed);
    case ReferencePolicy::kLas:
      return job.attained * job.gpus;
    case ReferencePolicy::kFtf:
      return (context.now - job.arrival + RemainingTime(job, context.fair_speed)) /
             (job.iteration_time * static_cast<double>(job.total_iterations));
    case ReferencePolicy::kDrf: {
      double share = 0;
      for (const size_t resource : {kGpu, kCpu, kMemory})
        share = std::max(share, job.demand[resource] / context.total[resource]);
      return share;
    }
    case ReferencePolicy::kTetris: {
      const double time = RemainingTime(job, context.fair_speed);
      double weighted = 0;
      for (const size_t resource : {kGpu, kCpu, kMemory})
        weighted += job.demand[resource] / context.total[resource] * time;
      return weighted;
    }
  }
  return 0;
}

struct Ranked {
  bool has_waited;
  double rank;
  double arrival;
  Job* job;

  bool operator<(const Ranked& other) const {
    if (has_waited != other.has_waited) return has_waited;
    if (rank != other.rank) return rank < other.rank;
    return arrival < other.arrival;
  }
};

}  // namespace

void Order(std::vector<Job*>& jobs, const OrderContext& context) {
  // Jobs arrive in this order, so most rounds have nothing to sort.
  if (context.policy == ReferencePolicy::kFifo &&
      std::is_sorted(jobs.begin(), jobs.end(),
                     [](const Job* a, const Job* b) { return a->arrival < b->arrival; }))
    return;

  std::vector<Ranked> ranked;
  ranked.reserve(jobs.size());
  for (Job* const job : jobs) {
    // First come, first served ignores the precedence of jobs that have waited for long.
    const bool first = context.policy != ReferencePolicy::kFifo && job->has_waited;
    ranked.push_back({first, Rank(*job, context), job->arrival, job});
  }
  if (std::is_sorted(ranked.begin(), ranked.end())) return;
  std::stable_sort(ranked.begin(), ranked.end());
  for (size_t i = 0; i < jobs.size(); ++i) jobs[i] = ranked[i].job;
}

}  // namespace synergy::reference
