#pragma once

// Turns lines with progress, in order, into a training's position and speed.
//
// Several bars and several processes may write into one log. Lines of one source whose iteration
// does not fall form a track. One track is the training's. Others are processes that print the same
// iterations, a bar of epochs around it, evaluation inside it, or the training after a restart.
// progress_meter.cc has the rules.
//
// Threading: one owner. Memory: 10 KiB.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/clock.h"
#include "progress/progress_line.h"
#include "progress/rate_meter.h"

namespace synergy {

// The progress of a training according to its log.
struct TrainingProgress {
  std::string_view format;  // a literal; empty: nothing was recognised
  // From the newest training line, as printed. If bars restart with every epoch, iteration and
  // total belong to the epoch.
  std::optional<int64_t> iteration;
  std::optional<int64_t> total;
  std::optional<double> epoch;
  std::optional<double> loss;
  // Iterations per second over the last minute of training, from the times of the lines, otherwise
  // from their printed rates. Excludes evaluation and stalls (rate_meter.h).
  std::optional<double> rate;
  // Iterations per second by the clock from the first training line to the last, including all
  // breaks.
  std::optional<double> overall_rate;
  // Iterations since the first training line; continues over epochs and restarts, and never falls.
  int64_t counted = 0;
  // Times of the first training line and of the newest; absent if the log has no times.
  std::optional<WallTime> first_training;
  std::optional<WallTime> last_training;
  // Time of the newest line that reports a checkpoint (checkpoint_line.h); absent if the log has no
  // times or no such line.
  std::optional<WallTime> checkpoint;
  // Whether the newest line belongs to an evaluation.
  bool evaluating = false;
};

class ProgressMeter {
 public:
  void Add(const ProgressLine& line, std::optional<WallTime> time);
  // Records that the program failed, or was restarted, after the lines so far.
  void NoteFailure() { failed_at_ = lines_; }
  // Records that a server answered a request after the lines so far.
  void NoteRequest();
  // Excludes pauses from the rate (RateMeter::Pause).
  void Pause(Duration total);
  TrainingProgress Current() const;
  // Returns whether a line of a training was recognised.
  bool Recognises() const { return !progress_.format.empty(); }

 private:
  struct Track {
    uint64_t source = 0;
    uint64_t name = 0;
    int64_t iteration = 0;
    std::optional<int64_t> total;
    std::optional<Duration> elapsed;  // on the clock of its bar
    int64_t lines = 0;
    int64_t first_line = 0;  // its number among all training lines
    int64_t last_line = 0;
    int64_t advances = 0;  // not interrupted by a line of another source
    int64_t step = 0;      // usual advance from line to line, rounded up if in doubt
    // Counts since the training's track last advanced.
    int64_t run = 0;        // advances
    int64_t run_start = 0;  // the iteration before the first advance
    int64_t reports = 0;    // losses printed between advances
    int64_t reported = -1;  // the iteration at the last such loss
    bool epochs = false;    // its lines name an epoch
    bool loss = false;      // its lines contain a training's loss
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
  void ForgetTraining();
  void AddEvaluationLine(const ProgressLine& line, bool known, std::optional<WallTime> time);
  bool WasNoTraining(const ProgressLine& line) const;
  bool IsOnlyBar() const;
  void NoteResume(const ProgressLine& line, int64_t step, std::optional<WallTime> time);
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
  bool IsAround(const Track& other) const;
  bool IsRestart(const Track& other) const;
  bool IsAfterFailure(const Track& other) const;
  bool BeginsInner(const ProgressLine& line) const;
  bool IsOnlyWeak(const ProgressLine& line, int64_t iteration);
  void NoteReport(const ProgressLine& line);
  void BeginEpoch(const ProgressLine& line, int64_t iteration);
  size_t FindTrack(const ProgressLine& line, int64_t iteration);
  size_t NewTrack(const ProgressLine& line, int64_t iteration);
  void Advance(Track& track, const ProgressLine& line, int64_t iteration) const;
  bool TakesOver(const Track& other) const;
  void TakeOver(size_t track);
  void AddOther(size_t track, const ProgressLine& line, std::optional<WallTime> time);
  void NoteAdvance();
  void AddTraining(const ProgressLine& line, std::optional<WallTime> time);
  void KeepRateOfBar(const ProgressLine& line, int64_t step);
  void KeepRate(double rate);
  std::optional<double> PrintedRate() const;

  TrainingProgress progress_;
  Duration paused_{};
  std::array<Track, kTracks> tracks_;
  size_t main_ = kTracks;  // the training's track, if there is one
  int64_t lines_ = 0;      // training lines with an iteration
  uint64_t last_source_ = 0;
  size_t last_track_ = kTracks;          // of the previous line if it was a training's
  std::string_view bars_;                // format of bars that lack a name
  std::optional<double> printed_epoch_;  // from the training's own lines
  std::optional<double> heading_;        // "Epoch 3/10"
  bool new_heading_ = false;
  bool ended_ = false;
  int64_t heading_line_ = -1;         // training lines before the newest heading
  int64_t failed_at_ = -1;            // training lines before a failure; -1: none since an advance
  bool serves_ = false;               // a server answered a request after a bar
  bool announced_ = false;            // an evaluation is announced; its bar has not begun
  bool restarted_ = false;            // the training's track is that of a restart
  std::optional<int64_t> weak_;       // iteration of a weak line before any training
  uint64_t around_ = 0;               // source of a bar of epochs around the training's bars
  std::optional<int64_t> around_of_;  // its length
  // Sources that turned out to be evaluation, although none of their lines states it.
  std::array<uint64_t, kSources> evaluations_{};
  size_t evaluation_count_ = 0;
  std::optional<Track> before_;  // last track of the source that was formerly the training's

  std::optional<int64_t> unsure_total_;
  // State at the second line, if the first line was at 0: a resumed training jumps from 0 to its
  // position.
  struct Resume {
    int64_t step = 0;
    int64_t counted = 0;
    std::optional<WallTime> time;
    Duration clock{};
  };
  std::optional<Resume> resume_;

  RateMeter meter_;
  std::optional<WallTime> first_time_;
  int64_t first_counted_ = 0;
  // For logs without times: how long the bars ran, by their own clocks.
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
