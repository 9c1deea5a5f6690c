#pragma once

// A trace as a table with named columns, row by row, for forms that differ in columns, separators
// and the notation of missing values.
//
// Threading: one owner. A table refers to the text and the name that it was made from.
// Failures: kInvalid with file, line, column, value and the cure.

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "sim/csv.h"
#include "sim/csv_records.h"

namespace synergy {

// Returns the text without blanks around it.
std::string_view Trimmed(std::string_view text);
// Returns the text with its ASCII letters in lower case.
std::string InLowerCase(std::string_view text);

class TraceTable {
 public:
  // `columns`: names of the columns of a text without a header; if empty, the first record has
  // them. Returns kInvalid for an empty text, and for a column that occurs twice.
  static Result<TraceTable> Open(std::string_view text, std::string_view file,
                                 const CsvRecords::Form& form,
                                 std::vector<std::string> columns = {});

  const std::vector<std::string>& columns() const { return columns_; }
  // Returns the first of these columns that exists; names are compared without regard to case.
  std::optional<size_t> Find(std::initializer_list<std::string_view> names) const;
  // Does what Find() does, but fails if there is none: "the header has no column NAMES[0], ...: add
  // WHAT".
  Result<size_t> Need(std::initializer_list<std::string_view> names, std::string_view what) const;

  // Reads the next row; returns false if there is none. Skips rows that repeat the header, as in
  // joined files. `cure`: for rows with too few or too many fields.
  Result<bool> Next(std::string_view cure);

  // Return the number of the last row's line, and its fields. Text() is empty, and Time(), Length()
  // and Number() return nullopt, if the field has no value or `column` is absent.
  size_t line() const { return records_.line(); }
  std::string_view Text(std::optional<size_t> column) const;
  Result<std::optional<Seconds>> Time(std::optional<size_t> column) const;
  Result<std::optional<Seconds>> Length(std::optional<size_t> column) const;
  Result<std::optional<double>> Number(std::optional<size_t> column, double most) const;
  CsvTable::Field At(size_t column) const;

 private:
  TraceTable(std::string_view text, std::string_view file, const CsvRecords::Form& form)
      : file_(file), records_(text, file, form) {}

  std::string_view file_;
  CsvRecords records_;
  std::vector<std::string> columns_;  // lower case
  std::vector<std::string> written_;  // as the header spells them, for errors
  bool has_header_ = false;
  size_t separators_at_end_ = 0;  // of the header; rows may have as many
};

}  // namespace synergy
