#pragma once

// Reads single lines of Prometheus' text exposition format
// (https://prometheus.io/docs/instrumenting/exposition_formats/, version 0.0.4). Pages come from
// other programs, so lines are read strictly and their contents are bounded.
//
// Threading: pure.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace synergy::metrics {

inline constexpr size_t kMostLabels = 64;
inline constexpr size_t kLongestSample = size_t{16} << 10;

struct Sample {
  std::string_view name;  // of the line
  std::vector<std::pair<std::string_view, std::string>> labels;
  double value = 0;  // may be infinite or not a number

  // Returns the label's value; empty if it is missing.
  std::string_view Label(std::string_view label) const;
};

// Returns nullopt for a comment, an empty line, and anything else that is not a sample.
std::optional<Sample> ParseSample(std::string_view line);

// Calls `visit` with each line of the page, without the line end.
void ForEachLine(std::string_view page, const std::function<void(std::string_view)>& visit);

}  // namespace synergy::metrics
