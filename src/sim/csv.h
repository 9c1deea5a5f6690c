#pragma once

// Comma-separated text with a header line, read by column name (csv_records.h has the syntax).
//
// Threading: values; a table refers to the text that it was parsed from.
// Failures: kInvalid with file, line, column (both from 1) and what to write instead.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace synergy {

class CsvTable {
 public:
  // One field and its position.
  struct Field {
    std::string_view text;
    std::string_view name;  // the column's name
    std::string_view file;
    size_t line = 0;
    size_t column = 0;

    // Returns an error: "FILE:LINE:COLUMN: NAME is "TEXT": ", followed by `cure`.
    tl::unexpected<Error> Reject(std::string_view cure) const;
    Result<int64_t> WholeNumber(int64_t least) const;
    // Returns a finite number.
    Result<double> Number(double least) const;
  };

  // Parses `text`; `file` names it in errors. Returns kInvalid unless every line has as many fields
  // as the header, and column names are unique.
  static Result<CsvTable> Parse(std::string_view text, std::string_view file);

  size_t rows() const { return line_numbers_.size(); }
  const std::vector<std::string_view>& columns() const { return columns_; }

  // Returns the position of the column with this name; nullopt if there is none.
  std::optional<size_t> Find(std::string_view column) const;
  // Does what Find() does, but fails if there is none; the error lists the existing columns.
  Result<size_t> Need(std::string_view column) const;
  Field At(size_t row, size_t column) const;

 private:
  std::string_view file_;
  std::vector<std::string_view> columns_;
  std::vector<size_t> line_numbers_;      // by row, from 1
  std::vector<std::string_view> fields_;  // by row, then column
  std::vector<size_t> positions_;         // of `fields_` in their lines, from 1
  std::deque<std::string> unescaped_;     // texts of `fields_` that differ from the parsed text
};

}  // namespace synergy
