#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "research/gavel/gavel_input.h"
#include "research/gavel/gavel_simulator.h"
#include "research/lab/gavel_form_runs.h"
#include "research/lab/gavel_solves.h"
#include "research/lab/gavel_workloads.h"
#include "research/lab/gpu_types.h"
#include "research/lab/lab_runs.h"

namespace synergy::cli {
namespace {

// Reads all options except the policy.
Result<GavelOptions> ReadGavelOptions(const LabArguments& arguments,
                                      const GavelThroughputs& throughputs) {
  if (arguments.types.empty()) {
    return WrongOption("--types",
                       "set GPU types and their numbers of GPUs, as v100=12,p100=12,k80=12");
  }
  auto types = ReadGpuTypes(arguments, throughputs);
  if (!types) return Fail(types.error());
  return GavelOptions{.types = std::move(types->names),
                      .gpus = std::move(types->gpus),
                      .costs = std::move(types->costs),
                      .policy = {},
                      .on_solve = {},
                      .on_finished = {}};
}

// Checks that there is only one run, because --solves records a single one.
Result<> CheckSolves(const LabArguments& arguments) {
  const size_t workloads = arguments.traces.size() + arguments.workloads.size();
  if (!arguments.solves.empty() && workloads * arguments.policies.size() != 1) {
    return WrongOption("--solves", "needs exactly one workload and one policy");
  }
  return {};
}

}  // namespace

Result<std::vector<RunResult>> RunAllGavel(const LabArguments& arguments,
                                           const ReportProgress& report) {
  const auto one = CheckSolves(arguments);
  if (!one) return Fail(one.error());
  const auto throughputs = LoadThroughputs(arguments.throughputs);
  if (!throughputs) return Fail(throughputs.error());
  auto common = ReadGavelOptions(arguments, *throughputs);
  if (!common) return Fail(common.error());
  GavelSolves solves(arguments.policies.front());
  if (!arguments.solves.empty()) {
    common->on_solve = [&](const GavelSolve& solve) { solves.Add(solve); };
  }
  const auto simulate = [&](const GavelWorkload& workload,
                            const std::function<void(size_t)>& on_finished,
                            RunResult& result) -> Result<> {
    GavelOptions options = *common;
    options.policy = result.policy;
    options.on_finished = on_finished;
    auto run = SimulateGavel(workload.jobs, *throughputs, options);
    if (!run) return WrongOption(workload.name, run.error().message);
    result.rounds = run->rounds;
    result.jobs = std::move(run->jobs);
    return {};
  };
  auto results = RunEach(
      arguments, *throughputs,
      {.mechanism = "rounds", .fastest_type = common->types.front(), .simulate = simulate}, report);
  if (!results) return Fail(results.error());
  if (!arguments.solves.empty()) {
    const auto written = WriteFile(arguments.solves, solves.Take());
    if (!written) return Fail(written.error());
  }
  return results;
}

}  // namespace synergy::cli
