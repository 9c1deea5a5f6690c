#pragma once

// The runs of `synergy simulate`: every workload at every load, under every policy and mechanism.
//
// Threading: one owner. Failures: kInvalid and kNotFound, naming file or option.

#include <functional>
#include <string>
#include <vector>

#include "cli/simulate/simulate_options.h"
#include "cli/simulate/starting_cluster.h"
#include "core/result.h"
#include "sim/model_facts.h"
#include "sim/simulator.h"
#include "sim/statistics.h"
#include "sim/trace.h"

namespace synergy::cli {

struct TraceWorkload {
  std::string name;
  std::vector<TraceJob> jobs;
  // Jobs of the file that are in no run: they never ran, or ask for more GPUs than all servers
  // have.
  size_t left_out = 0;
};

struct RunResult {
  std::string workload;
  double load = 1;
  std::string policy;
  std::string mechanism;
  RunStatistics statistics;
  size_t not_run = 0;  // TraceWorkload::left_out
  // Ids of the measured jobs that wait for ever, because pods that run for ever have their GPUs.
  std::vector<int64_t> never_placed;
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
  std::vector<JobTimes> jobs;
  std::vector<Gpus> job_gpus;  // as `jobs`
  std::vector<std::string> job_models;
  // As `jobs`, each in all; empty with --compat.
  std::vector<ResourceVector> job_fair_shares;
  std::vector<ResourceVector> job_demands;
  std::vector<JobPlace> job_places;  // as `jobs`, of a run by events; else empty
  std::vector<UtilisationPoint> timeline;
  std::vector<PlaceChange> changes;  // where asked for; none with --compat
};

// `cluster`, here and below: what the runs start from; null: empty servers, as `arguments` say.
Result<std::vector<TraceWorkload>> LoadWorkloads(const SimulateArguments& arguments,
                                                 const SimulateOptions& options,
                                                 const ModelFacts& facts,
                                                 const PresentCluster* cluster);

// What the runs start with.
StartingCluster StartOf(const SimulateArguments& arguments, const SimulateOptions& options,
                        const PresentCluster* cluster);

// `tell(run, finished, all)` as a run goes on.
using TellProgress = std::function<void(const RunResult& run, size_t finished, size_t all)>;
Result<std::vector<RunResult>> RunAll(const SimulateArguments& arguments,
                                      const SimulateOptions& options, const ModelFacts& facts,
                                      const PresentCluster* cluster,
                                      const std::vector<TraceWorkload>& workloads,
                                      const TellProgress& tell);

// The runs of --compat tiresias: every trace under every schedule.
Result<std::vector<RunResult>> RunAllTiresias(const SimulateArguments& arguments);

// The runs of --compat gavel: every workload under every policy.
Result<std::vector<RunResult>> RunAllGavel(const SimulateArguments& arguments,
                                           const TellProgress& tell);

// The runs of --elastic: every workload under every policy.
Result<std::vector<RunResult>> RunAllElastic(const SimulateArguments& arguments,
                                             const TellProgress& tell);

Result<> WriteFile(const std::string& name, const std::string& text);

// What every run of `synergy simulate` has in common, whatever simulates.
// `result` with what `simulate` sets in it, the jobs' times among that, how long this took, and the
// statistics of the jobs in `window`.
Result<RunResult> TimedRun(RunResult result, const JobWindow& window,
                           const std::function<Result<>(RunResult&)>& simulate);

}  // namespace synergy::cli
