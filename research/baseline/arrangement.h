#pragma once

// A round in which every job that gets GPUs runs, and CPU and memory are settled last: jobs are
// placed by what they want (best_fit.h), even if a server has less, so that each placement takes
// account of the wants on every server; then every server is divided again (re_division.h).
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

// With 100,000 jobs a pass in the order of turns would stall on memory at each job: prefetch the
// data of the job that many turns later.
inline constexpr size_t kAhead = 8;
inline void Prefetch(const Job* job, const std::vector<Share>* shares) {
  __builtin_prefetch(job);
  __builtin_prefetch(reinterpret_cast<const char*>(job) + 64);
  __builtin_prefetch(shares);
}

// `turns`: the jobs that run in this round; together they have no more GPUs than the servers.
// Running jobs keep their servers; the others are placed in this order, on one server each if one
// has the GPUs, else on the fewest. `wanted`: by job, its target amounts.
//
// A job on several servers has equal shares there: its fair share, and as much of the rest as all
// of them can give.
Plan Arrange(std::span<const Server> servers, std::span<const Job> jobs,
             std::span<const JobIndex> turns, std::span<const ResourceVector> wanted,
             Divider& divider);

}  // namespace synergy
