#include "json/field_reader.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "json/text.h"

namespace synergy::json {
namespace {

// More findings would help no reader, and searching for paths takes time.
constexpr size_t kMostFindings = 8;

template <class Number>
std::optional<Number> ParseWholeNumber(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Strips the spaces around a quantity. apimachinery trims the raw JSON text, where other white
// space is escaped and hence an error.
std::string_view WithoutSpaces(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

std::string_view FieldReader::Text(Value value) {
  if (value.IsString()) return value.text();
  if (!value.absent()) Report(value, fmt::format("must be a string, not {}", value.DescribeKind()));
  return {};
}

bool FieldReader::Truth(Value value) {
  if (!value.absent() && !value.IsBool()) {
    Report(value, fmt::format("must be true or false, not {}", value.DescribeKind()));
  }
  return value.truth();
}

int64_t FieldReader::Integer(Value value, int64_t least, int64_t most) {
  if (value.absent()) return 0;
  if (!value.IsNumber()) {
    Report(value, fmt::format("must be a whole number, not {}", value.DescribeKind()));
    return 0;
  }
  const std::optional<int64_t> number = ParseWholeNumber<int64_t>(value.text());
  if (!number || *number < least || *number > most) {
    Report(value, fmt::format("{} is not a whole number from {} to {}", Quoted(value.text()), least,
                              most));
    return 0;
  }
  return *number;
}

uint64_t FieldReader::NumberInText(Value value) {
  const std::string_view text = Text(value);
  if (text.empty()) return 0;
  const std::optional<uint64_t> number = ParseWholeNumber<uint64_t>(text);
  if (!number) Report(value, fmt::format("{} is not a number", Quoted(text)));
  return number.value_or(0);
}

ExactQuantity FieldReader::Amount(Value value) {
  if (value.absent()) return {};
  if (!value.IsString() && !value.IsNumber()) {
    Report(value, fmt::format("must be a quantity, not {}", value.DescribeKind()));
    return {};
  }
  const std::optional<ParsedQuantity> parsed = ParseExactQuantity(WithoutSpaces(value.text()));
  if (!parsed) {
    Report(value, fmt::format("{} is not a quantity", Quoted(value.text())));
    return {};
  }
  return parsed->exact;
}

Value FieldReader::Object(Value value) {
  if (value.IsObject()) return value;
  if (!value.absent()) {
    Report(value, fmt::format("must be an object, not {}", value.DescribeKind()));
  }
  return {};
}

Value FieldReader::Array(Value value) {
  if (value.IsArray()) return value;
  if (!value.absent()) {
    Report(value, fmt::format("must be an array, not {}", value.DescribeKind()));
  }
  return {};
}

bool FieldReader::Count() { return ++count_ <= kMostFindings; }

void FieldReader::Add(std::string path, std::string_view what) {
  if (!path.empty()) path += ": ";
  path += what;
  findings_.push_back(std::move(path));
}

void FieldReader::Report(Value where, std::string_view what) {
  if (Count()) Add(root_.PathTo(where), what);
}

void FieldReader::ReportMissing(Value where, std::string_view key) {
  if (!Count()) return;
  std::string path = where.missing() ? std::string() : root_.PathTo(where);
  AppendPathStep(path, key);
  Add(std::move(path), "is missing");
}

void FieldReader::Adopt(Value where, const FieldReader& inner) {
  for (const std::string& finding : inner.findings_) Report(where, finding);
}

}  // namespace synergy::json
