#pragma once

// Recognises the lines that training programs print, by shipped patterns and a user's own pattern.
// docs/internals/progress.md lists them with a sample line each.
//
// Threading: pure; any number of threads. Cost: a line without any of the patterns' words is
// scanned once. Time is linear in the line's length, whatever the pattern (RE2).

#include <memory>
#include <optional>
#include <string_view>

#include "core/result.h"
#include "progress/progress_line.h"

namespace synergy {

class Expression;

// Returns nullopt if `text` contains no progress.
std::optional<ProgressLine> ReadProgressLine(std::string_view text);

// A regular expression (RE2's syntax) with the named groups iteration (required), total, epoch,
// rate (iterations per second) and loss. Copies share it.
class OwnPattern {
 public:
  // Returns kInvalid if the expression is wrong; the message explains the error and how to correct
  // it.
  static Result<OwnPattern> Parse(std::string_view expression);

  // Returns the format "pattern"; nullopt if the expression does not match, or its iteration is not
  // a number.
  std::optional<ProgressLine> Read(std::string_view text) const;

 private:
  explicit OwnPattern(std::shared_ptr<const Expression> expression);
  std::shared_ptr<const Expression> expression_;
};

}  // namespace synergy
