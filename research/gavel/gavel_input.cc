#include "research/gavel/gavel_input.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "research/gavel/published_throughputs.h"
#include "sim/csv.h"

namespace synergy {
namespace {

constexpr std::array<std::string_view, 10> kFields = {
    "model", "command", "directory", "steps argument", "data directory", "steps",
    "GPUs",  "weight",  "SLO",       "arrival"};
constexpr double kLargest = 1e15;

// A line of a trace.
class TraceLine {
 public:
  TraceLine(std::string_view file, size_t number, std::string_view line)
      : file_(file), number_(number) {
    while (true) {
      const size_t tab = line.find('\t');
      fields_.push_back(line.substr(0, tab));
      if (tab == std::string_view::npos) return;
      line.remove_prefix(tab + 1);
    }
  }

  Result<GavelTraceJob> Read(int64_t id) const {
    if (fields_.size() != kFields.size()) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("{}:{}: {} fields instead of {}, separated by tabs: {}", file_,
                              number_, fields_.size(), kFields.size(), fmt::join(kFields, ", ")));
    }
    if (fields_[0].empty()) return Reject(0, "write the model's name");
    const auto steps = WholeNumber(5);
    if (!steps) return Fail(steps.error());
    const auto gpus = WholeNumber(6);
    if (!gpus) return Fail(gpus.error());
    const auto weight = Number(7, 0);
    if (!weight) return Fail(weight.error());
    if (*weight == 0) return Reject(7, "write a number above 0");
    const auto slo = Number(8, -kLargest);
    if (!slo) return Fail(slo.error());
    const auto arrival = Number(9, 0);
    if (!arrival) return Fail(arrival.error());
    return GavelTraceJob{.id = id,
                         .model = std::string(fields_[0]),
                         .gpus = *gpus,
                         .steps = *steps,
                         .weight = *weight,
                         .slo = *slo < 0 ? std::nullopt : std::optional(*slo),
                         .submitted = Seconds(*arrival)};
  }

 private:
  tl::unexpected<Error> Reject(size_t field, std::string_view cure) const {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}:{}: field {} ({}) is \"{}\": {}", file_, number_, field + 1,
                            kFields[field], fields_[field], cure));
  }

  Result<double> Number(size_t field, double least) const {
    const std::string_view text = fields_[field];
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number) ||
        number < least || number > kLargest) {
      return Reject(field, least < 0 ? std::string("write a number")
                                     : fmt::format("write a number of at least {}", least));
    }
    return number;
  }

  // Returns a number of at least 1.
  Result<int64_t> WholeNumber(size_t field) const {
    const auto number = Number(field, 1);
    if (!number) return Fail(number.error());
    if (*number != std::floor(*number)) return Reject(field, "write a whole number");
    return static_cast<int64_t>(*number);
  }

  std::string_view file_;
  size_t number_;
  std::vector<std::string_view> fields_;
};

}  // namespace

Result<std::vector<GavelTraceJob>> ParseGavelTrace(std::string_view text, std::string_view file) {
  std::vector<GavelTraceJob> jobs;
  size_t number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    auto job = TraceLine(file, number, line).Read(static_cast<int64_t>(jobs.size()));
    if (!job) return Fail(job.error());
    jobs.push_back(*std::move(job));
  }
  if (jobs.empty()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}: no jobs: write a line for each, fields separated by tabs: {}",
                            file, fmt::join(kFields, ", ")));
  }
  return jobs;
}

std::string ToGavelTrace(std::span<const GavelTraceJob> jobs) {
  std::string text;
  for (const GavelTraceJob& job : jobs) {
    text += fmt::format("{}\t\t\t\t0\t{}\t{}\t{}\t{}\t{}\n", job.model, job.steps, job.gpus,
                        job.weight, job.slo.value_or(-1), job.submitted.count());
  }
  return text;
}

Result<GavelThroughputs> GavelThroughputs::Parse(std::string_view text, std::string_view file) {
  const auto table = CsvTable::Parse(text, file);
  if (!table) return Fail(table.error());
  const auto model = table->Need("model");
  if (!model) return Fail(model.error());
  const auto gpus = table->Need("gpus");
  if (!gpus) return Fail(gpus.error());
  GavelThroughputs throughputs;
  std::vector<size_t> columns;
  for (size_t column = 0; column < table->columns().size(); ++column) {
    if (column == *model || column == *gpus) continue;
    columns.push_back(column);
    throughputs.types_.emplace_back(table->columns()[column]);
  }
  for (size_t row = 0; row < table->rows(); ++row) {
    const auto size = table->At(row, *gpus).WholeNumber(1);
    if (!size) return Fail(size.error());
    std::vector<double> rates;
    for (const size_t column : columns) {
      const auto rate = table->At(row, column).Number(0);
      if (!rate) return Fail(rate.error());
      rates.push_back(*rate);
    }
    const auto name = table->At(row, *model);
    if (!throughputs.rates_.try_emplace({std::string(name.text), *size}, std::move(rates)).second) {
      return name.Reject("an earlier line has this model with as many GPUs: remove one of them");
    }
  }
  return throughputs;
}

