#include "json/document.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "json/tape_builder.h"
#include "json/text.h"

namespace synergy::json {

Result<Document> Document::Parse(std::string_view text, const ReadRules& rules) {
  // RapidJSON's sizes and those of this class have 32 bits.
  if (text.size() >= std::numeric_limits<uint32_t>::max()) {
    return Fail(ErrorCode::kInvalid, "JSON text of more than 4 GiB");
  }
  std::string repaired;
  if (!IsUtf8(text)) {
    AppendRepairedUtf8(repaired, text);
    text = repaired;
  }

  Document document;
  document.buffer_.reserve(text.size() + TapeBuilder::kPadding);
  document.buffer_.assign(text.begin(), text.end());
  document.buffer_.resize(text.size() + TapeBuilder::kPadding, '\0');
  char* const begin = document.buffer_.data();
  char* const end = begin + text.size();
  RepairEscapedSurrogates(begin, text.size());
  // Measured pods and nodes have at most one value per 17 bytes.
  document.entries_.reserve(std::min(text.size() / 16 + 1, rules.most_values));
  TapeBuilder builder(rules, document.entries_);
  const Result<size_t> read = builder.Read(begin, begin, end);
  if (!read) return Fail(read.error());
  document.cut_ = builder.cut();
  const char* behind = begin + *read;
  while (behind != end && (*behind == ' ' || *behind == '\n' || *behind == '\r' || *behind == '\t'))
    ++behind;
  if (behind != end) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("not JSON at byte {}: {}", behind - begin,
                            *behind == '\0' ? "a NUL" : "more than one value"));
  }
  return document;
}

Value Document::root() const { return entries_.empty() ? Value() : Value(entries_.data()); }

std::string_view Value::DescribeKind() const {
  if (missing()) return "nothing";
  switch (entry_->kind) {
    case Document::Kind::kNull:
      return "null";
    case Document::Kind::kBool:
      return "a boolean";
    case Document::Kind::kNumber:
      return "a number";
    case Document::Kind::kString:
      return "a string";
    case Document::Kind::kArray:
      return "an array";
    case Document::Kind::kObject:
      return "an object";
  }
  return "nothing";
}

Value Value::operator[](std::string_view key) const {
  Value found;
  ForEachMember([&](std::string_view name, Value value) {
    if (name == key) found = value;
  });
  return found;
}

std::string Value::PathTo(Value inner) const {
  // Only messages need paths, so they are searched for instead of stored.
  std::string path;
  Value at = *this;
  while (at.entry_ != inner.entry_) {
    Value next;
    const auto holds = [&inner](Value value) {
      return value.entry_ <= inner.entry_ && inner.entry_ < Next(value.entry_);
    };
    at.ForEachMember([&](std::string_view name, Value value) {
      if (!holds(value)) return;
      next = value;
      AppendPathStep(path, name);
    });
    size_t index = 0;
    at.ForEachElement([&](Value value) {
      if (holds(value)) {
        next = value;
        path += fmt::format("[{}]", index);
      }
      ++index;
    });
    if (next.missing()) return path;
    at = next;
  }
  return path;
}

void AppendPathStep(std::string& path, std::string_view name) {
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
  if (!plain) {
    path += '[' + Quoted(name) + ']';
    return;
  }
  if (!path.empty()) path += '.';
  path += name;
}

}  // namespace synergy::json
