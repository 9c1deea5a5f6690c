#pragma once

// Turns the bytes of a training's log into its progress: container_log.h, patterns.h and
// progress_meter.h in turn, and checkpoint_line.h. One object per container; a rotated log is fed
// as one.
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
  // If the user has an own pattern, the shipped ones only identify evaluation.
  explicit LogProgress(ContainerLog::Form form = ContainerLog::Form::kUnknown,
                       std::optional<OwnPattern> own = std::nullopt);

  void Feed(std::string_view bytes);
  // See RateMeter::Pause.
  void Pause(Duration total) { meter_.Pause(total); }
  void End();  // the last line may have no newline
  TrainingProgress Current() const;

 private:
  void Observe(std::string_view text, std::optional<WallTime> time);

  ContainerLog log_;
  std::optional<OwnPattern> own_;
  ProgressMeter meter_;
  std::optional<WallTime> checkpoint_;
};

}  // namespace synergy
