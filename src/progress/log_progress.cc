#include "progress/log_progress.h"

#include <utility>

#include "core/rounding.h"
#include "progress/checkpoint_line.h"
#include "progress/loose/loose_line.h"
#include "progress/numbers.h"

namespace synergy {

namespace {

// Returns whether a server logs that it answered a request that may be one to a model. The line of
// a client has the server's address in front.
bool IsRequest(std::string_view text) {
  const size_t post = text.find("\"POST /");
  return post != std::string_view::npos && text.find(" HTTP/", post) != std::string_view::npos &&
         text.substr(0, post).find("://") == std::string_view::npos;
}

bool IsHeading(const ProgressLine& line) {
  return line.kind == LineKind::kTraining && line.epoch && !line.iteration && !line.loss;
}

}  // namespace

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
  if (line) {
    if (!own_) Count(*line);
    meter_.Add(*line, time);
  } else if (IsRequest(text)) {
    if (!reports_) meter_.NoteRequest();
  } else {
    NoteSettings(text);
  }
  if (own_) return;
  if (meter_.Recognises()) {
    if (guesses_) guessed_ += guesses_->Current().counted;
    guesses_.reset();
  } else if (line) {
    if (IsHeading(*line)) {
      heading_ = line;
      heading_->total = ReadCount(text.substr(text.find_last_not_of("0123456789 ") + 1));
    }
    if (guesses_) guesses_->Add(*line, time);
  } else {
    Guess(text, time);
  }
}

void LogProgress::Guess(std::string_view text, std::optional<WallTime> time) {
  std::optional<ProgressLine> line = table_.Read(text);
  if (!line) line = ReadLoose(text);
  if (line && IsHeading(*line)) heading_ = line;
  if (!line) line = ReadHeaded(text);
  if (line) Guesses().Add(*line, time);
}

std::optional<ProgressLine> LogProgress::ReadHeaded(std::string_view text) {
  if (!heading_) return std::nullopt;
  std::optional<ProgressLine> line = ReadHeadedEpoch(text, *heading_);
  if (line) heading_.reset();
  return line;
}

void LogProgress::NoteSettings(std::string_view text) {
  const auto read = [text](std::string_view name, std::optional<int64_t>& value) {
    const size_t at = text.find(name);
    if (at != std::string_view::npos) value = ReadCount(text.substr(at + name.size()));
  };
  read("Total optimization steps = ", all_steps_);
  read("Num Epochs = ", all_epochs_);
  reports_ = reports_ || FindLoss(text);
}

// Computes the iteration of a line that has only a part of an epoch, if no line has a count.
void LogProgress::Count(ProgressLine& line) {
  counts_ = counts_ || (line.iteration && line.kind == LineKind::kTraining);
  if (counts_ || line.format != "huggingface" || line.kind != LineKind::kTraining || !line.epoch ||
      !all_steps_ || all_epochs_.value_or(0) <= 0) {
    return;
  }
  const double part = *line.epoch / static_cast<double>(*all_epochs_);
  if (!(part >= 0 && part <= 1)) return;
  line.iteration = ToNearest(part * static_cast<double>(*all_steps_));
  line.total = all_steps_;
}

GuessMeter& LogProgress::Guesses() {
  if (!guesses_) {
    guesses_ = std::make_unique<GuessMeter>();
    guesses_->Pause(paused_);
  }
  return *guesses_;
}

}  // namespace synergy
