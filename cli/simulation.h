#pragma once

// The runs of `synergy simulate`: every workload at every load, under every policy and mechanism.
//
// Threading: one owner. Failures: kInvalid and kNotFound, naming file or option.

#include <functional>
#include <string>
#include <vector>

#include "cli/simulate_options.h"
#include "core/result.h"
#include "sim/model_facts.h"
#include "sim/simulator.h"
#include "sim/statistics.h"
#include "sim/trace.h"

namespace synergy::cli {

struct Workload {
  std::string name;
  std::vector<TraceJob> jobs;
};

struct RunResult {
  std::string workload;
  double load = 1;
  std::string policy;
  std::string mechanism;
  RunStatistics statistics;
  uint64_t rounds = 0;
  double gpu_utilisation = 0;
  double cpu_utilisation = 0;
  double memory_utilisation = 0;
  uint64_t restarts = 0;
  uint64_t resizes = 0;
  double worst_gap = 0;
  uint64_t fell_back = 0;
  double wall_seconds = 0;
  double cpu_seconds = 0;
  std::vector<JobTimes> jobs;
  std::vector<Gpus> job_gpus;  // as `jobs`
  std::vector<std::string> job_models;
  std::vector<UtilisationPoint> timeline;
};

Result<std::vector<Workload>> LoadWorkloads(const SimulateArguments& arguments,
                                            const ModelFacts& facts);

// `tell(run, finished, all)` as a run goes on.
using TellProgress = std::function<void(const RunResult& run, size_t finished, size_t all)>;
Result<std::vector<RunResult>> RunAll(const SimulateArguments& arguments,
                                      const SimulateOptions& options, const ModelFacts& facts,
                                      const std::vector<Workload>& workloads,
                                      const TellProgress& tell);

Result<> WriteFile(const std::string& name, const std::string& text);

}  // namespace synergy::cli
