#pragma once

// The course of a simulated run: when jobs ran, where their pods went, and what was allocated.
//
// Threading: values.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/gangs/gang_locality.h"
#include "core/clock.h"
#include "core/resources.h"

namespace synergy {

// When a job ran.
struct JobRun {
  uint64_t id = 0;
  Seconds arrival{};
  Seconds start{-1};       // its first
  Seconds finish{-1};      // -1: later than the run's end
  Seconds first_part{-1};  // when Job::first_part was done; -1: not in this run, or nobody asked
  uint32_t restarts = 0;   // starts after the first, moves included
  uint32_t resizes = 0;
};

// The amounts allocated at the beginning of a stretch of time, as fractions of the cluster.
struct UtilisationPoint {
  Seconds at{};
  double gpus = 0;
  double cpu = 0;
  double memory = 0;
  uint32_t running = 0;
  uint32_t waiting = 0;
};

// Where a job's pods went, and with how much in all.
struct JobPlace {
  std::string nodes;  // in the order in which they were bound, with spaces between
  ResourceVector bound_with;
  // A job of several pods, a gang: how near they are, and how long it could have run, but
  // waited for a better place.
  std::optional<SpreadTier> tier;
  Seconds waited_for_locality{};
};

// The amounts of a pod from then on. In rounds a share of a job counts as a pod of it.
struct PlaceChange {
  enum class Kind : uint8_t { kBound, kResized, kGone };

  Seconds at{};
  std::optional<uint64_t> job;  // its id; none: the pod is one of the starting cluster
  Kind kind = Kind::kBound;
  // Its uid: of the Nth pod of job 7 "job-7-N", from 0; of its second run "job-7-N-run-2".
  std::string pod;
  std::string node;
  ResourceVector amounts;  // kResized: in force; kGone: what it had
};

struct SimulationRun {
  std::vector<JobRun> jobs;      // in the order of the input
  std::vector<JobPlace> places;  // in that order, of a run by events; empty for one in rounds
  // Speeds at the end of the run, in the same order: 1 at the fair share, 0 for a waiting job.
  std::vector<double> last_speeds;
  uint64_t rounds = 0;     // from the first to the last, those with nothing to decide included
  uint64_t decided = 0;    // in which a plan was made
  uint64_t fell_back = 0;  // plans that were Tune's because a search gave nothing in time
  Seconds begin{};         // first arrival
  Seconds end{};           // last finish, or when a run by events was ended before
  // Means over that time.
  double gpu_utilisation = 0;
  double cpu_utilisation = 0;
  double memory_utilisation = 0;
  // GPUs that were free and wanted by gangs that waited for a better place.
  double kept_idle = 0;
  double worst_gap = 0;  // of the plans that have one
  std::vector<UtilisationPoint> timeline;
  std::vector<PlaceChange> changes;  // in the order of time, where asked for
};

// The name of a simulated server: node-0001 is the first.
std::string ServerName(size_t server);

// A way to say who gets what, by its name.
struct MechanismName {
  std::string_view name;
  std::string_view meaning;  // one line, for people
};

// Called now and then with the number of jobs that finished.
using Progress = std::function<void(size_t finished)>;

}  // namespace synergy
