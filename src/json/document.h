#pragma once

// Parsed JSON text, read only. RapidJSON is hidden behind it.
//
// Differences from a plain JSON parser are what Go's encoding/json does with the same text: the
// last of equal keys counts, and malformed UTF-8 or half a surrogate pair becomes U+FFFD. Numbers
// keep their spelling, because a quantity may be written as one and a double would round it.
//
// Threading: immutable. Ownership: a Value and every string_view taken from it are valid as long as
// their Document.

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

// Limits what is read of an object that may be anybody's. The rest takes no memory.
struct ReadRules {
  // Of an object that is the member `of` of another one only `member` is read of what is an object
  // or a list; the others read as empty.
  struct OnlyMember {
    std::string_view of;
    std::string_view member;
  };
  std::span<const OnlyMember> only = {};
  // So many values, keys among them. Beyond that an object is cut(): only what is below members of
  // these names alone is read of it, and of that so many values.
  size_t most_values = std::numeric_limits<size_t>::max();
  std::span<const std::string_view> vital = {};
  size_t most_vital_values = std::numeric_limits<size_t>::max();
};

class Document {
 public:
  // What is nested deeper, which nobody here asks for, is passed over: the innermost of so many
  // levels reads as empty.
  static constexpr int kDeepest = 64;

  // kInvalid, with the position, when `text` is not JSON. The depth of the text has no influence on
  // the stack, nor on the memory that is taken.
  static Result<Document> Parse(std::string_view text, const ReadRules& rules = {});

  Value root() const;
  bool cut() const { return cut_; }

 private:
  friend class Value;
  friend class TapeBuilder;
  friend class ListReader;

  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

  // All values in the order of the text. An array's elements, an object's keys and values, follow
  // it; `extent` counts them with everything below, so that it leads to what comes next.
  struct Entry {
    const char* text = nullptr;  // kString, kNumber
    uint32_t extent = 0;         // kString, kNumber: size of the text; kBool: the value
    Kind kind = Kind::kNull;
  };

  std::vector<char> buffer_;  // the text, unescaped in place; entries point into it
  std::vector<Entry> entries_;
  bool cut_ = false;
};

// A value in a document, or the place where one is missing.
class Value {
 public:
  Value() = default;

  bool missing() const { return entry_ == nullptr; }
  // Missing or null: to Kubernetes the same.
  bool absent() const { return missing() || entry_->kind == Document::Kind::kNull; }
  bool IsBool() const { return Is(Document::Kind::kBool); }
  bool IsNumber() const { return Is(Document::Kind::kNumber); }
  bool IsString() const { return Is(Document::Kind::kString); }
  bool IsArray() const { return Is(Document::Kind::kArray); }
  bool IsObject() const { return Is(Document::Kind::kObject); }
  // "a number", "an array", ...
  std::string_view DescribeKind() const;

  // What a bool holds; false for others.
  bool truth() const { return IsBool() && entry_->extent != 0; }
  // What a string holds, or how a number is spelled; empty for others.
  std::string_view text() const {
    return IsString() || IsNumber() ? std::string_view(entry_->text, entry_->extent)
                                    : std::string_view();
  }
  // An object's member; missing where there is none or this is no object.
  Value operator[](std::string_view key) const;

  // Calls visit(key, value) or visit(value) for each; for none when this is no object or array.
  template <class Visit>
  void ForEachMember(Visit visit) const;
  template <class Visit>
  void ForEachElement(Visit visit) const;

  // How `inner`, a value below this one, is reached from here ("spec.containers[2].name").
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

// `name` as a step of a path: ".name", or ["na/me"] where it would not read well.
void AppendPathStep(std::string& path, std::string_view name);

}  // namespace synergy::json
