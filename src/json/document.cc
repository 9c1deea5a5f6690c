#include "json/document.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>
#include <rapidjson/stream.h>

#include "json/text.h"

namespace synergy::json {

// Receives RapidJSON's events. Its names and types are the library's.
class TapeBuilder {
 public:
  explicit TapeBuilder(std::vector<Document::Entry>& entries) : entries_(entries) {}

  bool too_deep() const { return too_deep_; }

  bool Null() { return Add({nullptr, 0, Kind::kNull}); }
  bool Bool(bool truth) { return Add({nullptr, truth ? 1U : 0U, Kind::kBool}); }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool /*copy*/) {
    return Add({text, size, Kind::kNumber});
  }
  bool String(const char* text, rapidjson::SizeType size, bool /*copy*/) {
    return Add({text, size, Kind::kString});
  }
  bool Key(const char* text, rapidjson::SizeType size, bool /*copy*/) {
    return Add({text, size, Kind::kString});
  }
  bool StartObject() { return Open(Kind::kObject); }
  bool StartArray() { return Open(Kind::kArray); }
  bool EndObject(rapidjson::SizeType /*members*/) { return Close(); }
  bool EndArray(rapidjson::SizeType /*elements*/) { return Close(); }

  // Numbers arrive as RawNumber; the library wants these all the same.
  bool Int(int /*number*/) { return false; }
  bool Uint(unsigned /*number*/) { return false; }
  bool Int64(int64_t /*number*/) { return false; }
  bool Uint64(uint64_t /*number*/) { return false; }
  bool Double(double /*number*/) { return false; }

 private:
  using Kind = Document::Kind;

  bool Add(Document::Entry entry) {
    entries_.push_back(entry);
    return true;
  }

  bool Open(Kind kind) {
    if (depth_ == Document::kDeepest) {
      too_deep_ = true;
      return false;
    }
    open_[depth_++] = entries_.size();
    return Add({nullptr, 0, kind});
  }

  bool Close() {
    const size_t container = open_[--depth_];
    entries_[container].extent = static_cast<uint32_t>(entries_.size() - container - 1);
    return true;
  }

  std::vector<Document::Entry>& entries_;
  size_t open_[Document::kDeepest] = {};
  int depth_ = 0;
  bool too_deep_ = false;
};

Result<Document> Document::Parse(std::string_view text) {
  // RapidJSON's sizes and ours have 32 bits.
  if (text.size() >= std::numeric_limits<uint32_t>::max()) {
    return Fail(ErrorCode::kInvalid, "JSON text of more than 4 GiB");
  }
  std::string repaired;
  if (!IsUtf8(text)) {
    AppendRepairedUtf8(repaired, text);
    text = repaired;
  }

  Document document;
  // The library looks for the end in blocks of 16 bytes.
  constexpr size_t kPadding = 16;
  document.buffer_.reserve(text.size() + kPadding);
  document.buffer_.assign(text.begin(), text.end());
  document.buffer_.resize(text.size() + kPadding, '\0');
  RepairEscapedSurrogates(document.buffer_.data(), text.size());
  // Measured on pods and nodes: one value in 17 bytes or more.
  document.entries_.reserve(text.size() / 16 + 1);

  constexpr unsigned kFlags = rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag |
                              rapidjson::kParseNumbersAsStringsFlag;
  TapeBuilder builder(document.entries_);
  rapidjson::InsituStringStream stream(document.buffer_.data());
  rapidjson::Reader reader;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, builder);
  if (builder.too_deep()) {
    return Fail(ErrorCode::kInvalid, fmt::format("JSON nested deeper than {} levels", kDeepest));
  }
  if (result.IsError()) {
    return Fail(ErrorCode::kInvalid, fmt::format("not JSON at byte {}: {}", result.Offset(),
                                                 rapidjson::GetParseError_En(result.Code())));
  }
  // To the library the text ends at its first NUL.
  if (stream.Tell() != text.size()) {
    return Fail(ErrorCode::kInvalid, fmt::format("not JSON at byte {}: a NUL", stream.Tell()));
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
  // Paths are needed for messages only, so they are searched for rather than carried along.
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
