#include <cstdint>
#include <vector>

#include "research/lab/lab_runs.h"
#include "research/reference/reference_simulator.h"

namespace synergy::cli {
namespace {

Result<> RunReference(const LabArguments& arguments, const LabOptions& options,
                      const TraceWorkload& workload, const ModelFacts& facts, RunResult& result) {
  const auto policy = ParseReferencePolicy(result.policy);
  if (!policy) return Fail(policy.error());
  const auto mechanism =
      ParseReferenceMechanism(result.mechanism == "proportional" ? "fair" : result.mechanism);
  if (!mechanism) return Fail(mechanism.error());
  std::vector<TraceJob> jobs = workload.jobs;
  for (TraceJob& job : jobs) job.arrival /= result.load;
  const auto run = SimulateReference(jobs, facts,
                                     {.servers = arguments.servers,
                                      .server = options.server,
                                      .policy = *policy,
                                      .mechanism = *mechanism,
                                      .consolidate = options.consolidate,
                                      .round = options.round,
                                      .window = options.window,
                                      .arrivals = options.arrivals});
  if (!run) return Fail(run.error());
  result.jobs = run->jobs;
  result.rounds = static_cast<uint64_t>(run->rounds);
  result.gpu_utilisation = run->mean_gpus;
  result.cpu_utilisation = run->mean_cpu;
  result.memory_utilisation = run->mean_memory;
  return {};
}

}  // namespace

Result<std::vector<RunResult>> RunAllReference(const LabArguments& arguments,
                                               const LabOptions& options, const ModelFacts& facts,
                                               const std::vector<TraceWorkload>& workloads) {
  return RunEveryWorkload(arguments, options.window.value_or(JobWindow{}), workloads,
                          [&](const TraceWorkload& workload, RunResult& result) {
                            return RunReference(arguments, options, workload, facts, result);
                          });
}

Simulator ReferenceRuns(const LabArguments& arguments, const LabOptions& options) {
  return {
      .most_gpus = {},
      .start = [&](const PresentCluster* cluster) { return StartOf(arguments, options, cluster); },
      .run =
          [&](const ModelFacts& facts, const PresentCluster* /*cluster*/,
              const std::vector<TraceWorkload>& workloads, const ReportProgress& /*report*/) {
            return RunAllReference(arguments, options, facts, workloads);
          }};
}

}  // namespace synergy::cli
