// Reads Alibaba's PAI trace of 2020; declared in recorded_trace.h.

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "sim/traces/recorded_trace.h"
#include "sim/traces/trace_builder.h"
#include "sim/traces/trace_fields.h"

namespace synergy {
namespace {

constexpr std::string_view kPaiRows = "is the file cut off? Download it again";
constexpr double kMostInstances = 1e6;
constexpr double kMostPercent = 1e6;
constexpr double kMostPaiGpus = 1e6;

const std::vector<std::string>& PaiColumns(TraceForm form) {
  static const std::vector<std::string> jobs = {"job_name", "inst_id",    "user",
                                                "status",   "start_time", "end_time"};
  static const std::vector<std::string> tasks = {"job_name",   "task_name", "inst_num", "status",
                                                 "start_time", "end_time",  "plan_cpu", "plan_mem",
                                                 "plan_gpu",   "gpu_type"};
  return form == TraceForm::kPaiJobs ? jobs : tasks;
}

Result<TraceTable> OpenPai(const PaiTable& table) {
  return TraceTable::Open(
      table.text, table.file, {.separator = table.form.separator},
      table.form.has_header ? std::vector<std::string>() : PaiColumns(table.form.form));
}

// The sum of a job's tasks that have GPUs.
struct PaiTasks {
  double percent = 0;  // percent of a GPU
  std::optional<Seconds> first;
  std::optional<Seconds> last;
};
using TasksByJob = std::unordered_map<std::string, PaiTasks>;

struct PaiTaskRow {
  std::string job;
  double percent = 0;
  std::optional<Seconds> start;
  std::optional<Seconds> end;
};

struct TaskColumns {
  size_t job = 0, gpu = 0;
  std::optional<size_t> instances, start, end;
};

Result<TaskColumns> FindTaskColumns(const TraceTable& table) {
  TaskColumns columns;
  const auto job = table.Need({"job_name"}, "it");
  if (!job) return Fail(job.error());
  const auto gpu = table.Need({"plan_gpu"}, "it, in percent of a GPU");
  if (!gpu) return Fail(gpu.error());
  columns.job = *job;
  columns.gpu = *gpu;
  columns.instances = table.Find({"inst_num"});
  columns.start = table.Find({"start_time"});
  columns.end = table.Find({"end_time"});
  return columns;
}

Result<PaiTaskRow> ReadTask(const TraceTable& table, const TaskColumns& columns) {
  PaiTaskRow row;
  row.job = std::string(table.Text(columns.job));
  const auto instances = table.Number(columns.instances, kMostInstances);
  if (!instances) return Fail(instances.error());
  const auto percent = table.Number(columns.gpu, kMostPercent);
  if (!percent) return Fail(percent.error());
  row.percent = std::max(instances->value_or(1), 0.0) * std::max(percent->value_or(0), 0.0);
  const auto start = table.Time(columns.start);
  if (!start) return Fail(start.error());
  row.start = *start;
  const auto end = table.Time(columns.end);
  if (!end) return Fail(end.error());
  row.end = *end;
  return row;
}

// Reads the tasks; `order` receives the jobs in the order of the file.
Result<TasksByJob> ReadTasks(const PaiTable& tasks, std::vector<std::string>& order) {
  auto table = OpenPai(tasks);
  if (!table) return Fail(table.error());
  const auto columns = FindTaskColumns(*table);
  if (!columns) return Fail(columns.error());
  TasksByJob by_job;
  for (;;) {
    const auto more = table->Next(kPaiRows);
    if (!more) return Fail(more.error());
    if (!*more) return by_job;
    auto row = ReadTask(*table, *columns);
    if (!row) return Fail(row.error());
    const auto [found, is_new] = by_job.try_emplace(row->job);
    if (is_new) order.push_back(row->job);
    PaiTasks& job = found->second;
    if (row->percent <= 0) continue;
    job.percent = std::min(job.percent + row->percent, kMostPaiGpus * 100);
    if (row->start) job.first = job.first ? std::min(*job.first, *row->start) : *row->start;
    if (row->end) job.last = job.last ? std::max(*job.last, *row->end) : *row->end;
  }
}

RecordedRow RowOf(std::string id, const PaiTasks& tasks) {
  RecordedRow row;
  row.id = std::move(id);
  row.gpus = tasks.percent / 100;
  row.started = tasks.first;
  row.ended = tasks.last;
  return row;
}

}  // namespace

Result<RecordedTrace> ReadPaiTrace(const PaiTable& tasks, const std::optional<PaiTable>& jobs) {
  std::vector<std::string> order;
  const auto by_job = ReadTasks(tasks, order);
  if (!by_job) return Fail(by_job.error());
  TraceBuilder builder;
  if (!jobs) {
    for (std::string& id : order) {
      const PaiTasks& of_job = by_job->at(id);
      builder.Add(RowOf(std::move(id), of_job), true);
    }
    return builder.Finish("tasks of Alibaba PAI 2020, which arrive at their start", tasks.file);
  }
  auto table = OpenPai(*jobs);
  if (!table) return Fail(table.error());
  const auto name = table->Need({"job_name"}, "it");
  if (!name) return Fail(name.error());
  const auto submitted = table->Find({"start_time"});
  const auto ended = table->Find({"end_time"});
  const auto status = table->Find({"status"});
  for (;;) {
    const auto more = table->Next(kPaiRows);
    if (!more) return Fail(more.error());
    if (!*more) break;
    const auto found = by_job->find(std::string(table->Text(*name)));
    if (found == by_job->end()) {
      builder.LeaveOut("without tasks");
      continue;
    }
    RecordedRow row = RowOf(found->first, found->second);
    row.state = ReadRecordedState(table->Text(status));
    const auto from = table->Time(submitted);
    if (!from) return Fail(from.error());
    row.submitted = *from;
    const auto to = table->Time(ended);
    if (!to) return Fail(to.error());
    if (!row.ended) row.ended = *to;
    if (!row.started && row.gpus > 0 && *from && *to && *to > *from &&
        row.state == RecordedRow::State::kOther) {
      builder.Note("whose tasks have no times, from submission to end");
      row.started = *from;
    }
    row.line = table->line();
    builder.Add(std::move(row), true);
  }
  return builder.Finish("jobs and tasks of Alibaba PAI 2020", jobs->file);
}

}  // namespace synergy
