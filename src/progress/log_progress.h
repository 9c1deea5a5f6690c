#pragma once

// Turns the bytes of a training's log into its progress with container_log.h, patterns.h,
// progress_meter.h and checkpoint_line.h. There is one object per container; rotated logs are fed
// to the same object.
//
// Threading: one owner. Memory: below 40 KiB, however long the log and its lines are.

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "progress/container_log.h"
#include "progress/loose/guess_meter.h"
#include "progress/loose/table_reader.h"
#include "progress/patterns.h"
#include "progress/progress_meter.h"

namespace synergy {

class LogProgress {
 public:
  // With a pattern of the user's own, the shipped patterns only identify evaluation.
  explicit LogProgress(ContainerLog::Form form = ContainerLog::Form::kUnknown,
                       std::optional<OwnPattern> own = std::nullopt);

  void Feed(std::string_view bytes);
  // Excludes pauses from the rate (RateMeter::Pause).
  void Pause(Duration total);
  // Records that the program was restarted after the lines fed so far.
  void NoteRestart();
  void End();  // call it last; the final line may lack a newline
  TrainingProgress Current() const;

 private:
  void Observe(std::string_view text, std::optional<WallTime> time);
  void Guess(std::string_view text, std::optional<WallTime> time);
  GuessMeter& Guesses();

  ContainerLog log_;
  std::optional<OwnPattern> own_;
  ProgressMeter meter_;
  // Counts only while meter_ recognises nothing, and is absent if there is nothing to count.
  std::unique_ptr<GuessMeter> guesses_;
  TableReader table_;
  Duration paused_{};
  int64_t guessed_ = 0;  // iterations of earlier guesses
  std::optional<WallTime> checkpoint_;
};

}  // namespace synergy
