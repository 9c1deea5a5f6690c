#pragma once

// Turns JSON text into the entries of a Document, in place. Private to this folder.
//
// Threading: one owner.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <rapidjson/reader.h>
#include <rapidjson/stream.h>

#include "core/result.h"
#include "json/document.h"

namespace synergy::json {

// Receives RapidJSON's events. RapidJSON prescribes the names and types of these functions.
class TapeBuilder {
 public:
  // The number of zeros after the text. The library looks for the end of the text in blocks of 16
  // bytes.
  static constexpr size_t kPadding = 16;

  TapeBuilder(const ReadRules& rules, std::vector<Document::Entry>& entries)
      : rules_(rules), entries_(entries) {}

  // Reads the value at `at` in place and returns the size of its text. REQUIRES: well-formed UTF-8
  // without halves of surrogate pairs. Messages count positions from `begin`; the padding begins at
  // `end`.
  Result<size_t> Read(const char* begin, char* at, char* end);

  // Returns whether the value exceeded the limits of the rules.
  bool cut() const { return cut_; }

  bool Null() { return Add({nullptr, 0, Kind::kNull}); }
  bool Bool(bool truth) { return Add({nullptr, truth ? 1U : 0U, Kind::kBool}); }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool /*copy*/) {
    return Add({text, size, Kind::kNumber});
  }
  bool String(const char* text, rapidjson::SizeType size, bool /*copy*/) {
    return Add({text, size, Kind::kString});
  }
  bool Key(const char* text, rapidjson::SizeType size, bool /*copy*/) {
    if (IsNearLimit() && !MayAdd(true)) return !full_;
    entries_.push_back({text, size, Kind::kString});
    return true;
  }
  bool StartObject() { return Open(Kind::kObject); }
  bool StartArray() { return Open(Kind::kArray); }
  bool EndObject(rapidjson::SizeType /*members*/) { return Close(); }
  bool EndArray(rapidjson::SizeType /*elements*/) { return Close(); }

  // Numbers arrive as RawNumber; the library still requires these functions.
  bool Int(int /*number*/) { return false; }
  bool Uint(unsigned /*number*/) { return false; }
  bool Int64(int64_t /*number*/) { return false; }
  bool Uint64(uint64_t /*number*/) { return false; }
  bool Double(double /*number*/) { return false; }

 private:
  using Kind = Document::Kind;

  bool Add(Document::Entry entry) {
    if (IsNearLimit() && !MayAdd(false)) return !full_;
    entries_.push_back(entry);
    return true;
  }
  bool Open(Kind kind);
  bool Close();

  bool IsNearLimit() const { return entries_.size() + 1 >= rules_.most_values; }
  // Returns whether the next value gets an entry. A member's value gets one if its key did.
  bool MayAdd(bool is_key);
  void Cut();
  bool IsInObject() const {
    return depth_ > 0 && entries_[open_[depth_ - 1]].kind == Kind::kObject;
  }
  // Returns the key of the container that begins now, or of the open one at `depth`; empty for an
  // element.
  std::string_view NameOfNext() const;
  std::string_view NameAt(int depth) const;
  bool IsVital(std::string_view name) const;
  // Returns whether the rules exclude the container that begins now.
  bool IsUnread() const;
  // Moves the cursor to the end of the container that begins at it.
  bool PassOver();

  const ReadRules& rules_;
  std::vector<Document::Entry>& entries_;
  rapidjson::InsituStringStream* stream_ = nullptr;
  const char* end_ = nullptr;
  size_t open_[Document::kDeepest] = {};
  bool vital_[Document::kDeepest] = {};  // of open_; set once cut_
  int depth_ = 0;
  bool passed_over_ = false;  // the container just begun is skipped, and is not in open_
  bool adding_ = true;        // the last result of MayAdd()
  bool cut_ = false;
  bool full_ = false;  // the rest of the text is skipped
};

}  // namespace synergy::json
