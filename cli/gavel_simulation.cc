#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/gavel_solves.h"
#include "cli/gavel_workloads.h"
#include "cli/simulation.h"
#include "core/clock.h"
#include "sim/gavel/gavel_input.h"
#include "sim/gavel/gavel_simulator.h"

namespace synergy::cli {
namespace {

// All but the policy.
Result<GavelOptions> ReadOptions(const SimulateArguments& arguments,
                                 const GavelThroughputs& throughputs) {
  constexpr std::string_view kExample = "v100=12,p100=12,k80=12";
  if (arguments.types.empty()) {
    return WrongOption("--types",
                       fmt::format("with --compat gavel GPU types and how many GPUs of each "
                                   "are needed, as {}",
                                   kExample));
  }
  const auto gpus = ParseByType("--types", arguments.types, kExample);
  if (!gpus) return Fail(gpus.error());
  const auto prices = ParseByType("--prices", arguments.prices, "v100=0.74,p100=0.43");
  if (!prices) return Fail(prices.error());
  std::vector<std::string> names;
  for (const auto& [type, count] : *gpus) {
    if (count != std::floor(count))
      return WrongOption("--types", fmt::format("{}: whole GPUs", type));
    names.push_back(type);
  }
  auto types = throughputs.FastestFirst(std::move(names));
  if (!types) return WrongOption("--types", types.error().message);
  GavelOptions options{.types = *std::move(types),
                       .gpus = {},
                       .costs = {},
                       .policy = {},
                       .tell_solve = {},
                       .tell_finished = {}};
  for (const std::string& type : options.types) {
    options.gpus.push_back(gpus->at(type));
    if (prices->count(type) > 0) options.costs.push_back(prices->at(type));
  }
  // Of some types alone they say nothing.
  if (options.costs.size() != options.types.size()) options.costs.clear();
  return options;
}

Result<RunResult> RunGavelPolicy(const GavelWorkload& workload, const GavelThroughputs& throughputs,
                                 GavelOptions options, const JobWindow& window,
                                 const TellProgress& tell) {
  RunResult result{.workload = workload.name, .policy = options.policy, .mechanism = "rounds"};
  options.tell_finished = [&](size_t finished) { tell(result, finished, workload.jobs.size()); };
  const Instant begin = SystemClock().Now();
  auto run = SimulateGavel(workload.jobs, throughputs, options);
  if (!run) return WrongOption(workload.name, run.error().message);
  result.wall_seconds = Seconds(SystemClock().Now() - begin).count();
  result.rounds = run->rounds;
  result.jobs = std::move(run->jobs);
  for (const GavelTraceJob& job : workload.jobs) {
    result.job_gpus.emplace_back(job.gpus);
    result.job_models.push_back(job.model);
  }
  result.statistics = Summarize(result.jobs, window);
  return result;
}

Result<> CheckOneRun(const SimulateArguments& arguments, size_t workloads) {
  if (!arguments.save.empty() && workloads != 1) {
    return WrongOption("--save", "there has to be one workload");
  }
  if (!arguments.solves.empty() && workloads * arguments.policies.size() != 1) {
    return WrongOption("--solves", "there has to be one workload and one policy");
  }
  return {};
}

}  // namespace

Result<std::vector<RunResult>> RunAllGavel(const SimulateArguments& arguments,
                                           const TellProgress& tell) {
  JobWindow window;
  if (!arguments.window.empty()) {
    const auto parsed = ParseJobWindow(arguments.window);
    if (!parsed) return WrongOption("--window", parsed.error().message);
    window = *parsed;
  }
  const auto throughputs = LoadThroughputs(arguments.throughputs);
  if (!throughputs) return Fail(throughputs.error());
  auto options = ReadOptions(arguments, *throughputs);
  if (!options) return Fail(options.error());
  const auto workloads = LoadGavelWorkloads(arguments, *throughputs, options->types.front());
  if (!workloads) return Fail(workloads.error());
  const auto one = CheckOneRun(arguments, workloads->size());
  if (!one) return Fail(one.error());
  if (!arguments.save.empty()) {
    const auto saved = WriteFile(arguments.save, ToGavelTrace(workloads->front().jobs));
    if (!saved) return Fail(saved.error());
  }
  GavelSolves solves(arguments.policies.front());
  if (!arguments.solves.empty()) {
    options->tell_solve = [&](const GavelSolve& solve) { solves.Add(solve); };
  }
  std::vector<RunResult> results;
  for (const GavelWorkload& workload : *workloads) {
    for (const std::string& policy : arguments.policies) {
      options->policy = policy;
      auto result = RunGavelPolicy(workload, *throughputs, *options, window, tell);
      if (!result) return Fail(result.error());
      results.push_back(*std::move(result));
    }
  }
  if (!arguments.solves.empty()) {
    const auto written = WriteFile(arguments.solves, solves.Take());
    if (!written) return Fail(written.error());
  }
  return results;
}

}  // namespace synergy::cli
