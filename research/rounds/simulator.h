#pragma once

// Runs a trace of jobs through rounds, in simulated time.
//
// Rounds begin a second after the first arrival. Decisions are made as they begin, and by planners
// that ask for it also when a job comes or ends within one. Progress is continuous: a job goes at
// the speed that its profile has for what it was given, and ends when its work is done, not when
// the round is. A job that starts, or starts again elsewhere, first loses the restart cost.
//
// docs/simulator.md has the model's assumptions. Threading: pure.

#include <span>
#include <vector>

#include "core/result.h"
#include "policy/job.h"
#include "policy/policy.h"
#include "research/baseline/allocator.h"
#include "research/baseline/mechanisms.h"
#include "sim/simulation_run.h"

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
