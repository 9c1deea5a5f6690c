#include "cli/simulate/workloads.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "cli/simulate/history/kubernetes_trace.h"
#include "cli/simulate/philly_trace.h"
#include "cli/text/amounts.h"
#include "config/text_file.h"
#include "core/random.h"
#include "sim/traces/recorded_trace.h"
#include "sim/workload.h"

namespace synergy::cli {
namespace {

Result<std::array<int, 3>> SplitOf(const SimulateArguments& arguments) {
  const auto options = ParseWorkloadOptions("split=" + arguments.split);
  if (!options) return Fail(ErrorCode::kInvalid, "--split: " + options.error().message);
  return options->split;
}

// Returns a job with as much work as the recorded job did while it ran.
Result<TraceJob> JobWithDuration(int64_t id, const RecordedJob& job, const std::string& model,
                                 const ModelFacts& facts) {
  constexpr double kMostIterations = 1e15;
  const ModelFact* const fact = facts.Find(model, Gpus(1));
  if (fact == nullptr) return Fail(ErrorCode::kInvalid, "the profiles lack the model " + model);
  const double iterations = std::clamp(job.duration / fact->iteration_time, 1.0, kMostIterations);
  return TraceJob{.id = id,
                  .model = model,
                  .arrival = job.submitted,
                  .total_iterations = static_cast<int64_t>(iterations),
                  .gpus = job.gpus,
                  .iteration_time = fact->iteration_time,
                  .duration = job.duration};
}

Result<TraceWorkload> FromCsv(const std::string& name, std::string_view text) {
  auto jobs = ParseTrace(text, name);
  if (!jobs) return Fail(jobs.error());
  return TraceWorkload{.name = name, .jobs = std::move(*jobs)};
}

// Returns whether jobs keep their ids, because all are different numbers; otherwise they are
// numbered by arrival.
bool HaveNumbers(const std::vector<RecordedJob>& jobs) {
  std::unordered_set<int64_t> numbers;
  return std::all_of(jobs.begin(), jobs.end(), [&numbers](const RecordedJob& job) {
    const auto number = ParseWholeNumber(job.id);
    return number && numbers.insert(*number).second;
  });
}

// A job with a duration gets the work of the time that it ran. Jobs without a model that has a
// profile get one by --split, drawn with --seed.
Result<TraceWorkload> FromRecorded(const std::string& name, const RecordedTrace& trace,
                                   const SimulateArguments& arguments, const ModelFacts& facts,
                                   Gpus most) {
  const auto split = SplitOf(arguments);
  if (!split) return Fail(split.error());
  Random random(arguments.seed);
  const bool have_numbers = HaveNumbers(trace.jobs);
  TraceWorkload workload{.name = name, .reading = trace.Describe()};
  int64_t next_id = 0;
  for (const RecordedJob& job : trace.jobs) {
    // Draw for each job, so that the models of other jobs do not depend on which are known.
    const std::string drawn(DrawModel(*split, random));
    const bool known = facts.Find(job.model, Gpus(1)) != nullptr;
    if (job.gpus > most) {
      ++workload.left_out;
      continue;
    }
    workload.drawn_models += known ? 0 : 1;
    auto made = JobWithDuration(have_numbers ? *ParseWholeNumber(job.id) : next_id++, job,
                                known ? job.model : drawn, facts);
    if (!made) return Fail(made.error());
    workload.jobs.push_back(*std::move(made));
  }
  if (workload.left_out > 0) {
    workload.reading += fmt::format("; {} with more GPUs than the {} of all servers",
                                    workload.left_out, most.count());
  }
  if (workload.drawn_models > 0) {
    workload.reading +=
        fmt::format("; {} without a known model: models are drawn by --split {} with --seed {}",
                    workload.drawn_models, arguments.split, arguments.seed);
  }
  if (workload.jobs.empty())
    return Fail(ErrorCode::kNotFound, fmt::format("{}: {}", name, workload.reading));
  return workload;
}

// An object is a Kubernetes list; Philly's log is an array.
Result<RecordedTrace> ReadJson(const std::string& name, std::string_view text,
                               const SimulateArguments& arguments) {
  if (text.substr(0, text.find('[')).find('{') == text.npos) return ReadPhillyTrace(text, name);
  const std::string_view line = text.substr(0, text.find('\n'));
  if (line.ends_with('}') && text.find('{', line.size()) != text.npos) {
    return Fail(ErrorCode::kInvalid,
                name +
                    ": lines of JSON are not read: write a CSV with job_id, submit_time, "
                    "duration_s, gpus");
  }
  KubernetesTrace trace(arguments.access.gpu_resource);
  if (const auto added = trace.Add(text); !added)
    return Fail(added.error().code, name + ": " + added.error().message);
  return trace.Finish(name, std::nullopt);
}

// A file of --trace.
struct TraceFile {
  std::string name;
  std::string text;
  RecognizedTrace form;

