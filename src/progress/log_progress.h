#pragma once

// The bytes of a training's log -> its progress: container_log.h, patterns.h and progress_meter.h
// one after the other, and checkpoint_line.h beside. One for each container; a log that was rotated
// is fed on as one.
//
// Threading: one owner. Memory: below 24 KiB, however long the log and its lines are.

#include <optional>
#include <string_view>

#include "progress/container_log.h"
#include "progress/patterns.h"
#include "progress/progress_meter.h"

namespace synergy {

class LogProgress {
 public:
  // With a pattern of the user's own the shipped ones only tell what is evaluation.
  explicit LogProgress(ContainerLog::Form form = ContainerLog::Form::kUnknown,
                       std::optional<OwnPattern> own = std::nullopt);

  void Feed(std::string_view bytes);
  void End();  // the last line may have no end
  TrainingProgress Current() const;

 private:
  void Hear(std::string_view text, std::optional<WallTime> time);

  ContainerLog log_;
  std::optional<OwnPattern> own_;
  ProgressMeter meter_;
  std::optional<WallTime> checkpoint_;
};

}  // namespace synergy
