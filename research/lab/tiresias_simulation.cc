#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "config/text_file.h"
#include "research/lab/lab_runs.h"
#include "research/tiresias/tiresias_input.h"
#include "research/tiresias/tiresias_simulator.h"

namespace synergy::cli {
namespace {

// Returns the options that all schedules share. `gittins`: whether any schedule uses that index.
Result<TiresiasOptions> CommonOptions(const LabArguments& arguments, bool gittins) {
  TiresiasOptions options{.queue_limits = arguments.queue_limits};
  if (arguments.cluster.empty()) {
    return Fail(ErrorCode::kInvalid, "--cluster: set nXgY, such as n2g4");
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
                              const LabArguments& arguments, const JobWindow& window) {
  RunResult run{.workload = trace, .policy = schedule, .mechanism = arguments.scheme};
  for (const TiresiasJob& job : jobs) {
    run.job_gpus.emplace_back(job.gpus);
    run.job_models.push_back(job.model);
  }
  return TimedRun(std::move(run), window, [&](RunResult& result) -> Result<> {
    auto times = SimulateTiresias(jobs, options);
    if (!times) return WrongOption(trace, times.error());
    result.jobs = *std::move(times);
    return {};
  });
}

}  // namespace

Result<std::vector<RunResult>> RunAllTiresias(const LabArguments& arguments) {
  if (arguments.traces.empty()) {
    return Fail(ErrorCode::kInvalid, "--trace: needs a file");
  }
  const auto window = WindowOf(arguments);
  if (!window) return Fail(window.error());
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
      auto result = RunTiresias(trace, arguments.schedules[at], *jobs, *options, arguments,
                                window->value_or(JobWindow{}));
      if (!result) return Fail(result.error());
      results.push_back(*std::move(result));
    }
  }
  return results;
}

}  // namespace synergy::cli
