#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/amounts.h"
#include "cli/gavel_workloads.h"
#include "cli/simulation.h"
#include "core/clock.h"
#include "sim/optimus/elastic_simulator.h"

namespace synergy::cli {
namespace {

Result<Seconds> ReadTime(std::string_view option, const std::string& text) {
  const auto time = ParseDuration(text);
  if (!time) return WrongOption(option, time.error().message);
  return *time;
}

// All but the policy.
Result<ElasticOptions> ReadOptions(const SimulateArguments& arguments,
                                   const GavelThroughputs& throughputs) {
  constexpr std::string_view kExample = "v100=64";
  const auto gpus = ParseByType("--types", arguments.types, kExample);
  if (!gpus) return Fail(gpus.error());
  if (gpus->size() != 1 || gpus->begin()->second != std::floor(gpus->begin()->second)) {
    return WrongOption("--types",
                       fmt::format("with --elastic one GPU type and how many GPUs there are "
                                   "are needed, as {}",
                                   kExample));
  }
  const auto known = throughputs.FastestFirst({gpus->begin()->first});
  if (!known) return WrongOption("--types", known.error().message);
  const auto round = ReadTime("--round", arguments.round);
  if (!round) return Fail(round.error());
  if (*round < Seconds(1)) return WrongOption("--round", "has to be at least 1s");
  const auto restart_cost = ReadTime("--restart-cost", arguments.restart_cost);
  if (!restart_cost) return Fail(restart_cost.error());
  if (*restart_cost >= *round)
    return WrongOption("--restart-cost", "has to be shorter than a round");
  return ElasticOptions{.policy = {},
                        .gpus = static_cast<int>(gpus->begin()->second),
                        .type = gpus->begin()->first,
                        .round = *round,
                        .restart_cost = *restart_cost,
                        .tell_finished = {}};
}

Result<RunResult> RunElasticPolicy(const GavelWorkload& workload,
                                   const GavelThroughputs& throughputs, const std::string& policy,
                                   ElasticOptions options, const JobWindow& window,
                                   const TellProgress& tell) {
  const auto parsed = ParseElasticPolicy(policy);
  if (!parsed) return WrongOption("--policy", parsed.error().message);
  options.policy = *parsed;
  RunResult result{.workload = workload.name, .policy = policy, .mechanism = "elastic"};
  options.tell_finished = [&](size_t finished) { tell(result, finished, workload.jobs.size()); };
  const Instant begin = SystemClock().Now();
  auto run = SimulateElastic(workload.jobs, throughputs, options);
  if (!run) return WrongOption(workload.name, run.error().message);
  result.wall_seconds = Seconds(SystemClock().Now() - begin).count();
  result.rounds = run->rounds;
  result.restarts = run->restarts;
  result.gpu_utilisation = run->gpu_utilisation;
  result.jobs = std::move(run->jobs);
  for (const GavelTraceJob& job : workload.jobs) {
    result.job_gpus.emplace_back(job.gpus);
    result.job_models.push_back(job.model);
  }
  result.statistics = Summarize(result.jobs, window);
  return result;
}

}  // namespace

Result<std::vector<RunResult>> RunAllElastic(const SimulateArguments& arguments,
                                             const TellProgress& tell) {
  JobWindow window;
  if (!arguments.window.empty()) {
    const auto parsed = ParseJobWindow(arguments.window);
    if (!parsed) return WrongOption("--window", parsed.error().message);
    window = *parsed;
  }
  const auto throughputs = LoadThroughputs(arguments.throughputs);
  if (!throughputs) return Fail(throughputs.error());
  const auto options = ReadOptions(arguments, *throughputs);
  if (!options) return Fail(options.error());
  const auto workloads = LoadGavelWorkloads(arguments, *throughputs, options->type);
  if (!workloads) return Fail(workloads.error());
  if (!arguments.save.empty()) {
    if (workloads->size() != 1) return WrongOption("--save", "there has to be one workload");
    const auto saved = WriteFile(arguments.save, ToGavelTrace(workloads->front().jobs));
    if (!saved) return Fail(saved.error());
  }
  std::vector<RunResult> results;
  for (const GavelWorkload& workload : *workloads) {
    for (const std::string& policy : arguments.policies) {
      auto result = RunElasticPolicy(workload, *throughputs, policy, *options, window, tell);
      if (!result) return Fail(result.error());
      results.push_back(*std::move(result));
    }
  }
  return results;
}

}  // namespace synergy::cli
