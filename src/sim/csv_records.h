#pragma once

// Reads delimited text, record by record: RFC 4180 with any separator. Skips a byte order mark,
// CRLF, and lines with only blanks. Quoted fields may contain separators, newlines and doubled
// quotes.
//
// Threading: one owner. A reader refers to the text that it was made from.
// Failures: kInvalid with file, line, column (both from 1) and the cure.

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace synergy {

class CsvRecords {
 public:
  struct Form {
    char separator = ',';
    bool quotes = true;  // false: quotes are ordinary characters
  };

  // `file` names the text in errors.
  CsvRecords(std::string_view text, std::string_view file, const Form& form);

  // Reads the next record; returns false if there is none, and kInvalid if a quote is not closed.
  Result<bool> Next();

  // Returns the fields of the last record. The texts stay valid while the reader, or the result of
  // its TakeUnescaped(), exists.
  std::span<const std::string_view> fields() const { return fields_; }
  size_t line() const { return line_; }
  // Returns the position of a field in its line.
  size_t ColumnOf(size_t field) const { return columns_[field]; }

  // Returns the texts of fields with doubled quotes, to which fields() referred.
  std::deque<std::string> TakeUnescaped() { return std::move(unescaped_); }

 private:
  bool SkipBlankLines();
  Result<> ReadField();
  Result<std::string_view> ReadQuoted();

  std::string_view text_;
  std::string_view file_;
  Form form_;
  size_t at_ = 0;
  size_t line_start_ = 0;
  size_t next_line_ = 1;
  size_t line_ = 0;
  std::vector<std::string_view> fields_;
  std::vector<size_t> columns_;
  std::deque<std::string> unescaped_;
};

}  // namespace synergy
