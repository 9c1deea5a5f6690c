#pragma once

// The lines that training programs print, by shipped patterns and by a pattern of the user's own.
// docs/progress.md lists them with a sample line each.
//
// Threading: pure; from any number of threads. Cost: a line without any of the patterns' words is
// gone through once. Time is linear in the line's length, whatever the pattern (RE2).

#include <memory>
#include <optional>
#include <string_view>

#include "core/result.h"
#include "progress/progress_line.h"

namespace synergy {

class Expression;

// Absent: `text` says nothing of progress.
std::optional<ProgressLine> ReadProgressLine(std::string_view text);

// A regular expression (RE2's syntax) with the named groups iteration (needed), total, epoch, rate
// (iterations per second) and loss. Copies share it.
class OwnPattern {
 public:
  // kInvalid says what is wrong with the expression, and what would be right.
  static Result<OwnPattern> Parse(std::string_view expression);

  // Format "pattern"; absent where the expression is not found, or its iteration is no number.
  std::optional<ProgressLine> Read(std::string_view text) const;

 private:
  explicit OwnPattern(std::shared_ptr<const Expression> expression);
  std::shared_ptr<const Expression> expression_;
};

}  // namespace synergy
