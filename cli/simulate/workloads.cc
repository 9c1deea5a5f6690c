#include "cli/simulate/workloads.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/simulate/history/kubernetes_trace.h"
#include "cli/simulate/philly_trace.h"
#include "cli/simulate/profiles/profile_limits.h"
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

// Returns a job with as much work as the recorded job did while it ran. REQUIRES: the facts know
// the model.
TraceJob JobWithDuration(int64_t id, const RecordedJob& job, const std::string& model,
                         const ModelFacts& facts) {
  constexpr double kMostIterations = 1e15;
  const Seconds iteration_time = facts.IterationTimeOf(model);
  const double iterations = std::clamp(job.duration / iteration_time, 1.0, kMostIterations);
  return TraceJob{.id = id,
                  .model = model,
                  .arrival = job.submitted,
                  .total_iterations = static_cast<int64_t>(iterations),
                  .gpus = job.gpus,
                  .iteration_time = iteration_time,
                  .duration = job.duration,
                  .priority = job.priority};
}

// Draws models for jobs whose model is unknown: by --split or, if a model of the split has no
// profile, evenly from all models with profiles.
class ModelDraw {
 public:
  static Result<ModelDraw> Create(const SimulateArguments& arguments, const ModelFacts& facts) {
    ModelDraw draw(arguments);
    const auto split = SplitOf(arguments);
    if (!split) return Fail(split.error());
    draw.split_ = *split;
    if (HasModelsOf(*split, facts)) return draw;
    draw.models_ = facts.Models();
    if (draw.models_.empty()) return Fail(ErrorCode::kInvalid, "the profiles have no model");
    if (arguments.split != SimulateArguments().split) {
      return WrongOption("--split",
                         fmt::format("the profiles have only {}: leave it out, and models are "
                                     "drawn evenly from these",
                                     fmt::join(draw.models_, ", ")));
    }
    return draw;
  }

  std::string Next() {
    return models_.empty() ? std::string(DrawModel(split_, random_))
                           : models_[random_.Below(models_.size())];
  }

  std::string Describe() const {
    const std::string how = models_.empty()
                                ? "by --split " + arguments_.split
                                : fmt::format("evenly from {}", fmt::join(models_, ", "));
    return fmt::format("models are drawn {} with --seed {}", how, arguments_.seed);
  }

 private:
  explicit ModelDraw(const SimulateArguments& arguments)
      : arguments_(arguments), random_(arguments.seed) {}

  const SimulateArguments& arguments_;
  Random random_;
  std::array<int, 3> split_{};
  std::vector<std::string> models_;  // empty: those of the split
};

