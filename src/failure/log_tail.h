#pragma once

// Keeps the last lines of a log, and the training's progress in the whole log.
//
// Threading: one owner. Memory: at most kMostBytes of text in kMostLines lines, and below 24 KiB
// for the rest.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "progress/container_log.h"
#include "progress/progress_meter.h"

namespace synergy {

struct TimedLine {
  std::string text;
  std::optional<WallTime> time;
};

class LogTail {
 public:
  // Enough for eight processes that each print a traceback and a C++ backtrace.
  static constexpr size_t kMostLines = 4000;
  static constexpr size_t kMostBytes = size_t{512} << 10;

  explicit LogTail(ContainerLog::Form form = ContainerLog::Form::kUnknown) : log_(form) {}

  // Adds the next piece of the log. A piece may begin or end within a line.
  void Feed(std::string_view bytes);
  void End();  // call it last; the final line may lack a newline

  const std::deque<TimedLine>& lines() const { return lines_; }
  // Iterations of the whole log, not only of its tail.
  TrainingProgress Progress() const;

 private:
  void Add(std::string_view text, std::optional<WallTime> time);

  ContainerLog log_;
  ProgressMeter meter_;
  std::optional<WallTime> checkpoint_;
  std::deque<TimedLine> lines_;
  size_t bytes_ = 0;
};

}  // namespace synergy
