#include "sim/csv.h"

#include <charconv>
#include <cmath>
#include <system_error>

#include <fmt/format.h>

#include "sim/csv_records.h"

namespace synergy {
namespace {

// Parses all of `text`; returns nullopt if anything is left over.
template <class Number>
std::optional<Number> Read(std::string_view text) {
  Number number{};
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stopped != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

tl::unexpected<Error> CsvTable::Field::Reject(std::string_view cure) const {
  return Fail(ErrorCode::kInvalid,
              fmt::format("{}:{}:{}: {} is \"{}\": {}", file, line, column, name, text, cure));
}

Result<int64_t> CsvTable::Field::WholeNumber(int64_t least) const {
  const auto number = Read<int64_t>(text);
  if (!number || *number < least)
    return Reject(fmt::format("write a whole number, {} or more", least));
  return *number;
}

Result<double> CsvTable::Field::Number(double least) const {
  const auto number = Read<double>(text);
  if (!number || !std::isfinite(*number) || *number < least)
    return Reject(fmt::format("write a number, {} or more", least));
  return *number;
}

Result<CsvTable> CsvTable::Parse(std::string_view text, std::string_view file) {
  CsvTable table;
  table.file_ = file;
  CsvRecords records(text, file, {});
  for (;;) {
    const auto more = records.Next();
    if (!more) return Fail(more.error());
    if (!*more) break;
    if (table.columns_.empty()) {
      table.columns_.assign(records.fields().begin(), records.fields().end());
      for (size_t i = 0; i < table.columns_.size(); ++i) {
        if (table.Find(table.columns_[i]) == i) continue;
        return Fail(ErrorCode::kInvalid,
                    fmt::format("{}:{}: the column \"{}\" occurs twice: remove one", file,
                                records.line(), table.columns_[i]));
      }
      continue;
    }
    if (const size_t found = records.fields().size(); found != table.columns_.size()) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("{}:{}: {} fields, but the header has {} columns: write one for "
                              "each, separated by commas",
                              file, records.line(), found, table.columns_.size()));
    }
    table.line_numbers_.push_back(records.line());
    for (size_t at = 0; at < table.columns_.size(); ++at) {
      table.fields_.push_back(records.fields()[at]);
      table.positions_.push_back(records.ColumnOf(at));
    }
  }
  table.unescaped_ = records.TakeUnescaped();
  if (table.columns_.empty()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}:1: empty: write a header line with the columns' names", file));
  }
  return table;
}

std::optional<size_t> CsvTable::Find(std::string_view column) const {
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i] == column) return i;
  }
  return std::nullopt;
}

Result<size_t> CsvTable::Need(std::string_view column) const {
  if (const auto found = Find(column)) return *found;
  return Fail(ErrorCode::kInvalid,
              fmt::format("{}:1: the header has no column \"{}\": add it; existing columns: {}",
                          file_, column, fmt::join(columns_, ", ")));
}

CsvTable::Field CsvTable::At(size_t row, size_t column) const {
  const size_t at = row * columns_.size() + column;
  return {fields_[at], columns_[column], file_, line_numbers_[row], positions_[at]};
}

}  // namespace synergy
