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
  std::optional<ProgressLine> ReadHeaded(std::string_view text);
  void NoteSettings(std::string_view text);
  void Count(ProgressLine& line);
  GuessMeter& Guesses();

  ContainerLog log_;
  std::optional<OwnPattern> own_;
  ProgressMeter meter_;
  // Counts only while meter_ recognises nothing, and is absent if there is nothing to count.
  std::unique_ptr<GuessMeter> guesses_;
  TableReader table_;
  Duration paused_{};
  int64_t guessed_ = 0;                  // iterations of earlier guesses
  std::optional<ProgressLine> heading_;  // of the epoch whose loss comes next
  // Hugging Face prints both before a training, and may then print only parts of an epoch.
  std::optional<int64_t> all_steps_;
  std::optional<int64_t> all_epochs_;
  bool counts_ = false;   // a line contained a count
  bool reports_ = false;  // a line without progress contained a loss
  std::optional<WallTime> checkpoint_;
};

}  // namespace synergy
