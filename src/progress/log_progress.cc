#include "progress/log_progress.h"

#include <utility>

#include "progress/checkpoint_line.h"
#include "progress/loose/loose_line.h"

namespace synergy {

LogProgress::LogProgress(ContainerLog::Form form, std::optional<OwnPattern> own)
    : log_(form), own_(std::move(own)) {}

void LogProgress::Feed(std::string_view bytes) {
  log_.Feed(bytes, [this](std::string_view text, auto time) { Observe(text, time); });
}

void LogProgress::End() {
  log_.End([this](std::string_view text, auto time) { Observe(text, time); });
}

void LogProgress::Pause(Duration total) {
  paused_ = total;
  meter_.Pause(total);
  if (guesses_) guesses_->Pause(total);
}

void LogProgress::NoteRestart() {
  meter_.NoteFailure();
  if (guesses_) guesses_->NoteFailure();
}

TrainingProgress LogProgress::Current() const {
  TrainingProgress current = meter_.Current();
  if (guesses_ && current.format.empty()) {
    const int64_t counted = current.counted;
    current = guesses_->Current();
    current.counted += counted;
  }
  current.counted += guessed_;
  current.checkpoint = checkpoint_;
  return current;
}

void LogProgress::Observe(std::string_view text, std::optional<WallTime> time) {
  if (ReportsCheckpoint(text)) checkpoint_ = time;
  std::optional<ProgressLine> line = own_ ? own_->Read(text) : ReadProgressLine(text);
  if (own_ && !line) {
    line = ReadProgressLine(text);
    if (line && line->kind == LineKind::kTraining) return;
  }
  if (line) meter_.Add(*line, time);
  if (own_) return;
  if (meter_.Recognises()) {
    if (guesses_) guessed_ += guesses_->Current().counted;
    guesses_.reset();
  } else if (line) {
    if (guesses_) guesses_->Add(*line, time);
  } else {
    Guess(text, time);
  }
}

void LogProgress::Guess(std::string_view text, std::optional<WallTime> time) {
  std::optional<ProgressLine> line = table_.Read(text);
  if (!line) line = ReadLoose(text);
  if (line) Guesses().Add(*line, time);
}

GuessMeter& LogProgress::Guesses() {
  if (!guesses_) {
    guesses_ = std::make_unique<GuessMeter>();
    guesses_->Pause(paused_);
  }
  return *guesses_;
}

}  // namespace synergy
