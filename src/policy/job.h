#pragma once

// A training job, and the servers it runs on, as the round-based algorithms see them: the paper's
// view, without Kubernetes.
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

// Where a server stands in the list that a round was given.
using ServerIndex = uint32_t;
// Where a job stands in the list that a round was given.
using JobIndex = uint32_t;

struct Server {
  ResourceVector capacity;

  bool operator==(const Server&) const = default;
};

// What a job holds on one server. Most jobs have one share; a job that no server holds has several.
struct Share {
  ServerIndex server = 0;
  ResourceVector amount;

  bool operator==(const Share&) const = default;
};

struct Job {
  uint64_t id = 0;  // orders jobs that are alike otherwise
  Gpus gpus;
  // What it can do with CPU and memory, all its GPUs together. Not owned. Jobs that share a profile
  // are treated as alike.
  const JobProfile* profile = nullptr;
  ResourceVector demand;       // the least with which it runs at its best
  double fair_throughput = 1;  // the profile's throughput that `ideal` and `remaining` are told in

  Seconds arrival{};
  Seconds ideal{};           // its whole running time at the fair share
  Seconds first_part{};      // of that, its first iterations; zero: nobody asks for them
  Seconds remaining{};       // of `ideal`
  Seconds attained{};        // GPU-seconds held so far
  QueuePlace place;          // of policies with queues, which keep it
  std::vector<Share> holds;  // where it runs now; empty: it waits
  Seconds lease_end{};       // while it runs and this lies ahead, it goes before all others

  bool Runs() const { return !holds.empty(); }
};

}  // namespace synergy
