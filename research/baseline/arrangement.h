#pragma once

// Plans a round in which every job that gets GPUs runs, and CPU and memory are decided last. First,
// jobs are placed by their wanted amounts (best_fit.h), even if a server has less. So each
// placement considers the wanted amounts of all jobs on every server. Then every server is divided
// again (re_division.h).
//
// Threading: pure except for the Divider's cache.

#include <cstddef>
#include <span>
#include <vector>

#include "policy/job.h"
#include "research/baseline/allocator.h"
#include "research/baseline/divider.h"

namespace synergy {

// Returns, per dimension, the largest capacity of any server, at least 1.
ResourceVector LargestOf(std::span<const Server> servers);

// With 100,000 jobs, a pass in the order of turns would have to wait for memory at each job. So the
// pass prefetches the data of the job that comes this many turns later.
inline constexpr size_t kAhead = 8;
inline void Prefetch(const Job* job, const std::vector<Share>* shares) {
  __builtin_prefetch(job);
  __builtin_prefetch(reinterpret_cast<const char*>(job) + 64);
  __builtin_prefetch(shares);
}

// `turns`: the jobs that run in this round; together they need no more GPUs than the servers have.
// Running jobs keep their servers. The others are placed in this order: on one server if one has
// the GPUs, else on as few as possible. `wanted`: each job's target amounts.
//
// A job on several servers has equal shares on them: its fair share, and as much of the rest as
// each of them can give.
Plan Arrange(std::span<const Server> servers, std::span<const Job> jobs,
             std::span<const JobIndex> turns, std::span<const ResourceVector> wanted,
             Divider& divider);

}  // namespace synergy
