#include "sim/traces/slurm_trace.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/traces/trace_builder.h"
#include "sim/traces/trace_fields.h"

namespace synergy {
namespace {

constexpr int64_t kMostSlurmGpus = 1'000'000;

struct SlurmColumns {
  std::optional<size_t> id, submit, start, end, elapsed, state, partition, request, allocation;
  std::optional<size_t> gres_request, gres_allocation, nodes, cluster, user, name;
};

Result<SlurmColumns> FindSlurmColumns(const TraceTable& table, std::string_view file) {
  SlurmColumns columns;
  columns.id = table.Find({"jobid", "jobidraw"});
  columns.submit = table.Find({"submit", "eligible"});
  columns.start = table.Find({"start"});
  columns.end = table.Find({"end"});
  columns.elapsed = table.Find({"elapsedraw", "elapsed"});
  columns.state = table.Find({"state"});
  columns.partition = table.Find({"partition"});
  columns.request = table.Find({"reqtres"});
  columns.allocation = table.Find({"alloctres"});
  columns.gres_request = table.Find({"reqgres"});
  columns.gres_allocation = table.Find({"allocgres"});
  columns.cluster = table.Find({"cluster"});
  columns.user = table.Find({"user"});
  columns.name = table.Find({"jobname"});
  columns.nodes = table.Find({"allocnodes", "nnodes", "reqnodes"});
  const auto missing = [file](std::string_view what, std::string_view cure) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}:1: no column has the jobs' {}: add {} to sacct --format", file,
                            what, cure));
  };
  if (!columns.request && !columns.allocation && !columns.gres_request && !columns.gres_allocation)
    return missing("GPUs", "AllocTRES or ReqTRES");
  if (!columns.elapsed && (!columns.start || !columns.end))
    return missing("durations", "ElapsedRaw, or Start and End");
  if (!columns.submit && !columns.start && !columns.end)
    return missing("times of submission", "Submit");
  return columns;
}

std::optional<int64_t> ReadCount(std::string_view text) {
  int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 0 ||
      count > kMostSlurmGpus) {
    return std::nullopt;
  }
  return count;
}

// Returns the GPUs in "billing=8,cpu=8,gres/gpu:a100=2,gres/gpu=2,node=1"; nullopt if the text has
// another form.
std::optional<int64_t> GpusOfTres(std::string_view tres) {
  std::optional<int64_t> all;
  int64_t typed = 0;
  while (!tres.empty()) {
    const std::string_view part = Trimmed(tres.substr(0, tres.find(',')));
    tres.remove_prefix(std::min(tres.find(','), tres.size() - 1) + 1);
    const size_t equals = part.find('=');
    if (equals == part.npos) return std::nullopt;
    const std::string key = InLowerCase(part.substr(0, equals));
    if (key != "gres/gpu" && !key.starts_with("gres/gpu:")) continue;
    const auto count = ReadCount(part.substr(equals + 1));
    if (!count) return std::nullopt;
    if (key == "gres/gpu") {
      all = *count;
    } else {
      typed = std::min(typed + *count, kMostSlurmGpus);
    }
  }
  return all.value_or(typed);
}

// Returns the GPUs in "gpu:a100:4(S:0-1)" or "gres:gpu:4"; nullopt if the text has another form.
std::optional<int64_t> GpusOfGres(std::string_view gres) {
  int64_t gpus = 0;
  while (!gres.empty()) {
    std::string_view part = Trimmed(gres.substr(0, gres.find(',')));
    gres.remove_prefix(std::min(gres.find(','), gres.size() - 1) + 1);
    part = part.substr(0, part.find('('));
    for (const std::string_view prefix : {"gres/", "gres:"}) {
      if (part.starts_with(prefix)) part.remove_prefix(prefix.size());
    }
    if (part == "gpu") {
      ++gpus;
      continue;
    }
    if (!part.starts_with("gpu:")) continue;
    const auto count = ReadCount(part.substr(part.rfind(':') + 1));
    if (!count) return std::nullopt;
    gpus = std::min(gpus + *count, kMostSlurmGpus);
  }
  return gpus;
}

Result<double> ReadSlurmGpus(const TraceTable& table, const SlurmColumns& columns) {
  for (const auto& column : {columns.allocation, columns.request}) {
    const std::string_view text = table.Text(column);
    if (text.empty()) continue;
    const auto gpus = GpusOfTres(text);
    if (!gpus) return table.At(*column).Reject("write it as cpu=8,gres/gpu=2,node=1");
    if (*gpus > 0) return static_cast<double>(*gpus);
  }
  for (const auto& column : {columns.gres_allocation, columns.gres_request}) {
    const std::string_view text = table.Text(column);
    if (text.empty()) continue;
    const auto gpus = GpusOfGres(text);
    if (!gpus) return table.At(*column).Reject("write it as gpu:2 or gpu:a100:2");
    if (*gpus == 0) continue;
    // AllocGRES has the sum of all nodes, ReqGRES what each node needs.
    if (column == columns.gres_allocation) return static_cast<double>(*gpus);
    const auto nodes = table.Number(columns.nodes, kMostSlurmGpus);
    if (!nodes) return Fail(nodes.error());
    return static_cast<double>(*gpus) * std::max(nodes->value_or(1), 1.0);
  }
  return 0;
}