  PaiTable Pai() const { return {text, name, form}; }
};

// Returns an error that names the missing table.
tl::unexpected<Error> NeedsTasks(const TraceFile& jobs) {
  return Fail(ErrorCode::kInvalid,
              fmt::format("{}: read as the jobs of Alibaba PAI 2020: their GPUs are in the table "
                          "of tasks: --trace {},pai_task_table.csv",
                          jobs.name, jobs.name));
}

Result<TraceWorkload> FromFile(const TraceFile& file, const TraceFile* pai_jobs,
                               const SimulateArguments& arguments, const ModelFacts& facts,
                               Gpus most) {
  const TraceForm form = file.form.form;
  if (form == TraceForm::kIterations) return FromCsv(file.name, file.text);
  const auto trace = form == TraceForm::kJson ? ReadJson(file.name, file.text, arguments)
                     : pai_jobs != nullptr    ? ReadPaiTrace(file.Pai(), pai_jobs->Pai())
                                              : ReadRecordedTrace(file.text, file.name, file.form);
  if (!trace) return Fail(trace.error());
  const std::string name = pai_jobs != nullptr ? pai_jobs->name + "+" + file.name : file.name;
  return FromRecorded(name, *trace, arguments, facts, most);
}

Result<std::vector<TraceFile>> ReadTraceFiles(const std::vector<std::string>& names) {
  std::vector<TraceFile> files;
  for (const std::string& name : names) {
    auto text = config::ReadTextFile(name);
    if (!text) return Fail(text.error());
    const auto form = RecognizeTrace(*text, name);
    if (!form) return Fail(form.error());
    files.push_back({name, *std::move(text), *form});
  }
  return files;
}

}  // namespace

Result<std::vector<TraceWorkload>> LoadWorkloads(const SimulateArguments& arguments,
                                                 const ModelFacts& facts, Gpus most) {
  std::vector<TraceWorkload> workloads;
  const auto files = ReadTraceFiles(arguments.traces);
  if (!files) return Fail(files.error());
  // The n-th table of PAI's jobs belongs to the n-th of its tasks.
  std::vector<const TraceFile*> pai_jobs;
  for (const TraceFile& file : *files) {
    if (file.form.form == TraceForm::kPaiJobs) pai_jobs.push_back(&file);
  }
  size_t next_jobs = 0;
  for (const TraceFile& file : *files) {
    if (file.form.form == TraceForm::kPaiJobs) continue;
    const bool joins = file.form.form == TraceForm::kPaiTasks && next_jobs < pai_jobs.size();
    auto workload = FromFile(file, joins ? pai_jobs[next_jobs++] : nullptr, arguments, facts, most);
    if (!workload) return Fail(workload.error());
    workloads.push_back(std::move(*workload));
  }
  if (next_jobs < pai_jobs.size()) return NeedsTasks(*pai_jobs[next_jobs]);
  if (arguments.history) {
    auto workload = FromRecorded("the cluster", *arguments.history, arguments, facts, most);
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
