#pragma once

// A training job, and the servers it runs on, as the round-based algorithms see them: as in the
// paper, without Kubernetes.
//
// Threading: values.

#include <cstdint>
#include <span>
#include <vector>

#include "core/clock.h"
#include "core/resources.h"
#include "policy/service_queues.h"
#include "profile/job_profile.h"

namespace synergy {

// The index of a server in the list that a round was given.
using ServerIndex = uint32_t;
// The index of a job in the list that a round was given.
using JobIndex = uint32_t;

struct Server {
  ResourceVector capacity;

  bool operator==(const Server&) const = default;
};

// The share of one server that a job holds. Most jobs have one share; a job too large for one
// server has several.
struct Share {
  ServerIndex server = 0;
  ResourceVector amount;

  bool operator==(const Share&) const = default;
};

struct Job {
  uint64_t id = 0;  // tie-breaker among jobs that are otherwise alike
  Gpus gpus;
  // The job's speed with CPU and memory, for all its GPUs together. Not owned. Jobs that share a
  // profile are treated as alike.
  const JobProfile* profile = nullptr;
  ResourceVector demand;       // the least with which it runs at its best
  double fair_throughput = 1;  // the profile's throughput that `ideal` and `remaining` assume

  Seconds arrival{};
  Seconds ideal{};           // its whole running time at the fair share
  Seconds first_part{};      // part of `ideal` for its first iterations; zero: not needed
  Seconds remaining{};       // part of `ideal`
  Seconds attained{};        // GPU-seconds held so far
  QueuePlace place;          // kept by policies with queues
  std::vector<Share> holds;  // where it runs now; empty: it waits
  Seconds lease_end{};       // until then it goes before all others, if it runs

  bool Runs() const { return !holds.empty(); }
};

}  // namespace synergy
