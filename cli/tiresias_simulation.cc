#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/simulation.h"
#include "config/text_file.h"
#include "core/clock.h"
#include "sim/tiresias/tiresias_input.h"
#include "sim/tiresias/tiresias_simulator.h"

namespace synergy::cli {
namespace {

// What all schedules share. `queues` and `gittins`: whether any schedule uses them.
Result<TiresiasOptions> CommonOptions(const SimulateArguments& arguments, bool gittins) {
  TiresiasOptions options{.queue_limits = arguments.queue_limits};
  if (arguments.cluster.empty()) {
    return Fail(ErrorCode::kInvalid,
                "--cluster: with --compat tiresias nXgY is needed, such as n2g4");
  }
  const auto cluster = ParseTiresiasCluster(arguments.cluster);
  if (!cluster) return WrongOption("--cluster", cluster.error());
  options.cluster = *cluster;
  const auto scheme = ParseTiresiasScheme(arguments.scheme);
  if (!scheme) return WrongOption("--scheme", scheme.error());
  options.scheme = *scheme;
  if (!gittins) return options;
  if (arguments.size_history.empty()) {
    return Fail(ErrorCode::kInvalid, "--size-history: dlas-gpu-gittins needs a file");
  }
  const auto text = config::ReadTextFile(arguments.size_history);
  if (!text) return Fail(text.error());
  auto sizes = ParseSizeHistory(*text, arguments.size_history);
  if (!sizes) return Fail(sizes.error());
  options.sizes = *std::move(sizes);
  return options;
}

Result<RunResult> RunTiresias(const std::string& trace, const std::string& schedule,
                              const std::vector<TiresiasJob>& jobs, const TiresiasOptions& options,
                              const SimulateArguments& arguments, const JobWindow& window) {
  RunResult result{.workload = trace, .policy = schedule, .mechanism = arguments.scheme};
  const Instant begin = SystemClock().Now();
  auto times = SimulateTiresias(jobs, options);
  if (!times) return WrongOption(trace, times.error());
  result.wall_seconds = Seconds(SystemClock().Now() - begin).count();
  result.jobs = *std::move(times);
  for (const TiresiasJob& job : jobs) {
    result.job_gpus.emplace_back(job.gpus);
    result.job_models.push_back(job.model);
  }
  result.statistics = Summarize(result.jobs, window);
  return result;
}

}  // namespace

Result<std::vector<RunResult>> RunAllTiresias(const SimulateArguments& arguments) {
  if (arguments.traces.empty()) {
    return Fail(ErrorCode::kInvalid, "--trace: with --compat tiresias a file is needed");
  }
  JobWindow window;
  if (!arguments.window.empty()) {
    const auto parsed = ParseJobWindow(arguments.window);
    if (!parsed) return WrongOption("--window", parsed.error());
    window = *parsed;
  }
  std::vector<TiresiasSchedule> schedules;
  for (const std::string& name : arguments.schedules) {
    const auto schedule = ParseTiresiasSchedule(name);
    if (!schedule) return WrongOption("--schedule", schedule.error());
    schedules.push_back(*schedule);
  }
  auto options = CommonOptions(
      arguments, std::any_of(schedules.begin(), schedules.end(), [](const TiresiasSchedule& one) {
        return one.kind == TiresiasSchedule::Kind::kDlasGpuGittins;
      }));
  if (!options) return Fail(options.error());
  std::vector<RunResult> results;
  for (const std::string& trace : arguments.traces) {
    const auto text = config::ReadTextFile(trace);
    if (!text) return Fail(text.error());
    const auto jobs = ParseTiresiasTrace(*text, trace);
    if (!jobs) return Fail(jobs.error());
    for (size_t at = 0; at < schedules.size(); ++at) {
      options->schedule = schedules[at];
      auto result = RunTiresias(trace, arguments.schedules[at], *jobs, *options, arguments, window);
      if (!result) return Fail(result.error());
      results.push_back(*std::move(result));
    }
  }
  return results;
}

}  // namespace synergy::cli
