#pragma once

// The interface of the mechanisms that allocate a round: those of Synergy (OSDI'22, section 4), and
// those with which they are compared.
//
// All mechanisms give a job exactly its GPUs. If a running job (Job::holds) is chosen again, it
// keeps its servers; only its CPU and memory may change.
//
// Threading: an Allocator has one owner. It caches results, and keeps pointers to the jobs'
// profiles. REQUIRES: the profiles outlive it.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "allocation/fair_share.h"
#include "cluster/managed_container.h"
#include "core/result.h"
#include "policy/job.h"

namespace synergy {

enum class Unplaced : uint8_t {
  kPlaced,
  kNoGpus,  // jobs with precedence get the GPUs
  kNoRoom,  // enough GPUs, but not the CPU or memory that this mechanism requires
};

struct Plan {
  std::vector<std::vector<Share>> shares;  // by job; empty if the job does not run in this round
  std::vector<Unplaced> reasons;           // by job
  // For mechanisms that optimise: the largest fraction of the optimum that the total throughput may
  // lack.
  std::optional<double> gap;
  bool fell_back = false;  // the search found no plan in time, so this is Tune's plan
};

class Allocator {
 public:
  virtual ~Allocator() = default;

  // `order`: all jobs, in order of precedence.
  virtual Plan Allocate(std::span<const Server> servers, std::span<const Job> jobs,
                        std::span<const JobIndex> order) = 0;
};

// Returns the share of `server` for `gpus` of its GPUs.
inline ResourceVector FairShareOf(const Server& server, Gpus gpus) {
  return FairShareOf(server.capacity, server.capacity.gpus, gpus);
}

// Returns the jobs that run in a round if the mechanism never refuses a job for which there are
// GPUs. These are, in order, all jobs that fit the cluster's remaining GPUs.
std::vector<JobIndex> Runnable(std::span<const Server> servers, std::span<const Job> jobs,
                               std::span<const JobIndex> order);

// Returns each job's throughput in this plan, as a multiple of Job::fair_throughput; 0 for a
// waiting job. A job on several servers is as fast as its slowest share.
std::vector<double> Speeds(std::span<const Server> servers, std::span<const Job> jobs,
                           const Plan& plan, Enforcement enforcement);

}  // namespace synergy
