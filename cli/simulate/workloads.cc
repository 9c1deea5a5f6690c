#include "cli/simulate/workloads.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "cli/simulate/philly_trace.h"
#include "config/text_file.h"
#include "sim/workload.h"

namespace synergy::cli {
namespace {

Result<std::array<int, 3>> SplitOf(const SimulateArguments& arguments) {
  const auto options = ParseWorkloadOptions("split=" + arguments.split);
  if (!options) return Fail(ErrorCode::kInvalid, "--split: " + options.error().message);
  return options->split;
}

// Philly's jobs have no models. They get models in turn, with work for the time for which they ran.
Result<TraceWorkload> FromPhilly(const std::string& name, std::string_view text,
                                 const SimulateArguments& arguments, const ModelFacts& facts,
                                 Gpus most) {
  const auto trace = ParsePhillyTrace(text);
  if (!trace) return Fail(trace.error());
  const auto split = SplitOf(arguments);
  if (!split) return Fail(split.error());
  ModelSequence models(*split);
  TraceWorkload workload{.name = name, .left_out = trace->left_out};
  for (const PhillyJob& job : trace->jobs) {
    if (job.gpus > most) {
      ++workload.left_out;
      continue;
    }
    const std::string model(models.Next());
    const ModelFact* fact = facts.Find(model, Gpus(1));
    if (fact == nullptr) return Fail(ErrorCode::kInvalid, "the profiles lack the model " + model);
    const double iterations = std::max(1.0, job.duration / fact->iteration_time);
    workload.jobs.push_back({.id = static_cast<int64_t>(workload.jobs.size()),
                             .model = model,
                             .arrival = job.submitted,
                             .total_iterations = static_cast<int64_t>(iterations),
                             .gpus = job.gpus,
                             .iteration_time = fact->iteration_time,
                             .duration = job.duration});
  }
  return workload;
}

Result<TraceWorkload> FromCsv(const std::string& name, std::string_view text) {
  auto jobs = ParseTrace(text, name);
  if (!jobs) return Fail(jobs.error());
  return TraceWorkload{.name = name, .jobs = std::move(*jobs)};
}

}  // namespace

Result<std::vector<TraceWorkload>> LoadWorkloads(const SimulateArguments& arguments,
                                                 const ModelFacts& facts, Gpus most) {
  std::vector<TraceWorkload> workloads;
  for (const std::string& name : arguments.traces) {
    const auto text = config::ReadTextFile(name);
    if (!text) return Fail(text.error());
    const bool is_json = name.ends_with(".json");
    auto workload =
        is_json ? FromPhilly(name, *text, arguments, facts, most) : FromCsv(name, *text);
    if (!workload && is_json) {
      return Fail(workload.error().code, name + ": " + workload.error().message);
    }
    if (!workload) return Fail(workload.error());
    workloads.push_back(std::move(*workload));
  }
  for (const std::string& text : arguments.workloads) {
    const auto made = ParseWorkloadOptions(text);
    if (!made) return Fail(ErrorCode::kInvalid, "--generate: " + made.error().message);
    auto jobs = GenerateWorkload(*made, facts);
    if (!jobs) return Fail(jobs.error());
    workloads.push_back({.name = text, .jobs = std::move(*jobs)});
  }
  return workloads;
}

}  // namespace synergy::cli
