#pragma once

// Answers a planner's questions about a trace: how much time Synergy saves, how many fewer servers
// give the same waits, and how many CPUs a GPU should have (docs/plan.md).
//
// Threading: pure, except for the simulations.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "core/units.h"

namespace synergy::cli {

struct PlanQuestion {
  std::string baseline;  // a mechanism
  std::string with;      // the mechanism to compare with it
  int64_t servers = 1;
  int64_t gpus = 8;                // per server
  int64_t cpus = 24;               // per server
  int64_t largest_job = 1;         // GPUs
  double least_cpus_per_gpu = 1;   // fewer are not simulated
  bool models_drawn = false;       // for some jobs
  std::vector<uint64_t> seeds{1};  // seeds of the drawn models; the first is the main one
  size_t seeds_of_servers = 1;     // with how many of them servers are counted; 1 or more
};

struct PlanPoint {
  std::string mechanism;
  int64_t servers = 0;
  int64_t cpus = 0;  // per server
  uint64_t seed = 0;
  size_t jobs = 0;      // that have finished
  size_t left_out = 0;  // that have not finished
  std::string left_out_because;
  Seconds mean{};  // completion time; so is p95
  Seconds p95{};
  Seconds p95_wait{};         // time in which a job does not run, also between its turns
  double gpu_hours = 0;       // while jobs held them
  bool extrapolated = false;  // the profiles have no point with so many CPUs
};

struct Plan {
  std::string workload;
  std::string reading;  // TraceWorkload::reading
  int64_t gpus = 8;     // per server
  PlanPoint baseline;
  PlanPoint with;
  bool models_drawn = false;
  int64_t least_servers = 1;  // with GPUs for the largest job
  // The fewest servers with which the 95th percentile of waits is at most the baseline's; larger
  // numbers that were tried (all of them, up to 32) suffice, too. Absent: even the baseline's
  // number does not suffice. `baseline_fewest`: the same for the baseline itself.
  std::optional<PlanPoint> fewest;
  PlanPoint baseline_fewest;
  std::vector<int64_t> enough;    // the servers of `fewest`, or else all, for each seed
  std::vector<PlanPoint> ratios;  // by CPUs, with the other mechanism and the same servers
  // The mean under the baseline divided by that with the mechanism, for each seed.
  std::vector<double> gains;

  int64_t GpusFewer() const { return fewest ? (baseline.servers - fewest->servers) * gpus : 0; }
};

// Fills `point`, whose mechanism, servers, CPUs and seed are set.
using SimulatePoint = std::function<Result<>(PlanPoint& point)>;

// Simulates as often as the answers require: 6 times, twice for each further seed, and for each
// count of servers up to 38 times. Fails in the same ways as `simulate`, and with kNotFound if no
// job ends.
Result<Plan> MakePlan(const PlanQuestion& question, const SimulatePoint& simulate);

// `price`: the price of a GPU for an hour; absent: the table has no costs.
std::string ToPlanTable(const Plan& plan, std::optional<double> price);
// Returns an object for one plan, otherwise an array.
std::string ToPlanJson(std::span<const Plan> plans, std::optional<double> price);

}  // namespace synergy::cli
