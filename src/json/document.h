#pragma once

// Parsed JSON text, read only. Hides RapidJSON.
//
// As in Go's encoding/json, the last of several equal keys counts, and malformed UTF-8 or half a
// surrogate pair becomes U+FFFD. Numbers keep their spelling, because a quantity may be written as
// a number and a double would round it.
//
// Threading: immutable. Ownership: a Value, and every string_view taken from it, is valid as long
// as its Document.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace synergy::json {

class Value;

// Limits how much of an untrusted object is read. Values that are not read take no memory.
struct ReadRules {
  // Applies to each object that is stored under the key `of`. Of its members that are objects or
  // lists, only `member` is read; the others read as empty.
  struct OnlyMember {
    std::string_view of;
    std::string_view member;
  };
  std::span<const OnlyMember> only = {};
  // The maximum number of values to read, keys included. A text with more values is cut(): from
  // there on, only values below the members named in `vital` are read, until there are
  // `most_vital_values` values in all.
  size_t most_values = std::numeric_limits<size_t>::max();
  std::span<const std::string_view> vital = {};
  size_t most_vital_values = std::numeric_limits<size_t>::max();
};

class Document {
 public:
  // The maximum depth. Deeper values are skipped, because no caller needs them: at this depth, a
  // container reads as empty.
  static constexpr int kDeepest = 64;

  // Returns kInvalid, with the position, if `text` is not JSON. The depth of the text affects
  // neither the stack nor the memory used.
  static Result<Document> Parse(std::string_view text, const ReadRules& rules = {});

  Value root() const;
  bool cut() const { return cut_; }

 private:
  friend class Value;
  friend class TapeBuilder;
  friend class ListReader;

  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

  // All values in the order of the text. An array is followed by its elements, and an object by its
  // keys and values. An array or object is thus followed by `extent` entries that belong to it.
  struct Entry {
    const char* text = nullptr;  // kString, kNumber
    uint32_t extent = 0;         // size of the text, value of a bool, or entries below
    Kind kind = Kind::kNull;
  };

  std::vector<char> buffer_;  // the text, unescaped in place; entries point into it
  std::vector<Entry> entries_;
  bool cut_ = false;
};

// A value in a document, or a missing one.
class Value {
 public:
  Value() = default;

  bool missing() const { return entry_ == nullptr; }
  // Returns whether the value is missing or null, which mean the same in Kubernetes.
  bool absent() const { return missing() || entry_->kind == Document::Kind::kNull; }
  bool IsBool() const { return Is(Document::Kind::kBool); }
  bool IsNumber() const { return Is(Document::Kind::kNumber); }
  bool IsString() const { return Is(Document::Kind::kString); }
  bool IsArray() const { return Is(Document::Kind::kArray); }
  bool IsObject() const { return Is(Document::Kind::kObject); }
  // Returns "a number", "an array", ...
  std::string_view DescribeKind() const;

  // Returns the value of a bool; false for other kinds.
  bool truth() const { return IsBool() && entry_->extent != 0; }
  // Returns the content of a string or the spelling of a number; empty for other kinds.
  std::string_view text() const {
    return IsString() || IsNumber() ? std::string_view(entry_->text, entry_->extent)
                                    : std::string_view();
  }
  // Returns a member of an object; missing if there is none, or this is not an object.
  Value operator[](std::string_view key) const;

  // Call visit(key, value) for each member of an object, or visit(value) for each element of an
  // array. Do nothing for values of other kinds.
  template <class Visit>
  void ForEachMember(Visit visit) const;
  template <class Visit>
  void ForEachElement(Visit visit) const;

  // Returns the path from here to `inner`, a value below this one: "spec.containers[2].name".
  std::string PathTo(Value inner) const;

 private:
  friend class Document;
  friend class ListReader;
  using Entry = Document::Entry;

  explicit Value(const Entry* entry) : entry_(entry) {}

  bool Is(Document::Kind kind) const { return entry_ != nullptr && entry_->kind == kind; }
  static const Entry* Next(const Entry* entry) {
    const bool container =
        entry->kind == Document::Kind::kArray || entry->kind == Document::Kind::kObject;
    return entry + 1 + (container ? entry->extent : 0);
  }
  const Entry* end() const { return entry_ + 1 + entry_->extent; }

  const Entry* entry_ = nullptr;
};

template <class Visit>
void Value::ForEachMember(Visit visit) const {
  if (!IsObject()) return;
  for (const Entry* key = entry_ + 1; key < end(); key = Next(key + 1)) {
    visit(Value(key).text(), Value(key + 1));
  }
}

template <class Visit>
void Value::ForEachElement(Visit visit) const {
  if (!IsArray()) return;
  for (const Entry* element = entry_ + 1; element < end(); element = Next(element)) {
    visit(Value(element));
  }
}

// Appends `name` as a step of a path: ".name", or ["na/me"] if that would be hard to read.
void AppendPathStep(std::string& path, std::string_view name);

}  // namespace synergy::json
