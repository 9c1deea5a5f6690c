#pragma once

// The allocation of a round: the mechanisms of Synergy (OSDI'22, section 4) and of those that it is
// compared with, behind one interface.
//
// All mechanisms give a job exactly its GPUs. A running job (Job::holds) that is chosen again keeps
// its servers; only its CPU and memory may change.
//
// Threading: an Allocator has one owner; it caches results. It keeps pointers to the jobs'
// profiles, which have to outlive it.

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
  kNoGpus,  // jobs with precedence take the GPUs
  kNoRoom,  // there are GPUs, but not the CPU or the memory that this mechanism requires
};

struct Plan {
  std::vector<std::vector<Share>> shares;  // by job; empty: the job does not run in this round
  std::vector<Unplaced> reasons;           // by job
  // For mechanisms that optimise: how far the total throughput may be below the optimum, as a
  // fraction of it.
  std::optional<double> gap;
  bool fell_back = false;  // the search found nothing in time, and Tune's plan was used
};

class Allocator {
 public:
  virtual ~Allocator() = default;

  // `order`: all jobs, in order of precedence.
  virtual Plan Allocate(std::span<const Server> servers, std::span<const Job> jobs,
                        std::span<const JobIndex> order) = 0;
};

// Returns the part of `server` that belongs to `gpus` of its GPUs.
inline ResourceVector FairShareOf(const Server& server, Gpus gpus) {
  return FairShareOf(server.capacity, server.capacity.gpus, gpus);
}

// Returns the jobs that run in a round whose mechanism never refuses a job with GPUs: in order,
// each job that still fits the cluster's remaining GPUs.
std::vector<JobIndex> Runnable(std::span<const Server> servers, std::span<const Job> jobs,
                               std::span<const JobIndex> order);

// Returns each job's throughput in this plan, as a multiple of Job::fair_throughput; 0 for a
// waiting job. A job on several servers runs at the pace of its slowest share.
std::vector<double> Speeds(std::span<const Server> servers, std::span<const Job> jobs,
                           const Plan& plan, Enforcement enforcement);

}  // namespace synergy
