#include "progress/log_progress.h"

#include <utility>

namespace synergy {

LogProgress::LogProgress(ContainerLog::Form form, std::optional<OwnPattern> own)
    : log_(form), own_(std::move(own)) {}

void LogProgress::Feed(std::string_view bytes) {
  log_.Feed(bytes, [this](std::string_view text, auto time) { Hear(text, time); });
}

void LogProgress::End() {
  log_.End([this](std::string_view text, auto time) { Hear(text, time); });
}

void LogProgress::Hear(std::string_view text, std::optional<WallTime> time) {
  std::optional<ProgressLine> line = own_ ? own_->Read(text) : ReadProgressLine(text);
  if (own_ && !line) {
    line = ReadProgressLine(text);
    if (line && line->kind == LineKind::kTraining) return;
  }
  if (line) meter_.Add(*line, time);
}

}  // namespace synergy
