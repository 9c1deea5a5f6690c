#pragma once

// Runs a trace of jobs in rounds, in simulated time.
//
// Rounds begin a second after the first arrival. Decisions are made at the beginning of rounds;
// planners may also ask for decisions when a job arrives or ends within one. Progress is
// continuous. A job runs at the speed that its profile has for its amounts, and ends when its work
// is done, not at the end of the round. A job that starts, or restarts elsewhere, first loses the
// restart cost.
//
// docs/internals/simulator.md has the model's assumptions. Threading: pure.

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
  // A job that has got GPUs keeps them for at least this long.
  Seconds lease{};
  // Factor of the speed of a job on several servers.
  double spread_factor = 1;
  bool keep_changes = false;  // whether to fill SimulationRun::changes
  // The simulation gives up after this much simulated time, because some job can never run.
  Seconds limit{10.0 * 365 * 24 * 3600};
};

// The placement and amounts of all jobs from a round on, and each job's speed in seconds of
// Job::remaining per second; 0 for a waiting job.
struct PlannedRound {
  Plan plan;
  std::vector<double> speeds;
};

// Plans rounds. A planner can also identify a job by its position in the trace.
class RoundPlanner {
 public:
  virtual ~RoundPlanner() = default;

  // `jobs`: running and waiting jobs, by arrival. `places`: their positions in the trace, in the
  // same order. `begins`: whether this is the beginning of a round; it is always true unless
  // DecidesWithin(). An error ends the run.
  virtual Result<PlannedRound> Decide(std::span<const Job> jobs, std::span<const size_t> places,
                                      Seconds now, bool begins) = 0;
  // Returns whether a round may change something although no job has arrived or ended.
  virtual bool DecidesAgain(size_t waiting) const = 0;
  // Returns whether to decide also within a round, when a job arrives or ends.
  virtual bool DecidesWithin() const { return false; }
  // Charges the `stretch` of time up to `now`. The job ran in it if it Runs().
  virtual void Charge(Job& job, size_t place, Seconds stretch, Seconds now) = 0;
  // Called when the job has ended.
  virtual void Gone(size_t /*place*/) {}
};

// Runs the trace like Simulate(), but `planner` makes all decisions for these servers.
Result<SimulationRun> SimulateRounds(std::span<const Server> servers, std::span<const Job> jobs,
                                     RoundPlanner& planner, const SimulatorOptions& options,
                                     const Progress& progress = {});

// Takes `jobs` in any order. Returns kInvalid for a job that can never run on these servers.
Result<SimulationRun> Simulate(std::span<const Server> servers, std::span<const Job> jobs,
                               const Policy& policy, Mechanism& mechanism,
                               const SimulatorOptions& options, const Progress& progress = {});

}  // namespace synergy
