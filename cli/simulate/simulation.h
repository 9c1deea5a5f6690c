#pragma once

// The runs of `synergy simulate`: every workload at every load, under every policy and mechanism.
//
// Threading: one owner. Failures: kInvalid and kNotFound, which name the file or option.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/simulate/job_profiles.h"
#include "cli/simulate/simulate_options.h"
#include "cli/simulate/starting_cluster.h"
#include "cli/simulate/workloads.h"
#include "core/result.h"
#include "policy/job.h"
#include "sim/cluster/product_simulator.h"
#include "sim/model_facts.h"
#include "sim/simulation_run.h"
#include "sim/statistics.h"

namespace synergy::cli {

struct RunResult {
  std::string workload;
  double load = 1;
  std::string policy;
  std::string mechanism;
  std::string reading;  // TraceWorkload::reading
  RunStatistics statistics;
  size_t not_run = 0;                 // TraceWorkload::left_out
  std::vector<int64_t> never_placed;  // ids of measured jobs that never start
  bool has_starting_pods = false;     // StartingCluster has pods
  uint64_t rounds = 0;
  double gpu_utilisation = 0;
  double cpu_utilisation = 0;
  double memory_utilisation = 0;
  uint64_t restarts = 0;
  uint64_t resizes = 0;
  double kept_idle = 0;  // SimulationRun::kept_idle
  double worst_gap = 0;
  uint64_t fell_back = 0;
  double wall_seconds = 0;
  double cpu_seconds = 0;
  bool has_reservations = false;           // the run should have GPU reservations
  std::optional<FailureFigures> failures;  // set if jobs fail
  Seconds mean_passed{};  // mean completion time of the measured jobs that did not fail
  std::vector<JobTimes> jobs;
  std::vector<Gpus> job_gpus;  // in the order of `jobs`
  std::vector<std::string> job_models;
  // In the order of `jobs`, totals per job; empty for simulators of other authors.
  std::vector<ResourceVector> job_fair_shares;
  std::vector<ResourceVector> job_demands;
  std::vector<JobPlace> job_places;  // in the order of `jobs`; only for simulations by events
  std::vector<UtilisationPoint> timeline;
  std::optional<SharingFigures> sharing;
  std::optional<MoveFigures> moves;
  std::vector<PlaceChange> changes;  // if requested; empty for simulators of other authors
};

// Returns the nodes and pods with which a run starts: those of `cluster` or, if it is null, empty
// servers as set by `arguments`. The functions below treat a null `cluster` in the same way.
StartingCluster StartOf(const SimulateArguments& arguments, const SimulateOptions& options,
                        const PresentCluster* cluster);

bool IsOf(std::span<const MechanismName> names, std::string_view name);

// Called during a run with the numbers of finished jobs and of all jobs.
using ReportProgress = std::function<void(const RunResult& run, size_t finished, size_t all)>;
// Simulates the product, event by event, under the policy and mechanism of each run.
Result<std::vector<RunResult>> RunAll(const SimulateArguments& arguments,
                                      const SimulateOptions& options, const ModelFacts& facts,
                                      const PresentCluster* cluster,
                                      const std::vector<TraceWorkload>& workloads,
                                      const ReportProgress& report);

// Simulates one run: `jobs` belong to the workload, and `result` names policy and mechanism.
Result<SimulationRun> RunByEvents(const SimulateArguments& arguments,
                                  const SimulateOptions& options, const TraceWorkload& workload,
                                  std::span<const Job> jobs, const JobProfiles& table,
                                  const PresentCluster* cluster, const RunResult& result,
                                  const Progress& progress);

// Copies the outcome for these jobs from `run` into `result`.
void Take(SimulationRun run, std::span<const Job> jobs, const SimulateOptions& options,
          RunResult& result);

// Simulates the workload under the load, policy and mechanism in `result`; fills the rest of
// `result`.
using SimulateWorkload = std::function<Result<>(const TraceWorkload& workload, RunResult& result)>;
// Simulates every workload at every load, under every policy and mechanism.
Result<std::vector<RunResult>> RunEveryWorkload(const SimulateArguments& arguments,
                                                const JobWindow& window,
                                                const std::vector<TraceWorkload>& workloads,
                                                const SimulateWorkload& simulate);

Result<> WriteFile(const std::string& name, const std::string& text);

// Returns `result` as filled by `simulate`, including the jobs' times, with the duration of the
// call and the statistics of the jobs in `window`.
Result<RunResult> TimedRun(RunResult result, const JobWindow& window,
                           const std::function<Result<>(RunResult&)>& simulate);

}  // namespace synergy::cli
