#include "research/lab/gavel_form_runs.h"

#include <utility>

#include "cli/simulate/simulation.h"

namespace synergy::cli {
namespace {

Result<RunResult> RunUnder(const std::string& policy, const GavelWorkload& workload,
                           const JobWindow& window, const GavelFormSimulator& simulator,
                           const ReportProgress& report) {
  RunResult run{
      .workload = workload.name, .policy = policy, .mechanism = std::string(simulator.mechanism)};
  for (const GavelTraceJob& job : workload.jobs) {
    run.job_gpus.emplace_back(job.gpus);
    run.job_models.push_back(job.model);
  }
  return TimedRun(std::move(run), window, [&](RunResult& result) {
    return simulator.simulate(
        workload, [&](size_t finished) { report(result, finished, workload.jobs.size()); }, result);
  });
}

}  // namespace

Result<std::vector<RunResult>> RunEach(const LabArguments& arguments,
                                       const GavelThroughputs& throughputs,
                                       const GavelFormSimulator& simulator,
                                       const ReportProgress& report) {
  const auto window = WindowOf(arguments);
  if (!window) return Fail(window.error());
  const auto workloads = LoadGavelWorkloads(arguments, throughputs, simulator.fastest_type);
  if (!workloads) return Fail(workloads.error());
  if (!arguments.save.empty()) {
    if (workloads->size() != 1) return WrongOption("--save", "needs exactly one workload");
    const auto saved = WriteFile(arguments.save, ToGavelTrace(workloads->front().jobs));
    if (!saved) return Fail(saved.error());
  }
  std::vector<RunResult> results;
  for (const GavelWorkload& workload : *workloads) {
    for (const std::string& policy : arguments.policies) {
      auto result = RunUnder(policy, workload, window->value_or(JobWindow{}), simulator, report);
      if (!result) return Fail(result.error());
      results.push_back(*std::move(result));
    }
  }
  return results;
}

}  // namespace synergy::cli
