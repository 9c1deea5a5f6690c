#include "progress/loose/guess_meter.h"

#include <algorithm>

namespace synergy {
namespace {

// Steps are similar if neither is more than this many times the other.
constexpr int64_t kSimilar = 4;

}  // namespace

void GuessMeter::Pause(Duration total) {
  paused_ = total;
  meter_.Pause(total);
}

void GuessMeter::Add(const ProgressLine& line, std::optional<WallTime> time) {
  const bool guesses = line.claim != Claim::kCount && line.iteration;
  if (!guesses || line.kind != LineKind::kTraining) return meter_.Add(line, time);
  if (accepted_ && accepted_->source == line.source) {
    accepted_ = line;
    return meter_.Add(line, time);
  }
  if (accepted_ && accepted_->claim <= line.claim) return;
  Candidate& candidate = CandidateOf(line);
  if (Grows(candidate, {line, time})) Accept(candidate, {line, time});
}

TrainingProgress GuessMeter::Current() const {
  TrainingProgress current = accepted_ ? meter_.Current() : TrainingProgress();
  current.counted += counted_;
  return current;
}

GuessMeter::Candidate& GuessMeter::CandidateOf(const ProgressLine& line) {
  const auto known = std::find_if(candidates_.begin(), candidates_.end(), [&](const Candidate& c) {
    return c.lines > 0 && c.held[c.lines - 1].line.source == line.source;
  });
  if (known != candidates_.end()) return *known;
  Candidate& candidate = candidates_[next_++ % kCandidates];
  candidate = {};
  return candidate;
}

bool GuessMeter::Grows(Candidate& candidate, const Held& next) {
  if (candidate.lines == 0) {
    candidate.held[candidate.lines++] = next;
    return false;
  }
  const Held& last = candidate.held[candidate.lines - 1];
  const int64_t step = *next.line.iteration - *last.line.iteration;
  if (step == 0 && next.line.epoch == last.line.epoch) return false;  // another process
  if (step <= 0) {
    candidate = {};
    candidate.held[candidate.lines++] = next;
    return false;
  }
  if (candidate.lines == 2) {
    if (step <= kSimilar * candidate.step && candidate.step <= kSimilar * step) return true;
    candidate.held[0] = candidate.held[1];
    candidate.lines = 1;
  }
  candidate.held[candidate.lines++] = next;
  candidate.step = step;
  return false;
}

void GuessMeter::Accept(const Candidate& candidate, const Held& next) {
  if (accepted_) {
    counted_ += meter_.Current().counted;
    meter_ = {};
    meter_.Pause(paused_);
  }
  accepted_ = next.line;
  for (size_t i = 0; i < candidate.lines; ++i) {
    meter_.Add(candidate.held[i].line, candidate.held[i].time);
  }
  meter_.Add(next.line, next.time);
}

}  // namespace synergy
