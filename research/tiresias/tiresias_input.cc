#include "research/tiresias/tiresias_input.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "sim/csv.h"

namespace synergy {
namespace {

// No double could represent the sums of longer times exactly.
constexpr int64_t kLongest = 1'000'000'000'000;
constexpr int64_t kMostNodes = 1'000'000;
constexpr int64_t kMostGpusOfANode = 1024;

Result<int64_t> WholeAtMost(const CsvTable::Field& field, int64_t least, int64_t most) {
  const auto number = field.WholeNumber(least);
  if (!number) return Fail(number.error());
  if (*number > most) return field.Reject(fmt::format("write a whole number, at most {}", most));
  return *number;
}

Result<int64_t> CutToWhole(const CsvTable::Field& field) {
  const auto number = field.Number(0);
  if (!number) return Fail(number.error());
  if (*number > static_cast<double>(kLongest)) {
    return field.Reject(fmt::format("write a number, at most {}", kLongest));
  }
  return static_cast<int64_t>(*number);
}

struct TiresiasColumns {
  size_t id, gpus, submitted, duration;
  std::optional<size_t> model;
};

Result<TiresiasColumns> FindTiresiasColumns(const CsvTable& table) {
  TiresiasColumns columns{};
  const std::pair<std::string_view, size_t*> needed[] = {{"job_id", &columns.id},
                                                         {"num_gpu", &columns.gpus},
                                                         {"submit_time", &columns.submitted},
                                                         {"duration", &columns.duration}};
  for (const auto& [name, position] : needed) {
    const auto found = table.Need(name);
    if (!found) return Fail(found.error());
    *position = *found;
  }
  columns.model = table.Find("model_name");
  return columns;
}

Result<TiresiasJob> ReadTiresiasJob(const CsvTable& table, const TiresiasColumns& columns,
                                    size_t row) {
  const auto id = table.At(row, columns.id).WholeNumber(0);
  if (!id) return Fail(id.error());
  const auto gpus = WholeAtMost(table.At(row, columns.gpus), 1, kMostNodes * kMostGpusOfANode);
  if (!gpus) return Fail(gpus.error());
  const auto submitted = WholeAtMost(table.At(row, columns.submitted), 0, kLongest);
  if (!submitted) return Fail(submitted.error());
  const auto duration = CutToWhole(table.At(row, columns.duration));
  if (!duration) return Fail(duration.error());
  TiresiasJob job{.id = *id, .gpus = *gpus, .submitted = *submitted, .duration = *duration};
  if (columns.model) job.model = table.At(row, *columns.model).text;
  return job;
}

std::optional<int64_t> TakeWhole(std::string_view& text, int64_t most) {
  int64_t number = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 1 || number > most) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(stopped - text.data()));
  return number;
}

// Parses 2, 0.5, and 05, which the authors write for 0.5.
std::optional<double> PromoteKnob(std::string_view text) {
  const bool tenths = text.size() > 1 && text[0] == '0' && text[1] != '.';
  const std::string number = tenths ? "0." + std::string(text.substr(1)) : std::string(text);
  double knob = 0;
  const auto [stopped, error] =
      std::from_chars(number.data(), number.data() + number.size(), knob, std::chars_format::fixed);
  if (error != std::errc() || stopped != number.data() + number.size()) return std::nullopt;
  if (!std::isfinite(knob) || knob <= 0 || knob > 1e6) return std::nullopt;
  return knob;
}

}  // namespace

Result<std::vector<TiresiasJob>> ParseTiresiasTrace(std::string_view text, std::string_view file) {
  const auto table = CsvTable::Parse(text, file);
  if (!table) return Fail(table.error());
  const auto columns = FindTiresiasColumns(*table);
  if (!columns) return Fail(columns.error());
  std::vector<TiresiasJob> jobs;
  std::unordered_map<int64_t, size_t> lines;
  for (size_t row = 0; row < table->rows(); ++row) {
    auto job = ReadTiresiasJob(*table, *columns, row);
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
                fmt::format("{}: no jobs: write a line for each under the header", file));
  }
  return jobs;
}

Result<std::vector<int64_t>> ParseSizeHistory(std::string_view text, std::string_view file) {
  const auto table = CsvTable::Parse(text, file);
  if (!table) return Fail(table.error());
  const auto column = table->Need("duration");
  if (!column) return Fail(column.error());
  std::vector<int64_t> sizes;
  for (size_t row = 0; row < table->rows(); ++row) {
    const auto size = WholeAtMost(table->At(row, *column), 1, kLongest);
    if (!size) return Fail(size.error());
    sizes.push_back(*size);
  }
  if (sizes.empty()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}: no sizes: write one per line under the header", file));
  }
  return sizes;
}

Result<TiresiasCluster> ParseTiresiasCluster(std::string_view text) {
  const auto wrong = [text] {
    return Fail(ErrorCode::kInvalid,
                fmt::format("\"{}\": write nXgY, such as n2g4 for 2 nodes of 4 GPUs, with at most "
                            "{} nodes of {} GPUs",
                            text, kMostNodes, kMostGpusOfANode));
  };
  std::string_view rest = text;
  if (!rest.starts_with('n')) return wrong();
  rest.remove_prefix(1);
  const auto nodes = TakeWhole(rest, kMostNodes);
  if (!nodes || !rest.starts_with('g')) return wrong();
  rest.remove_prefix(1);
  const auto gpus = TakeWhole(rest, kMostGpusOfANode);
  if (!gpus || !rest.empty()) return wrong();
  return TiresiasCluster{.nodes = *nodes, .gpus = *gpus};
}

Result<TiresiasSchedule> ParseTiresiasSchedule(std::string_view text) {
  using enum TiresiasSchedule::Kind;
  constexpr std::pair<std::string_view, TiresiasSchedule::Kind> names[] = {
      {"dlas-gpu", kDlasGpu},  {"dlas-gpu-gittins", kDlasGpuGittins}, {"fifo", kFifo},
      {"shortest", kShortest}, {"shortest-gpu", kShortestGpu},        {"sjf", kSjf}};
  for (const auto& [name, kind] : names) {
    if (text == name) return TiresiasSchedule{.kind = kind};
  }
  const size_t dash = text.rfind('-');
  if (dash != std::string_view::npos) {
    const std::string_view name = text.substr(0, dash);
    const auto knob = PromoteKnob(text.substr(dash + 1));
    if (knob && name == "dlas-gpu") return TiresiasSchedule{kDlasGpu, *knob};
  }
  return Fail(
      ErrorCode::kInvalid,
      fmt::format("unknown schedule \"{}\": use one of dlas-gpu, dlas-gpu-N (N the promote knob, "
                  "above 0 and up to 1e6), dlas-gpu-gittins, fifo, shortest, shortest-gpu, sjf",
                  text));
}

Result<TiresiasScheme> ParseTiresiasScheme(std::string_view text) {
  if (text == "count") return TiresiasScheme::kCount;
  if (text == "yarn") return TiresiasScheme::kYarn;
  return Fail(ErrorCode::kInvalid, fmt::format("unknown scheme \"{}\": use count or yarn", text));
}

}  // namespace synergy
