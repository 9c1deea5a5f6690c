#include "sim/csv.h"

#include <charconv>
#include <cmath>
#include <system_error>

#include <fmt/format.h>

namespace synergy {
namespace {

std::string_view NextLine(std::string_view& text) {
  const size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

void Split(std::string_view line, std::vector<std::string_view>& fields) {
  for (;;) {
    const size_t comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return;
    line.remove_prefix(comma + 1);
  }
}

// Parses all of `text`; nullopt if anything is left over.
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
  for (size_t line = 1; !text.empty(); ++line) {
    const std::string_view whole = NextLine(text);
    if (whole.empty()) continue;
    if (table.columns_.empty()) {
      Split(whole, table.columns_);
      for (size_t i = 0; i < table.columns_.size(); ++i) {
        if (table.Find(table.columns_[i]) == i) continue;
        return Fail(ErrorCode::kInvalid,
                    fmt::format("{}:{}: the column \"{}\" occurs twice: remove one", file, line,
                                table.columns_[i]));
      }
      continue;
    }
    const size_t before = table.fields_.size();
    Split(whole, table.fields_);
    if (const size_t found = table.fields_.size() - before; found != table.columns_.size()) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("{}:{}: {} fields, but the header has {} columns: write one for "
                              "each, separated by commas",
                              file, line, found, table.columns_.size()));
    }
    table.line_numbers_.push_back(line);
    table.lines_.push_back(whole);
  }
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
  const std::string_view text = fields_[row * columns_.size() + column];
  const auto offset = static_cast<size_t>(text.data() - lines_[row].data());
  return {text, columns_[column], file_, line_numbers_[row], offset + 1};
}

}  // namespace synergy
