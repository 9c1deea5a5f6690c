#pragma once

// A round in which every job that gets GPUs runs, and CPU and memory are settled last: jobs are
// placed by what they want (best_fit.h), whether a server has that much or not, so that each
// ranking sees who wants what where; then every server is divided again (re_division.h).
//
// Threading: pure but for what the Divider remembers.

#include <cstddef>
#include <span>
#include <vector>

#include "policy/job.h"
#include "research/baseline/allocator.h"
#include "research/baseline/divider.h"

namespace synergy {

// Per dimension the largest capacity of any server, at least 1.
ResourceVector LargestOf(std::span<const Server> servers);

// With 100,000 jobs a walk in the order of turns would wait for memory at each: what will be needed
// so many jobs later is asked for now.
inline constexpr size_t kAhead = 8;
inline void Prefetch(const Job* job, const std::vector<Share>* shares) {
  __builtin_prefetch(job);
  __builtin_prefetch(reinterpret_cast<const char*>(job) + 64);
  __builtin_prefetch(shares);
}

// `turns`: the jobs that run in this round; together they have no more GPUs than the servers. Those
// that run already keep their servers, the others are placed in this order, on one server each
// where one has the GPUs, else on the fewest. `wanted`: by job, what it should have.
//
// A job on several servers has alike shares there: its fair share, and of what the division leaves
// as much as all of them can give.
Plan Arrange(std::span<const Server> servers, std::span<const Job> jobs,
             std::span<const JobIndex> turns, std::span<const ResourceVector> wanted,
             Divider& divider);

}  // namespace synergy
