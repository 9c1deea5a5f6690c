#include "sim/traces/trace_fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/traces/time_text.h"

namespace synergy {

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

std::string InLowerCase(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lower;
}

Result<TraceTable> TraceTable::Open(std::string_view text, std::string_view file,
                                    const CsvRecords::Form& form,
                                    std::vector<std::string> columns) {
  TraceTable table(text, file, form);
  table.columns_ = table.written_ = std::move(columns);
  if (!table.columns_.empty()) return table;
  const auto read = table.records_.Next();
  if (!read) return Fail(read.error());
  if (!*read) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}:1: empty: write a header line with the columns' names", file));
  }
  for (const std::string_view name : table.records_.fields()) {
    table.columns_.push_back(InLowerCase(Trimmed(name)));
    table.written_.emplace_back(Trimmed(name));
  }
  while (table.columns_.size() > 1 && table.columns_.back().empty()) {
    table.columns_.pop_back();
    table.written_.pop_back();
    ++table.separators_at_end_;
  }
  std::unordered_set<std::string_view> names;
  for (const std::string& name : table.columns_) {
    if (names.insert(name).second) continue;
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}:{}: the column \"{}\" occurs twice: remove one", file,
                            table.records_.line(), name));
  }
  table.has_header_ = true;
  return table;
}

std::optional<size_t> TraceTable::Find(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    const auto found = std::find(columns_.begin(), columns_.end(), name);
    if (found != columns_.end()) return static_cast<size_t>(found - columns_.begin());
  }
  return std::nullopt;
}

Result<size_t> TraceTable::Need(std::initializer_list<std::string_view> names,
                                std::string_view what) const {
  if (const auto found = Find(names)) return *found;
  return Fail(ErrorCode::kInvalid,
              fmt::format("{}:1: the header has no column \"{}\": add {}; existing columns: {}",
                          file_, *names.begin(), what, fmt::join(written_, ", ")));
}

Result<bool> TraceTable::Next(std::string_view cure) {
  const auto is_header = [this](std::span<const std::string_view> fields) {
    return std::equal(
        fields.begin(), fields.end(), written_.begin(), written_.end(),
        [](std::string_view field, const std::string& name) { return Trimmed(field) == name; });
  };
  std::span<const std::string_view> fields;
  do {
    const auto read = records_.Next();
    if (!read || !*read) return read;
    fields = records_.fields();
    const size_t most = columns_.size() + separators_at_end_;
    while (fields.size() > columns_.size() && fields.size() <= most &&
           Trimmed(fields.back()).empty())
      fields = fields.first(fields.size() - 1);
  } while (has_header_ && is_header(fields));
  if (fields.size() == columns_.size()) return true;
  return Fail(ErrorCode::kInvalid,
              fmt::format("{}:{}: {} fields, but there are {} columns: {}", file_, records_.line(),
                          fields.size(), columns_.size(), cure));
}

CsvTable::Field TraceTable::At(size_t column) const {
  return {Trimmed(records_.fields()[column]), written_[column], file_, records_.line(),
          records_.ColumnOf(column)};
}

std::string_view TraceTable::Text(std::optional<size_t> column) const {
  if (!column) return {};
  const std::string_view text = Trimmed(records_.fields()[*column]);
  return IsUninformative(text) ? std::string_view() : text;
}

Result<std::optional<Seconds>> TraceTable::Time(std::optional<size_t> column) const {
  const std::string_view text = Text(column);
  if (text.empty()) return std::nullopt;
  const auto time = ReadTimeText(text);
  if (!time) return At(*column).Reject("write seconds, or a time as 2024-05-01T10:00:00Z");
  return time;
}

Result<std::optional<Seconds>> TraceTable::Length(std::optional<size_t> column) const {
  const std::string_view text = Text(column);
  if (text.empty()) return std::nullopt;
  const auto length = ReadDurationText(text);
  if (!length) return At(*column).Reject("write seconds, or [DAYS-]HOURS:MINUTES:SECONDS");
  return length;
}

Result<std::optional<double>> TraceTable::Number(std::optional<size_t> column, double most) const {
  const std::string_view text = Text(column);
  if (text.empty()) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number) ||
      number > most || number < -most) {
    return At(*column).Reject(fmt::format("write a number, at most {:g}", most));
  }
  return number;
}

}  // namespace synergy
