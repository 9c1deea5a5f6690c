#include "sim/trace.h"

#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "sim/csv.h"

namespace synergy {
namespace {

// Positions of the trace's columns.
struct Columns {
  size_t id, model, arrival, iterations, gpus;
  std::optional<size_t> iteration_time, duration, priority;
};

Result<Columns> FindColumns(const CsvTable& table) {
  Columns columns{};
  const std::pair<std::string_view, size_t*> needed[] = {{"job_id", &columns.id},
                                                         {"model", &columns.model},
                                                         {"arrival_s", &columns.arrival},
                                                         {"total_iterations", &columns.iterations},
                                                         {"gpus", &columns.gpus}};
  for (const auto& [name, position] : needed) {
    const auto found = table.Need(name);
    if (!found) return Fail(found.error());
    *position = *found;
  }
  columns.iteration_time = table.Find("iter_time_s_at_fair");
  columns.duration = table.Find("duration_s_at_fair");
  columns.priority = table.Find("priority");
  return columns;
}

Result<TraceJob> ReadJob(const CsvTable& table, const Columns& columns, size_t row) {
  const auto id = table.At(row, columns.id).WholeNumber(0);
  if (!id) return Fail(id.error());
  const auto model = table.At(row, columns.model);
  if (model.text.empty()) return model.Reject("write the model's name");
  const auto arrival = table.At(row, columns.arrival).Number(0);
  if (!arrival) return Fail(arrival.error());
  const auto iterations = table.At(row, columns.iterations).WholeNumber(1);
  if (!iterations) return Fail(iterations.error());
  const auto gpus = table.At(row, columns.gpus).WholeNumber(1);
  if (!gpus) return Fail(gpus.error());

  TraceJob job{.id = *id,
               .model = std::string(model.text),
               .arrival = Seconds(*arrival),
               .total_iterations = *iterations,
               .gpus = Gpus(*gpus)};
  const std::pair<std::optional<size_t>, Seconds*> optional[] = {
      {columns.iteration_time, &job.iteration_time}, {columns.duration, &job.duration}};
  for (const auto& [column, seconds] : optional) {
    if (!column) continue;
    const auto number = table.At(row, *column).Number(0);
    if (!number) return Fail(number.error());
    *seconds = Seconds(*number);
  }
  if (columns.priority) {
    const auto field = table.At(row, *columns.priority);
    const auto priority = ReadPriority(field);
    if (!priority) return Fail(priority.error());
    job.priority = *priority;
  }
  return job;
}

}  // namespace

Result<int32_t> ReadPriority(const CsvTable::Field& field) {
  // Kubernetes reserves higher priorities.
  constexpr int64_t kMostPriority = 1'000'000'000;
  const auto priority = field.WholeNumber(0);
  if (!priority) return Fail(priority.error());
  if (*priority > kMostPriority)
    return field.Reject(fmt::format("write a priority of at most {}", kMostPriority));
  return static_cast<int32_t>(*priority);
}

Result<std::vector<TraceJob>> ParseTrace(std::string_view text, std::string_view file_name) {
  const auto table = CsvTable::Parse(text, file_name);
  if (!table) return Fail(table.error());
  const auto columns = FindColumns(*table);
  if (!columns) return Fail(columns.error());

  std::vector<TraceJob> jobs;
  jobs.reserve(table->rows());
  std::unordered_map<int64_t, size_t> lines;
  lines.reserve(table->rows());
  for (size_t row = 0; row < table->rows(); ++row) {
    auto job = ReadJob(*table, *columns, row);
    if (!job) return Fail(job.error());
    const auto field = table->At(row, columns->id);
    if (const auto [earlier, is_new] = lines.emplace(job->id, field.line); !is_new) {
      return field.Reject(
          fmt::format("line {} has the same id: give each job an id of its own", earlier->second));
    }
    jobs.push_back(*std::move(job));
  }
  if (jobs.empty()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}: no jobs: write a line for each under the header", file_name));
  }
  return jobs;
}

}  // namespace synergy
