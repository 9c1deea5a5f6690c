#pragma once

// Measures a training by lines that are only likely to count it: a number beside a loss, or an
// epoch. Such a number counts once it has grown twice by similar steps. A stronger claim replaces a
// weaker one: a number beside a loss replaces an epoch. Private to src/progress.
//
// Threading: one owner. Memory: 14 KiB.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/clock.h"
#include "progress/progress_line.h"
#include "progress/progress_meter.h"

namespace synergy {

class GuessMeter {
 public:
  // `line` may be any line that the log contains.
  void Add(const ProgressLine& line, std::optional<WallTime> time);
  void NoteFailure() { meter_.NoteFailure(); }
  void Pause(Duration total);
  TrainingProgress Current() const;

 private:
  struct Held {
    ProgressLine line;
    std::optional<WallTime> time;
  };
  // Lines of one form, the newest last.
  struct Candidate {
    std::array<Held, 2> held;
    size_t lines = 0;
    int64_t step = 0;
  };
  static constexpr size_t kCandidates = 4;

  Candidate& CandidateOf(const ProgressLine& line);
  // Returns whether `line` completes the evidence.
  static bool Grows(Candidate& candidate, const Held& next);
  void Accept(const Candidate& candidate, const Held& next);

  ProgressMeter meter_;
  std::optional<ProgressLine> accepted_;  // the newest line of the form that counts
  int64_t counted_ = 0;                   // iterations counted for replaced claims
  Duration paused_{};
  std::array<Candidate, kCandidates> candidates_;
  size_t next_ = 0;  // the candidate to replace
};

}  // namespace synergy
