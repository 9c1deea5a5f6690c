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
#include "sim/failures/failure_figures.h"

namespace synergy {

// The times of one job.
struct JobRun {
  uint64_t id = 0;
  Seconds arrival{};
  Seconds start{-1};       // first start
  Seconds finish{-1};      // -1: not finished when the run ended
  Seconds first_part{-1};  // end of Job::first_part; -1: not in this run, or not requested
  Seconds ran{};           // while all its pods ran; only in simulations by events
  Seconds gpu_time{};      // sum over GPUs, from bind until the pod is gone; like `ran`
  uint32_t restarts = 0;   // starts after the first; moves count
  uint32_t resizes = 0;
  bool failed = false;  // permanently; `finish` is then its last failure
};

// The allocated fractions of the cluster from this time on.
struct UtilisationPoint {
  Seconds at{};
  double gpus = 0;
  double cpu = 0;
  double memory = 0;
  uint32_t running = 0;
  uint32_t waiting = 0;
};

// The placement of a job's pods, and their total allocation.
struct JobPlace {
  std::string nodes;  // in the order of binding, separated by spaces
  ResourceVector bound_with;
  // For a gang: how close its pods are to each other, and how long it waited for a better place
  // although it could have run.
  std::optional<SpreadTier> tier;
  Seconds waited_for_locality{};
  // The first start that was predicted for the job, and when; absent: it had no GPU reservation.
  struct PredictedStart {
    Seconds at{};
    Seconds start{};
  };
  std::optional<PredictedStart> predicted;
};

// A change of a pod's amounts. In simulations in rounds, each share of a job counts as one pod.
struct PlaceChange {
  enum class Kind : uint8_t { kBound, kResized, kGone };

  Seconds at{};
  std::optional<uint64_t> job;  // id of the pod's job; absent: a pod of the starting cluster
  Kind kind = Kind::kBound;
  // The pod's uid: "job-7-N" for the Nth pod of job 7, counted from 0; "job-7-N-run-2" in its
  // second run.
  std::string pod;
  std::string node;
  ResourceVector amounts;  // kResized: the amounts in force; kGone: the last amounts
};

// Figures of GPUs that jobs share (sim/sharing).
struct SharingFigures {
  // Work done until the last job arrived, as time at the jobs' own speeds alone x their GPUs,
  // divided by the time of all GPUs.
  double work_per_gpu_second = 0;
  // Pairs of jobs that ran at the same time for a trial, pairs kept after it, and pairs undone then
  // or later.
  uint64_t packs_tried = 0;
  uint64_t packs_kept = 0;
  uint64_t packs_undone = 0;
  // Pairs of models that are wrongly thought to be good, or wrongly thought not to be.
  uint64_t packs_misjudged = 0;
};

// Figures of running jobs that moved so that waiting ones fitted.
struct MoveFigures {
  uint64_t moves = 0;
  uint64_t in_vain = 0;  // moves for which the waiting job did not use the room
  // The time from the eviction of each moved job until it trained again, times its GPUs.
  Seconds gpu_time_lost{};
};

struct SimulationRun {
  std::vector<JobRun> jobs;      // in the order of the input
  std::vector<JobPlace> places;  // in the same order, for simulations by events; otherwise empty
  // Speeds at the end of the run, in the same order: 1 at the fair share, 0 for a waiting job.
  std::vector<double> last_speeds;
  uint64_t rounds = 0;     // from the first to the last, including those without a decision
  uint64_t decided = 0;    // rounds in which a plan was made
  uint64_t fell_back = 0;  // plans of Tune, used because a search found none in time
  Seconds begin{};         // first arrival
  Seconds end{};           // last finish, or when a simulation by events was cut off
  // Means from `begin` to `end`.
  double gpu_utilisation = 0;
  double cpu_utilisation = 0;
  double memory_utilisation = 0;
  // The fraction of GPUs that were free but reserved for gangs that waited for a better place.
  double kept_idle = 0;
  double worst_gap = 0;                    // among the plans that have one
  std::optional<FailureFigures> failures;  // set if jobs fail
  std::vector<UtilisationPoint> timeline;
  std::vector<PlaceChange> changes;       // by time; only if requested
  std::optional<SharingFigures> sharing;  // only if jobs may share GPUs
  std::optional<MoveFigures> moves;       // only if jobs may move
};

// Returns the name of a simulated server; the first is node-0001.
std::string ServerName(size_t server);

// An allocation mechanism, by name.
struct MechanismName {
  std::string_view name;
  std::string_view meaning;  // one line, for the help
};

// Called from time to time with the number of finished jobs.
using Progress = std::function<void(size_t finished)>;

}  // namespace synergy