// Returns text such as " (no profile has the name vit or moe)"; empty without names.
std::string UnknownText(const std::set<std::string>& unknown) {
  constexpr size_t kMostNamed = 5;
  if (unknown.empty()) return {};
  const std::vector<std::string> named(
      unknown.begin(), std::next(unknown.begin(), static_cast<std::ptrdiff_t>(
                                                      std::min(unknown.size(), kMostNamed))));
  const std::string more = unknown.size() > named.size()
                               ? fmt::format(" and {} more", unknown.size() - named.size())
                               : "";
  return fmt::format(" (no profile is called {}{})", fmt::join(named, ", "), more);
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
// profile get a drawn one.
Result<TraceWorkload> FromRecorded(const std::string& name, const RecordedTrace& trace,
                                   const SimulateArguments& arguments, const ModelFacts& facts,
                                   Gpus most) {
  auto draw = ModelDraw::Create(arguments, facts);
  if (!draw) return Fail(draw.error());
  const bool have_numbers = HaveNumbers(trace.jobs);
  TraceWorkload workload{.name = name, .reading = trace.Describe()};
  std::set<std::string> unknown;
  int64_t next_id = 0;
  for (const RecordedJob& job : trace.jobs) {
    // Draw for each job, so that the models of other jobs do not depend on which are known.
    const std::string drawn = draw->Next();
    const bool known = facts.Knows(job.model);
    if (job.gpus > most) {
      ++workload.left_out;
      continue;
    }
    workload.drawn_models += known ? 0 : 1;
    if (!known && !job.model.empty()) unknown.insert(job.model);
    workload.jobs.push_back(JobWithDuration(have_numbers ? *ParseWholeNumber(job.id) : next_id++,
                                            job, known ? job.model : drawn, facts));
  }
  if (workload.left_out > 0) {
    workload.reading += fmt::format("; {} with more GPUs than the {} of all servers",
                                    workload.left_out, most.count());
  }
  if (workload.drawn_models > 0) {
    workload.reading += fmt::format("; {} without a known model{}: {}", workload.drawn_models,
                                    UnknownText(unknown), draw->Describe());
  }
  if (workload.jobs.empty())
    return Fail(ErrorCode::kNotFound, fmt::format("{}: {}", name, workload.reading));
  return workload;
}

// Returns whether an array contains Kubernetes objects; Philly's log is an array, too.
bool HasObjects(std::string_view text) {
  constexpr size_t kFirst = 4096;
  const std::string_view first = text.substr(0, kFirst);
  return first.find("\"apiVersion\"") != first.npos && first.find("\"kind\"") != first.npos;
}

Result<RecordedTrace> ReadJson(const std::string& name, std::string_view text,
                               const SimulateArguments& arguments) {
  const bool is_array = text.substr(0, text.find('[')).find('{') == text.npos;
  if (is_array && !HasObjects(text)) return ReadPhillyTrace(text, name);
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

Result<> CheckWindow(const SimulateArguments& arguments,
                     const std::vector<TraceWorkload>& workloads) {
  const auto window = WindowOf(arguments);
  if (!window) return Fail(window.error());
  if (!*window) return {};
  for (const TraceWorkload& workload : workloads) {
    const auto& jobs = workload.jobs;
    const bool any = std::any_of(jobs.begin(), jobs.end(),
                                 [&](const TraceJob& job) { return (*window)->Contains(job.id); });
    if (any || jobs.empty()) continue;
    const auto [first, last] = std::minmax_element(
        jobs.begin(), jobs.end(), [](const TraceJob& a, const TraceJob& b) { return a.id < b.id; });
    return Fail(ErrorCode::kNotFound,
                fmt::format("--window {}: no job of {} has such an id: the ids are {} to {}",
                            arguments.window, workload.name, first->id, last->id));
  }
  return {};
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
    TraceWorkload workload{.name = text, .jobs = std::move(*jobs)};
    if (!HasModelsOf(made->split, facts)) {
      workload.reading =
          fmt::format("the models of the split have no profiles: jobs have {} in turn",
                      fmt::join(facts.Models(), ", "));
    }
    workloads.push_back(std::move(workload));
  }
  if (auto checked = CheckWindow(arguments, workloads); !checked) return Fail(checked.error());
  return workloads;
}

Result<> CheckServers(const SimulateArguments& arguments, const SimulateOptions& options,
                      const ModelFacts& facts, const TraceWorkload& workload) {
  const std::set<std::string> models = ModelsOf(workload.jobs);
  if (options.recorded) {
    auto recorded = CheckServer(facts, models, {*options.recorded, "--recorded"});
    if (!recorded) return recorded;
  }
  if (options.starts_from_cluster) return {};
  return CheckServer(facts, models, {options.server, {}, arguments.gpu_speed});
}

void PrintManifests(const SimulateArguments& arguments, const ModelFacts& facts) {
  if (facts.objects().empty()) return;
  const size_t count = facts.objects().size();
  fmt::print(stderr, "{}: read as {} TrainingProfile{}: {}\n", arguments.profiles, count,
             count == 1 ? "" : "s", fmt::join(facts.Models(), ", "));
}

void NoteExtrapolation(const SimulateArguments& arguments, const SimulateOptions& options,
                       const ModelFacts& facts) {
  for (const std::string& flat : {ExtrapolatedModels(facts, options.server, arguments.gpu_speed),
                                  ExtrapolatedMemory(facts, options.server)}) {
    if (!flat.empty()) fmt::print(stderr, "Note: {}\n", flat);
  }
  if (!options.recorded) return;
  for (const std::string& flat : {ExtrapolatedModels(facts, *options.recorded),
                                  ExtrapolatedMemory(facts, *options.recorded)}) {
    if (!flat.empty()) fmt::print(stderr, "Note: --recorded: {}\n", flat);
  }
}

}  // namespace synergy::cli
