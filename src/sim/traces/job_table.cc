#include "sim/traces/job_table.h"

#include <string>

#include "sim/trace.h"
#include "sim/traces/trace_builder.h"
#include "sim/traces/trace_fields.h"

namespace synergy {
namespace {

constexpr double kMostGpus = 1e6;
constexpr std::string_view kWholeRows = "write a field for each column, and quote separators";

struct JobColumns {
  std::optional<size_t> id, model, state, submitted, started, ended, duration, priority;
  std::optional<size_t> queued;  // time in the queue; only if times of submission are missing
  size_t gpus = 0;
};

// The plain form has only these columns; others are ignored, whatever they contain.
Result<JobColumns> PlainColumns(const TraceTable& table) {
  JobColumns columns;
  columns.id = table.Find({"job_id", "jobid", "id"});
  columns.model = table.Find({"model"});
  columns.priority = table.Find({"priority"});
  columns.state = table.Find({"state", "status"});
  columns.duration = table.Find({"duration_s", "duration", "runtime_s", "runtime", "elapsed"});
  const auto gpus = table.Need({"gpus", "num_gpus", "num_gpu", "gpu_count"}, "the job's GPUs");
  if (!gpus) return Fail(gpus.error());
  columns.gpus = *gpus;
  columns.submitted = table.Find({"submit_time", "submit_s", "submitted", "submit", "arrival_s"});
  if (!columns.duration || !columns.submitted) {
    columns.started = table.Find({"start_time", "start_s", "start"});
    columns.ended = table.Find({"end_time", "end_s", "end"});
  }
  if (!columns.duration && (!columns.started || !columns.ended)) {
    return Fail(table.Need({"duration_s"}, "it, in seconds, or start_time and end_time").error());
  }
  if (!columns.submitted && !columns.started)
    return Fail(table.Need({"submit_time"}, "it, in seconds or as 2024-05-01T10:00:00Z").error());
  return columns;
}

Result<JobColumns> HeliosColumns(const TraceTable& table) {
  JobColumns columns;
  const auto gpus = table.Need({"gpu_num"}, "the job's GPUs");
  if (!gpus) return Fail(gpus.error());
  columns.gpus = *gpus;
  columns.id = table.Find({"job_id"});
  columns.state = table.Find({"state", "status"});
  columns.submitted = table.Find({"submit_time"});
  columns.started = table.Find({"start_time"});
  columns.ended = table.Find({"end_time"});
  columns.duration = table.Find({"duration"});
  if (!columns.submitted && columns.started) columns.queued = table.Find({"queue"});
  if (!columns.duration && (!columns.started || !columns.ended))
    return Fail(table.Need({"duration"}, "it, or start_time and end_time").error());
  if (!columns.submitted && !columns.started && !columns.ended)
    return Fail(table.Need({"submit_time"}, "it, or start_time").error());
  return columns;
}

Result<RecordedRow> ReadJobRow(const TraceTable& table, const JobColumns& columns) {
  RecordedRow row;
  row.id = std::string(table.Text(columns.id));
  row.model = std::string(table.Text(columns.model));
  row.state = ReadRecordedState(table.Text(columns.state));
  const std::pair<std::optional<size_t>, std::optional<Seconds>*> times[] = {
      {columns.submitted, &row.submitted},
      {columns.started, &row.started},
      {columns.ended, &row.ended}};
  for (const auto& [column, time] : times) {
    const auto read = table.Time(column);
    if (!read) return Fail(read.error());
    *time = *read;
  }
  const auto duration = table.Length(columns.duration);
  if (!duration) return Fail(duration.error());
  // Some of Acme's durations include the time in the queue.
  if (!row.started || !row.ended) row.duration = *duration;
  const auto queued = table.Length(columns.queued);
  if (!queued) return Fail(queued.error());
  if (row.started && *queued) row.submitted = *row.started - **queued;
  const auto gpus = table.Number(columns.gpus, kMostGpus);
  if (!gpus) return Fail(gpus.error());
  row.gpus = gpus->value_or(0);
  if (!table.Text(columns.priority).empty()) {
    const auto priority = ReadPriority(table.At(*columns.priority));
    if (!priority) return Fail(priority.error());
    row.priority = *priority;
  }
  row.line = table.line();
  return row;
}

}  // namespace

Result<RecordedTrace> ReadJobTable(std::string_view text, std::string_view file,
                                   const RecognizedTrace& form) {
  auto table = TraceTable::Open(text, file, {.separator = form.separator});
  if (!table) return Fail(table.error());
  const bool plain = form.form == TraceForm::kPlain;
  const auto columns = plain ? PlainColumns(*table) : HeliosColumns(*table);
  if (!columns) return Fail(columns.error());
  TraceBuilder builder;
  for (;;) {
    const auto more = table->Next(kWholeRows);
    if (!more) return Fail(more.error());
    if (!*more) break;
    auto row = ReadJobRow(*table, *columns);
    if (!row) return Fail(row.error());
    builder.Add(*std::move(row), columns->started.has_value());
  }
  const bool acme = table->Find({"gpu_time", "mem_per_pod_gb", "type"}).has_value();
  return builder.Finish(plain  ? "jobs with durations"
                        : acme ? "Acme's jobs"
                               : "Helios' jobs",
                        file);
}

}  // namespace synergy
