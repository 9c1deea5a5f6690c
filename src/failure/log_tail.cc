#include "failure/log_tail.h"

#include "progress/checkpoint_line.h"
#include "progress/patterns.h"

namespace synergy {

void LogTail::Feed(std::string_view bytes) {
  log_.Feed(bytes, [this](std::string_view text, auto time) { Add(text, time); });
}

void LogTail::End() {
  log_.End([this](std::string_view text, auto time) { Add(text, time); });
}

TrainingProgress LogTail::Progress() const {
  TrainingProgress progress = meter_.Current();
  progress.checkpoint = checkpoint_;
  return progress;
}

void LogTail::Add(std::string_view text, std::optional<WallTime> time) {
  if (ReportsCheckpoint(text)) checkpoint_ = time;
  if (const std::optional<ProgressLine> line = ReadProgressLine(text)) meter_.Add(*line, time);
  lines_.push_back({std::string(text), time});
  bytes_ += text.size();
  while (lines_.size() > kMostLines || bytes_ > kMostBytes) {
    bytes_ -= lines_.front().text.size();
    lines_.pop_front();
  }
}

}  // namespace synergy
