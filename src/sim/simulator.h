#pragma once

// Runs a trace of jobs through rounds, in simulated time.
//
// Rounds begin a second after the first arrival. Decisions are made as they begin, and by planners
// that ask for it also when a job comes or ends within one. Progress is continuous: a job goes at
// the speed that its profile has for what it was given, and ends when its work is done, not when
// the round is. A job that starts, or starts again elsewhere, first loses the restart cost.
//
// docs/simulator.md has the model's assumptions. Threading: pure.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocation/gangs/gang_locality.h"
#include "baseline/allocator.h"
#include "baseline/mechanisms.h"
#include "core/result.h"
#include "policy/job.h"
#include "policy/policy.h"

namespace synergy {

struct SimulatorOptions {
  Seconds round{300};
  Seconds restart_cost{30};
  // A job that was given GPUs keeps them for so long before it has to be chosen again.
  Seconds lease{};
  // A job that spans servers goes at this fraction of its speed.
  double spread_factor = 1;
  bool keep_changes = false;  // SimulationRun::changes
  // The simulation gives up after this much simulated time: some job can never run.
  Seconds limit{10.0 * 365 * 24 * 3600};
};

// A job as the trace has it; Job's fields that change while it runs are set by the simulator.
struct JobRun {
  uint64_t id = 0;
  Seconds arrival{};
  Seconds start{-1};       // its first
  Seconds finish{-1};      // -1: later than the run's end
  Seconds first_part{-1};  // when Job::first_part was done; -1: not in this run, or nobody asked
  uint32_t restarts = 0;   // starts after the first, moves included
  uint32_t resizes = 0;
};

// What was allocated at the beginning of a stretch of time, as fractions of the cluster.
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
  // Of a job of several pods, a gang: how near they are, and how long it could have run, but
  // waited for a better place.
  std::optional<SpreadTier> tier;
  Seconds waited_for_locality{};
};

// What a pod has from then on. In rounds a share of a job counts as a pod of it.
struct PlaceChange {
  enum class Kind : uint8_t { kBound, kResized, kGone };

  Seconds at{};
  std::optional<uint64_t> job;  // its id; none: the pod is one of the starting cluster
  Kind kind = Kind::kBound;
  std::string pod;  // its uid: of the Nth pod of job 7 "job-7-N", from 0
  std::string node;
  ResourceVector amounts;  // kResized: in force; kGone: what it had
};

struct SimulationRun {
  std::vector<JobRun> jobs;      // in the order of the input
  std::vector<JobPlace> places;  // likewise, of a run by events; empty for one in rounds
  // Likewise, at the end of the run: 1 is a job's speed at its fair share, 0 who does not run.
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

// Called now and then with the number of jobs that finished.
using Progress = std::function<void(size_t finished)>;

// Who runs where with what from a round on, and how fast: by job, seconds of Job::remaining per
// second; 0 for one that waits.
struct PlannedRound {
  Plan plan;
  std::vector<double> speeds;
};

// Decides rounds. A job is also named by its position in the trace.
class RoundPlanner {
 public:
  virtual ~RoundPlanner() = default;

  // `jobs`: those that run or wait, by arrival; `places`, in step: their positions. `begins`: a
  // round does; never false unless DecidesWithin(). An error ends the run.
  virtual Result<PlannedRound> Decide(std::span<const Job> jobs, std::span<const size_t> places,
                                      Seconds now, bool begins) = 0;
  // Whether a round may change something though nobody came or went.
  virtual bool DecidesAgain(size_t waiting) const = 0;
  // Whether it decides within a round, too, when a job comes or ends.
  virtual bool DecidesWithin() const { return false; }
  // Books the `stretch` up to `now`, in which the job ran if it Runs().
  virtual void Book(Job& job, size_t place, Seconds stretch, Seconds now) = 0;
  // The job has ended.
  virtual void Gone(size_t /*place*/) {}
};

// As Simulate(), with all decisions left to `planner`, who plans for these servers.
Result<SimulationRun> SimulateRounds(std::span<const Server> servers, std::span<const Job> jobs,
                                     RoundPlanner& planner, const SimulatorOptions& options,
                                     const Progress& progress = {});

// `jobs` in any order. kInvalid for a job that no cluster of these servers ever runs.
Result<SimulationRun> Simulate(std::span<const Server> servers, std::span<const Job> jobs,
                               const Policy& policy, Mechanism& mechanism,
                               const SimulatorOptions& options, const Progress& progress = {});

}  // namespace synergy