GavelThroughputs GavelThroughputs::Published() {
  return *WithPairs(*Parse(kPublishedGavelThroughputs, "the published throughputs"),
                    kPublishedGavelPairs, "the published throughputs of pairs");
}

Result<GavelThroughputs> GavelThroughputs::WithPairs(GavelThroughputs alone, std::string_view text,
                                                     std::string_view file) {
  const auto table = CsvTable::Parse(text, file);
  if (!table) return Fail(table.error());
  std::vector<size_t> columns;
  for (const std::string& name : {std::string("first"), std::string("second")}) {
    const auto column = table->Need(name);
    if (!column) return Fail(column.error());
    columns.push_back(*column);
  }
  for (const std::string& type : alone.types_) {
    for (const char* const suffix : {"_first", "_second"}) {
      const auto column = table->Need(type + suffix);
      if (!column) return Fail(column.error());
      columns.push_back(*column);
    }
  }
  for (size_t row = 0; row < table->rows(); ++row) {
    Together together;
    for (size_t type = 0; type < alone.types_.size(); ++type) {
      const auto first = table->At(row, columns[2 + 2 * type]).Number(0);
      if (!first) return Fail(first.error());
      const auto second = table->At(row, columns[3 + 2 * type]).Number(0);
      if (!second) return Fail(second.error());
      together.push_back({*first, *second});
    }
    std::pair names(std::string(table->At(row, columns[0]).text),
                    std::string(table->At(row, columns[1]).text));
    if (!alone.pairs_.emplace(names, together).second) {
      return table->At(row, columns[0]).Reject("an earlier line has this pair: remove one of them");
    }
    std::swap(names.first, names.second);
    for (auto& [first, second] : together) std::swap(first, second);
    alone.pairs_.emplace(std::move(names), std::move(together));
  }
  return alone;
}

std::optional<GavelThroughputs::Together> GavelThroughputs::OfPair(
    const std::string& first, const std::string& second,
    const std::vector<std::string>& types) const {
  const auto found = pairs_.find({first, second});
  if (found == pairs_.end()) return std::nullopt;
  Together together;
  for (const std::string& type : types) together.push_back(found->second[ColumnOf(type)]);
  return together;
}

size_t GavelThroughputs::ColumnOf(std::string_view type) const {
  return static_cast<size_t>(std::find(types_.begin(), types_.end(), type) - types_.begin());
}

Result<std::vector<std::string>> GavelThroughputs::FastestFirst(
    std::vector<std::string> types) const {
  std::vector<std::pair<double, std::string>> sums;
  for (std::string& type : types) {
    const size_t column = ColumnOf(type);
    if (column == types_.size()) {
      return Fail(ErrorCode::kInvalid, fmt::format("unknown GPU type {}; known types: {}", type,
                                                   fmt::join(types_, ", ")));
    }
    double sum = 0;
    for (const auto& [job, rates] : rates_) sum += rates[column];
    sums.emplace_back(sum, std::move(type));
  }
  std::stable_sort(sums.begin(), sums.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  types.clear();
  for (auto& [sum, type] : sums) types.push_back(std::move(type));
  return types;
}

Result<std::vector<double>> GavelThroughputs::Of(const std::string& model, int64_t gpus,
                                                 const std::vector<std::string>& types) const {
  const auto found = rates_.find({model, gpus});
  if (found == rates_.end()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("there are no throughputs of {} on {} GPUs", model, gpus));
  }
  std::vector<double> rates;
  for (const std::string& type : types) rates.push_back(found->second[ColumnOf(type)]);
  return rates;
}

std::vector<std::string> GavelThroughputs::Models(int64_t gpus, std::string_view type) const {
  const size_t column = ColumnOf(type);
  std::vector<std::string> models;
  for (const auto& [job, rates] : rates_) {
    if (job.second == gpus && rates[column] > 0) models.push_back(job.first);
  }
  return models;
}

}  // namespace synergy
