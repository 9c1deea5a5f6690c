#pragma once

// Checked access to the fields of one object. A wrong type or value is recorded with its path and
// reads as the zero value, so that the rest of the object can still be used. An absent field
// silently reads as the zero value, as in Go.
//
// Threading: one owner at a time.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/exact_quantity.h"
#include "json/document.h"

namespace synergy::json {

class FieldReader {
 public:
  // Paths in findings start at `root`, the object itself.
  explicit FieldReader(Value root) : root_(root) {}

  std::string_view Text(Value value);
  bool Truth(Value value);
  int64_t Integer(Value value, int64_t least, int64_t most);
  // Reads a decimal number in a string, as in a resourceVersion.
  uint64_t NumberInText(Value value);
  ExactQuantity Amount(Value value);
  // Return `value` if it is an object (or an array); otherwise a missing value.
  Value Object(Value value);
  Value Array(Value value);

  // Record a finding: `what` about the value `where`, or that `where` lacks the member `key`.
  void Report(Value where, std::string_view what);
  void ReportMissing(Value where, std::string_view key);
  // Records the findings of `inner`, whose document is the text of `where`.
  void Adopt(Value where, const FieldReader& inner);

  // Records that the whole object exceeds a limit.
  void TooMuch(std::string what) {
    if (too_much_.empty()) too_much_ = std::move(what);
  }
  // Returns a description of the exceeded limit; empty if none is exceeded.
  const std::string& too_much() const { return too_much_; }

  bool ok() const { return count_ == 0; }
  // Returns the number of findings so far.
  size_t count() const { return count_; }
  // Returns the first few findings, as "path: what".
  const std::vector<std::string>& findings() const { return findings_; }

 private:
  // Counts a finding; returns false if enough are already recorded.
  bool Count();
  void Add(std::string path, std::string_view what);

  Value root_;
  size_t count_ = 0;
  std::vector<std::string> findings_;
  std::string too_much_;
};

}  // namespace synergy::json
