#pragma once

// A regular expression whose named groups become members of a ProgressLine: iteration, total,
// epoch, loss, elapsed and rate (iterations per second); seconds and milliseconds are per
// iteration. Private to this folder.
//
// Threading: pure.

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <re2/re2.h>

#include "progress/progress_line.h"

namespace synergy {

class Expression {
 public:
  enum Group : size_t {
    kWhole,
    kIteration,
    kTotal,
    kEpoch,
    kRate,
    kSeconds,
    kMilliseconds,
    kLoss,
    kElapsed,
    kUnit,
    kPer,
    kGroups
  };
  using Match = std::array<std::string_view, kGroups>;  // empty: absent

  // `most_memory`: the bytes for the expression and its matching cache.
  Expression(std::string_view expression, bool utf8, int64_t most_memory);

  // Returns the error in the expression; empty if there is none.
  const std::string& error() const { return regex_.error(); }
  bool Has(Group group) const { return number_[group] >= 0; }
  int steps() const { return regex_.ProgramSize(); }
  bool Find(std::string_view text, Match& match) const;
  // Returns false if the iteration is present but not a number.
  static bool Fill(const Match& match, ProgressLine& line);

 private:
  static constexpr int kMostGroups = 16;

  re2::RE2 regex_;
  std::array<int, kGroups> number_{};  // of the group in the expression; -1: absent
  int groups_ = 0;                     // number of groups to match
};

}  // namespace synergy