// Returns whether this text of AllocTRES contains billing, which Slurm records for jobs only.
bool IsBilled(std::string_view tres) { return tres.find("billing=") != std::string_view::npos; }

// `billed`: whether a row up to this one contains billing.
bool IsStep(const TraceTable& table, const SlurmColumns& columns, bool billed) {
  if (columns.id) return table.Text(columns.id).find('.') != std::string_view::npos;
  for (const auto& of_jobs : {columns.partition, columns.request, columns.user}) {
    if (of_jobs) return table.Text(of_jobs).empty();
  }
  const std::string_view name = table.Text(columns.name);
  if (name == "batch" || name == "extern") return true;
  const std::string_view allocation = table.Text(columns.allocation);
  return billed && !allocation.empty() && !IsBilled(allocation);
}

Result<RecordedRow> ReadSlurmRow(const TraceTable& table, const SlurmColumns& columns) {
  RecordedRow row;
  row.line = table.line();
  row.id = std::string(table.Text(columns.id));
  // Clusters number their jobs independently.
  if (columns.cluster && !row.id.empty())
    row.id = fmt::format("{}/{}", table.Text(columns.cluster), row.id);
  row.state = ReadRecordedState(table.Text(columns.state));
  const std::pair<std::optional<size_t>, std::optional<Seconds>*> times[] = {
      {columns.submit, &row.submitted}, {columns.start, &row.started}, {columns.end, &row.ended}};
  for (const auto& [column, time] : times) {
    const auto read = table.Time(column);
    if (!read) return Fail(read.error());
    *time = *read;
  }
  const auto elapsed = table.Length(columns.elapsed);
  if (!elapsed) return Fail(elapsed.error());
  row.duration = *elapsed;
  const auto gpus = ReadSlurmGpus(table, columns);
  if (!gpus) return Fail(gpus.error());
  row.gpus = *gpus;
  // A job without an end still runs, unless a column shows otherwise.
  if (!columns.state && columns.end && row.started && !row.ended)
    row.state = RecordedRow::State::kRunning;
  return row;
}

// Adds a component of a heterogeneous job to those before it.
void Join(const RecordedRow& component, RecordedRow& job) {
  job.gpus += component.gpus;
  const auto earlier = [](const std::optional<Seconds>& a, const std::optional<Seconds>& b) {
    return a && b ? std::min(*a, *b) : a ? a : b;
  };
  job.submitted = earlier(job.submitted, component.submitted);
  job.started = earlier(job.started, component.started);
  job.ended = std::max(job.ended, component.ended);
  job.duration = std::max(job.duration, component.duration);
  job.state = std::max(job.state, component.state);
}

}  // namespace

Result<RecordedTrace> ReadSlurmTrace(std::string_view text, std::string_view file,
                                     const RecognizedTrace& form) {
  const std::string_view cure =
      form.separator == '|'
          ? "names of jobs may contain |: leave JobName and Comment out of sacct --format"
          : "amounts contain commas: export with sacct -P, which separates by |";
  auto table =
      TraceTable::Open(text, file, {.separator = form.separator, .quotes = form.separator != '|'});
  if (!table) return Fail(table.error());
  const auto columns = FindSlurmColumns(*table, file);
  if (!columns) return Fail(columns.error());
  TraceBuilder builder;
  builder.KeepLatest();
  bool billed = false;
  Seconds latest{};
  std::vector<RecordedRow> still_run;
  // Indexed by job, then by component.
  std::map<std::string, std::map<std::string, RecordedRow>> heterogeneous;
  for (;;) {
    const auto more = table->Next(cure);
    if (!more) return Fail(more.error());
    if (!*more) break;
    billed |= IsBilled(table->Text(columns->allocation));
    if (IsStep(*table, *columns, billed)) {
      builder.LeaveOut("steps");
      continue;
    }
    auto row = ReadSlurmRow(*table, *columns);
    if (!row) return Fail(row.error());
    if (const size_t plus = row->id.find('+'); plus != std::string::npos) {
      const std::string component = row->id.substr(plus + 1);
      row->id.resize(plus);
      auto& components = heterogeneous[row->id];
      const auto time = [](const RecordedRow& of) { return std::pair(of.submitted, of.started); };
      const auto [found, is_new] = components.try_emplace(component, *row);
      if (!is_new && time(*row) >= time(found->second)) found->second = *std::move(row);
      continue;
    }
    for (const auto& time : {row->submitted, row->started, row->ended})
      latest = std::max(latest, time.value_or(latest));
    if (row->state == RecordedRow::State::kRunning && row->started && !row->ended &&
        !row->duration) {
      still_run.push_back(*std::move(row));
      continue;
    }
    builder.Add(*std::move(row), columns->start.has_value());
  }
  // Without Elapsed, the time so far is that up to the latest time in the file.
  for (RecordedRow& row : still_run) {
    row.duration = latest - *row.started;
    builder.Add(std::move(row), columns->start.has_value());
  }
  for (const auto& [id, components] : heterogeneous) {
    builder.Note("heterogeneous");
    RecordedRow job = components.begin()->second;
    for (auto each = std::next(components.begin()); each != components.end(); ++each)
      Join(each->second, job);
    builder.Add(std::move(job), columns->start.has_value());
  }
  return builder.Finish("Slurm sacct", file);
}

}  // namespace synergy
