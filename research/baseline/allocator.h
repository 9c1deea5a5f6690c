#pragma once

// Who gets what, where, in a round: the mechanisms of Synergy (OSDI'22, section 4) and of those
// that it is compared with, behind one interface.
//
// All give a job exactly its GPUs. A job that runs already (Job::holds) and is chosen again keeps
// its servers; only its CPU and memory may change.
//
// Threading: an Allocator has one owner: it remembers what it worked out before. It keeps pointers
// to the jobs' profiles, which have to outlive it.

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
  kNoGpus,  // others that go first take the GPUs
  kNoRoom,  // there are GPUs, but not the CPU or the memory that this mechanism insists on
};

struct Plan {
  std::vector<std::vector<Share>> shares;  // by job; empty: it does not run in this round
  std::vector<Unplaced> reasons;           // by job
  // For mechanisms that search for the best: how far the total throughput may be below the most
  // that is possible, as a fraction of it.
  std::optional<double> gap;
  bool fell_back = false;  // the search gave nothing in time, and Tune's plan was taken
};

class Allocator {
 public:
  virtual ~Allocator() = default;

  // `order`: all the jobs, those that go first in front.
  virtual Plan Allocate(std::span<const Server> servers, std::span<const Job> jobs,
                        std::span<const JobIndex> order) = 0;
};

// The part of `server` that belongs to `gpus` of its GPUs.
inline ResourceVector FairShareOf(const Server& server, Gpus gpus) {
  return FairShareOf(server.capacity, server.capacity.gpus, gpus);
}

// The jobs that run in a round whose mechanism never refuses one with GPUs: in order, each that
// still fits the GPUs that are left in the cluster.
std::vector<JobIndex> Runnable(std::span<const Server> servers, std::span<const Job> jobs,
                               std::span<const JobIndex> order);

// Per job its throughput in this plan, as a multiple of Job::fair_throughput; 0 for one that waits.
// A job on several servers goes at the pace of its slowest share.
std::vector<double> Speeds(std::span<const Server> servers, std::span<const Job> jobs,
                           const Plan& plan, Enforcement enforcement);

}  // namespace synergy
