#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/text/amounts.h"
#include "core/clock.h"
#include "research/lab/gavel_form_runs.h"
#include "research/lab/gavel_workloads.h"
#include "research/lab/lab_runs.h"
#include "research/optimus/elastic_simulator.h"

namespace synergy::cli {
namespace {

Result<Seconds> ReadTime(std::string_view option, const std::string& text) {
  const auto time = ParseDuration(text);
  if (!time) return WrongOption(option, time.error().message);
  return *time;
}

// Reads all options except the policy.
Result<ElasticOptions> ReadElasticOptions(const LabArguments& arguments,
                                          const GavelThroughputs& throughputs) {
  constexpr std::string_view kExample = "v100=64";
  const auto gpus = ParseByType("--types", arguments.types, kExample);
  if (!gpus) return Fail(gpus.error());
  if (gpus->size() != 1 || gpus->begin()->second != std::floor(gpus->begin()->second)) {
    return WrongOption(
        "--types",
        fmt::format("with --elastic, set one GPU type and its number of GPUs, as {}", kExample));
  }
  const auto known = throughputs.FastestFirst({gpus->begin()->first});
  if (!known) return WrongOption("--types", known.error().message);
  const auto round = ReadTime("--round", arguments.round);
  if (!round) return Fail(round.error());
  if (*round < Seconds(1)) return WrongOption("--round", "must be at least 1s");
  const auto restart_cost = ReadTime("--restart-cost", arguments.restart_cost);
  if (!restart_cost) return Fail(restart_cost.error());
  if (*restart_cost >= *round) return WrongOption("--restart-cost", "must be shorter than a round");
  return ElasticOptions{.policy = {},
                        .gpus = static_cast<int>(gpus->begin()->second),
                        .type = gpus->begin()->first,
                        .round = *round,
                        .restart_cost = *restart_cost,
                        .on_finished = {}};
}

}  // namespace

Result<std::vector<RunResult>> RunAllElastic(const LabArguments& arguments,
                                             const ReportProgress& report) {
  const auto throughputs = LoadThroughputs(arguments.throughputs);
  if (!throughputs) return Fail(throughputs.error());
  const auto common = ReadElasticOptions(arguments, *throughputs);
  if (!common) return Fail(common.error());
  const auto simulate = [&](const GavelWorkload& workload,
                            const std::function<void(size_t)>& on_finished,
                            RunResult& result) -> Result<> {
    const auto policy = ParseElasticPolicy(result.policy);
    if (!policy) return WrongOption("--policy", policy.error().message);
    ElasticOptions options = *common;
    options.policy = *policy;
    options.on_finished = on_finished;
    auto run = SimulateElastic(workload.jobs, *throughputs, options);
    if (!run) return WrongOption(workload.name, run.error().message);
    result.rounds = run->rounds;
    result.restarts = run->restarts;
    result.gpu_utilisation = run->gpu_utilisation;
    result.jobs = std::move(run->jobs);
    return {};
  };
  return RunEach(arguments, *throughputs,
                 {.mechanism = "elastic", .fastest_type = common->type, .simulate = simulate},
                 report);
}

}  // namespace synergy::cli
