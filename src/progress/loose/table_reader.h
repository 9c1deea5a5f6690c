#pragma once

// Reads tables in which only the header names the count: " epoch |   step |   loss ", then
// "     2 |   2500 | 0.8574". Columns are separated by bars, tabs or two spaces. Private to
// src/progress.
//
// Threading: one owner. Memory: fixed.

#include <cstddef>
#include <optional>
#include <string_view>

#include "progress/progress_line.h"

namespace synergy {

class TableReader {
 public:
  // Returns nullopt if `text` is not a row of the table with the newest header.
  std::optional<ProgressLine> Read(std::string_view text);

 private:
  // Indexes of the columns that are read.
  struct Header {
    size_t cells = 0;
    std::optional<size_t> count;
    std::optional<size_t> epoch;
    std::optional<size_t> loss;
    std::optional<size_t> rate;
    std::optional<size_t> time;  // per iteration
    double time_unit = 0;        // in seconds
  };
  bool ReadHeader(std::string_view text);
  // Returns the iterations per second in a row's cells.
  std::optional<double> SpeedIn(const std::string_view* cells) const;

  std::optional<Header> header_;
};

}  // namespace synergy
