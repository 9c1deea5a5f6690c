#pragma once

// A training job and the servers on which it runs, in the terms of the papers on round-based
// scheduling, without those of Kubernetes.
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

// The index of a server in the list passed to a round.
using ServerIndex = uint32_t;
// The index of a job in the list passed to a round.
using JobIndex = uint32_t;

struct Server {
  ResourceVector capacity;

  bool operator==(const Server&) const = default;
};

// The share of one server that a job holds. Most jobs have one share; a job that is too large for
// one server has several.
struct Share {
  ServerIndex server = 0;
  ResourceVector amount;

  bool operator==(const Share&) const = default;
};

struct Job {
  uint64_t id = 0;  // breaks ties between jobs that are otherwise alike
  Gpus gpus;
  // The job's speed as a function of CPU and memory, for all its GPUs together. Not owned. Jobs
  // that share a profile count as alike.
  const JobProfile* profile = nullptr;
  ResourceVector demand;       // the least amounts for its best speed
  double fair_throughput = 1;  // the profile's throughput that `ideal` and `remaining` assume

  Seconds arrival{};
  Seconds ideal{};           // its whole running time at the fair share
  Seconds first_part{};      // part of `ideal` for its first iterations; zero: not needed
  Seconds remaining{};       // part of `ideal`
  Seconds attained{};        // GPU-seconds held so far
  QueuePlace place;          // for policies with queues
  std::vector<Share> holds;  // where it runs now; empty: it waits
  Seconds lease_end{};       // until then, a running job precedes all others

  bool Runs() const { return !holds.empty(); }
};

}  // namespace synergy
