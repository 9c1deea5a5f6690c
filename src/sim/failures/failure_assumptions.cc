#include "sim/failures/failure_assumptions.h"

#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "sim/csv.h"

namespace synergy {
namespace {

constexpr std::array<std::string_view, 8> kColumns = {
    "category",        "jobs",  "median_minutes",    "mean_minutes", "again",
    "again_same_node", "tries", "checkpoint_minutes"};
constexpr int64_t kMostTries = 1000;
constexpr double kMostMinutes = 1e6;
constexpr double kLeastMedian = 1e-3;

Result<double> NumberUpTo(const CsvTable::Field& field, double least, double most) {
  const auto number = field.Number(least);
  if (number && *number > most) return field.Reject(fmt::format("write at most {}", most));
  return number;
}

Result<Seconds> Minutes(const CsvTable::Field& field, double least) {
  const auto minutes = NumberUpTo(field, least, kMostMinutes);
  if (!minutes) return Fail(minutes.error());
  return Seconds(*minutes * 60);
}

Result<FailureAssumption> ReadRow(const CsvTable& table, size_t row,
                                  const std::array<size_t, kColumns.size()>& columns) {
  FailureAssumption failure;
  const CsvTable::Field category = table.At(row, columns[0]);
  const auto known = CategoryNamed(category.text);
  if (!known) return category.Reject("write one of the categories of docs/failures.md");
  failure.category = *known;
  const std::array<std::pair<size_t, double*>, 3> parts = {
      {{1, &failure.jobs}, {4, &failure.again}, {5, &failure.again_same_node}}};
  for (const auto& [column, value] : parts) {
    const auto part = NumberUpTo(table.At(row, columns[column]), 0, 1);
    if (!part) return Fail(part.error());
    *value = *part;
  }
  const auto median = Minutes(table.At(row, columns[2]), kLeastMedian);
  if (!median) return Fail(median.error());
  failure.median = *median;
  const CsvTable::Field mean = table.At(row, columns[3]);
  const auto minutes = Minutes(mean, kLeastMedian);
  if (!minutes) return Fail(minutes.error());
  if (*minutes < *median) return mean.Reject("write no less than median_minutes");
  failure.mean = *minutes;
  const CsvTable::Field tries = table.At(row, columns[6]);
  const auto whole = tries.WholeNumber(1);
  if (!whole) return Fail(whole.error());
  if (*whole > kMostTries) return tries.Reject(fmt::format("write at most {}", kMostTries));
  failure.tries = static_cast<uint32_t>(*whole);
  const auto checkpoint = Minutes(table.At(row, columns[7]), 0);
  if (!checkpoint) return Fail(checkpoint.error());
  failure.checkpoint = *checkpoint;
  return failure;
}

}  // namespace

Result<std::vector<FailureAssumption>> ParseFailureAssumptions(std::string_view text,
                                                               std::string_view file_name) {
  constexpr double kRounding = 1e-9;
  const auto table = CsvTable::Parse(text, file_name);
  if (!table) return Fail(table.error());
  std::array<size_t, kColumns.size()> columns{};
  for (size_t i = 0; i < kColumns.size(); ++i) {
    const auto column = table->Need(kColumns.at(i));
    if (!column) return Fail(column.error());
    columns.at(i) = *column;
  }
  std::vector<FailureAssumption> failures;
  double jobs = 0;
  for (size_t row = 0; row < table->rows(); ++row) {
    auto failure = ReadRow(*table, row, columns);
    if (!failure) return Fail(failure.error());
    jobs += failure->jobs;
    if (jobs > 1 + kRounding)
      return table->At(row, columns[1]).Reject("write parts whose sum is at most 1");
    failures.push_back(*failure);
  }
  return failures;
}

}  // namespace synergy
