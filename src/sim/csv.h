#pragma once

// Comma-separated text with a header line, read by column name. No quoting: fields hold numbers and
// plain names. Lines may end in CRLF; empty lines are passed over.
//
// Threading: values; a table refers to the text that it was made from.
// Failures: kInvalid with file, line, column (both from 1) and what to write instead.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace synergy {

class CsvTable {
 public:
  // One field and where it stands.
  struct Field {
    std::string_view text;
    std::string_view name;  // of its column
    std::string_view file;
    size_t line = 0;
    size_t column = 0;

    // "FILE:LINE:COLUMN: NAME is "TEXT": " and then `cure`.
    tl::unexpected<Error> Reject(std::string_view cure) const;
    Result<int64_t> WholeNumber(int64_t least) const;
    // Finite.
    Result<double> Number(double least) const;
  };

  // `file` stands for the text in errors. Every line has as many fields as the header, and no two
  // columns have the same name.
  static Result<CsvTable> Parse(std::string_view text, std::string_view file);

  size_t rows() const { return line_numbers_.size(); }
  const std::vector<std::string_view>& columns() const { return columns_; }

  // The position of the column with this name.
  std::optional<size_t> Find(std::string_view column) const;
  // As Find; the error lists the columns that there are.
  Result<size_t> Need(std::string_view column) const;
  Field At(size_t row, size_t column) const;

 private:
  std::string_view file_;
  std::vector<std::string_view> columns_;
  std::vector<size_t> line_numbers_;      // of each row, from 1
  std::vector<std::string_view> lines_;   // of each row, whole
  std::vector<std::string_view> fields_;  // by row, then column
};

}  // namespace synergy
