#include "progress/log_progress.h"

#include <utility>

#include "progress/checkpoint_line.h"

namespace synergy {

LogProgress::LogProgress(ContainerLog::Form form, std::optional<OwnPattern> own)
    : log_(form), own_(std::move(own)) {}

void LogProgress::Feed(std::string_view bytes) {
  log_.Feed(bytes, [this](std::string_view text, auto time) { Observe(text, time); });
}

void LogProgress::End() {
  log_.End([this](std::string_view text, auto time) { Observe(text, time); });
}

TrainingProgress LogProgress::Current() const {
  TrainingProgress current = meter_.Current();
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
}

}  // namespace synergy
