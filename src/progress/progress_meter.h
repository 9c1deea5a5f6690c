#pragma once

// Lines that tell of progress, in their order -> how far the training is, and how fast.
//
// Several bars and several processes may write into one log. Lines of one source whose iteration
// does not fall are a track. One track is the training's; others are processes that print the same
// iterations, a bar of epochs around it, evaluation inside it, or the training after a restart.
// progress_meter.cc has the rules.
//
// Threading: one owner. Memory: 9 KiB.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/clock.h"
#include "progress/progress_line.h"
#include "progress/rate_meter.h"

namespace synergy {

// How far a training has come, by its log.
struct TrainingProgress {
  std::string_view format;  // a name that stays; empty: nothing was recognised
  // Of the newest training line, as printed: where bars begin anew with every epoch, iteration and
  // total are the epoch's.
  std::optional<int64_t> iteration;
  std::optional<int64_t> total;
  std::optional<double> epoch;
  std::optional<double> loss;
  // Iterations per second over the last minute of training, by the times of the lines, else by what
  // they say. Evaluation and stalls are left out (rate_meter.h).
  std::optional<double> rate;
  // From the first training line to the last by the clock, with all that came between.
  std::optional<double> overall_rate;
  // Iterations since the first training line: goes on over epochs and restarts, never falls.
  int64_t counted = 0;
  // Of the newest training line; absent where the log has no times.
  std::optional<WallTime> last_training;
  // When the newest line was printed by which the training writes a checkpoint (checkpoint_line.h);
  // absent where the log has no times, or none.
  std::optional<WallTime> checkpoint;
  // An evaluation line is the newest.
  bool evaluating = false;
};

class ProgressMeter {
 public:
  void Add(const ProgressLine& line, std::optional<WallTime> time);
  TrainingProgress Current() const;

 private:
  struct Track {
    uint64_t source = 0;
    int64_t iteration = 0;
    std::optional<int64_t> total;
    std::optional<Duration> elapsed;  // by its bar's clock
    int64_t lines = 0;
    int64_t last_line = 0;  // its number among all training lines
    int64_t advances = 0;   // that no line of another source came between
    int64_t step = 0;       // the usual advance from line to line, rather more than less
    // Since the training's track said something.
    int64_t run = 0;        // advances
    int64_t run_start = 0;  // the iteration before the first
    bool Complete() const { return total && iteration + step >= *total; }
    bool IsNear(int64_t other) const;
  };
  static constexpr size_t kTracks = 16;
  static constexpr size_t kSources = 4;
  static constexpr size_t kRates = 64;

  bool HasMain() const { return main_ < kTracks; }
  Track& Main() { return tracks_[main_]; }
  const Track& Main() const { return tracks_[main_]; }
  void Forget();
  void NoteFormat(const ProgressLine& line);
  bool IsEvaluation(const ProgressLine& line) const;
  bool IsKnownEvaluation(uint64_t source) const;
  void AddEvaluation(uint64_t source);
  void NoteInner();
  ProgressLine Continued(ProgressLine line) const;
  void AddIteration(const ProgressLine& line, int64_t iteration, std::optional<WallTime> time);
  bool BeginsEpoch(const ProgressLine& line, int64_t iteration) const;
  bool GoesOn(const ProgressLine& line, int64_t iteration) const;
  bool IsSameCount(const Track& other) const;
  void BeginEpoch(const ProgressLine& line, int64_t iteration);
  size_t FindTrack(const ProgressLine& line, int64_t iteration);
  size_t NewTrack(const ProgressLine& line, int64_t iteration);
  void Advance(Track& track, const ProgressLine& line, int64_t iteration) const;
  bool TakesOver(const Track& other) const;
  void TakeOver(size_t track);
  void AddOther(size_t track, const ProgressLine& line, std::optional<WallTime> time);
  void AddTraining(const ProgressLine& line, std::optional<WallTime> time);
  void KeepRate(double rate);
  std::optional<double> PrintedRate() const;

  TrainingProgress progress_;
  std::array<Track, kTracks> tracks_;
  size_t main_ = kTracks;  // the training's track, where there is one
  int64_t lines_ = 0;      // training lines with an iteration
  uint64_t last_source_ = 0;
  size_t last_track_ = kTracks;          // of the line before, where it was a training's
  std::string_view bars_;                // what bars without a name of their own belong to
  std::optional<double> printed_epoch_;  // by the training's own lines
  std::optional<double> heading_;        // "Epoch 3/10"
  bool new_heading_ = false;
  bool ended_ = false;
  // Sources that turned out to be evaluation, though no line of theirs says so.
  std::array<uint64_t, kSources> evaluations_{};
  size_t evaluation_count_ = 0;
  std::optional<Track> before_;  // the last of the source that was the training's before this one

  RateMeter meter_;
  std::optional<WallTime> first_time_;
  int64_t first_counted_ = 0;
  // Where lines have no times: how long the bars ran.
  Duration clock_base_{};
  Duration elapsed_{};
  std::optional<Duration> first_clock_;
  struct Printed {
    Duration clock;
    double rate;
  };
  std::array<Printed, kRates> rates_{};  // a ring
  size_t rate_count_ = 0;
};

}  // namespace synergy
