#include "progress/progress_meter.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "progress/description.h"

namespace synergy {
namespace {

constexpr Duration kRateWindow = std::chrono::minutes(1);
constexpr Duration kLeastClock = std::chrono::seconds(2);    // bars show whole seconds
constexpr Duration kLeastStretch = std::chrono::seconds(5);  // of a bar's clock, for a rate
// After this many advances, a count that fell is a restart, not a process that lags behind.
constexpr int64_t kRestart = 3;
// A bar is a restart, not an evaluation, if a training's losses were printed at this many of its
// advances.
constexpr int64_t kReports = 2;
// After this many advances, a bar inside another one is the training.
constexpr int64_t kInside = 2;
// Another bar is the training if it has this many times as many lines as the training's track.
constexpr int64_t kGivenUp = 10;
// Rates are at most this, and at least its inverse, as in profiles; others are false readings.
constexpr double kMostRate = 1e18;
// Without missing lines, a count advances by at most this many times its usual step.
constexpr int64_t kNear = 4;
// A first step of more than this many times the second one is that of a resume.
constexpr int64_t kJump = 32;

bool IsUnnamedBar(uint64_t source, const std::optional<int64_t>& total) {
  return total && source == SourceOf("bar", {}, *total);
}

}  // namespace

bool ProgressMeter::Track::IsNear(int64_t other) const {
  return std::abs(other - iteration) <= kNear * std::max<int64_t>(step, 1);
}

void ProgressMeter::Pause(Duration total) {
  paused_ = total;
  meter_.Pause(total);
}

void ProgressMeter::Add(const ProgressLine& printed, std::optional<WallTime> time) {
  if (printed.kind == LineKind::kFailure) return NoteFailure();
  if (printed.format == "announcement") {
    announced_ = printed.kind == LineKind::kEvaluation;
    return;
  }
  // This line contains only the speed of the previous lines.
  if (printed.kind == LineKind::kTraining && printed.rate && !printed.iteration) {
    if (HasMain()) KeepRate(*printed.rate);
    return;
  }
  ProgressLine line = Continued(printed);
  if (line.unsure_total && std::exchange(unsure_total_, line.total) != line.total) {
    line.total.reset();
  }
  if (BeginsInner(line)) line.kind = LineKind::kTraining;
  if (announced_ && line.iteration && !(HasMain() && line.source == Main().source)) {
    AddEvaluation(line.source);
    announced_ = false;
  }
  const bool known = !bars_.empty();
  NoteFormat(line);
  if (IsEvaluation(line)) return AddEvaluationLine(line, known, time);
  if (line.iteration && IsOnlyWeak(line, *line.iteration)) return;
  if (line.loss) progress_.loss = line.loss;
  if (line.kind == LineKind::kEnd) {
    ended_ = true;
    if (line.rate && rate_count_ == 0) KeepRate(*line.rate);
    return;
  }
  if (line.iteration) {
    AddIteration(line, *line.iteration, time);
    last_source_ = line.source;
    return;
  }
  NoteReport(line);
  if (line.format.empty()) {
    heading_line_ = lines_;
    new_heading_ = new_heading_ || line.epoch != heading_;
    heading_ = line.epoch;
  }
  progress_.epoch = line.epoch;
}

// `known`: the format of the bars was known before the line.
void ProgressMeter::AddEvaluationLine(const ProgressLine& line, bool known,
                                      std::optional<WallTime> time) {
  if (WasNoTraining(line)) {
    const uint64_t source = Main().source;
    Forget();
    AddEvaluation(source);
  }
  const size_t before = std::exchange(last_track_, kTracks);
  // Hugging Face prints results below the bar of the evaluation that produced them.
  if (line.format == "huggingface" && HasMain()) {
    const uint64_t source = last_source_;
    // If there was no other bar, nothing was trained.
    if (source == Main().source && Main().Complete() && !known) Forget();
    if (restarted_ && before == main_ && Main().Complete()) ForgetTraining();
    // A line beside the training's bar does not belong to an evaluation.
    if (!HasMain() ||
        (source != Main().source && before < kTracks && !IsSameCount(tracks_[before]))) {
      AddEvaluation(source);
    }
  }
  progress_.evaluating = HasMain();
  meter_.Break(time);
}

TrainingProgress ProgressMeter::Current() const {
  TrainingProgress current = progress_;
  if (current.format.empty()) return {};
  // As a last resort, use a rate from a bar's own clock, in whole seconds.
  if (first_time_) current.rate = meter_.Rate();
  if (!current.rate) current.rate = PrintedRate();
  if (!current.rate) current.rate = meter_.Rate();
  const auto per_second = [](int64_t iterations, Duration time) -> std::optional<double> {
    if (time <= Duration::zero()) return std::nullopt;
    return static_cast<double>(iterations) / std::chrono::duration_cast<Seconds>(time).count();
  };
  if (first_time_ && current.last_training) {
    current.overall_rate =
        per_second(current.counted - first_counted_, *current.last_training - *first_time_);
  } else if (first_clock_ && clock_base_ + elapsed_ - *first_clock_ >= kLeastClock) {
    current.overall_rate =
        per_second(current.counted - first_counted_, clock_base_ + elapsed_ - *first_clock_);
  }
  for (auto* const rate : {&current.rate, &current.overall_rate}) {
    if (*rate && !(**rate >= 1 / kMostRate && **rate <= kMostRate)) rate->reset();
  }
  return current;
}

// Forgets everything except the count, which never falls.
void ProgressMeter::Forget() {
  const int64_t counted = progress_.counted;
  const bool serves = serves_;
  *this = {};
  serves_ = serves;
  progress_.counted = first_counted_ = counted;
}

// A complete bar without a name or a loss prepared the requests to a model that the next bar
// counts.
bool ProgressMeter::WasNoTraining(const ProgressLine& line) const {
  return line.requests && HasMain() && Main().Complete() && IsOnlyBar();
}

// Returns whether a bar without a name is all that was printed.
bool ProgressMeter::IsOnlyBar() const {
  return bars_.empty() && HasMain() && IsUnnamedBar(Main().source, Main().total) &&
         !progress_.loss && !progress_.epoch && !heading_;
}

// A server draws a bar for each request, and logs the request when the bar is complete.
void ProgressMeter::NoteRequest() {
  if (!IsOnlyBar() || !Main().Complete()) return;
  const uint64_t source = Main().source;
  Forget();
  AddEvaluation(source);
  serves_ = true;
}

// The work before a resume does not count for the overall rate: the bar begins at 0, and jumps
// once, much farther than it then advances.
void ProgressMeter::NoteResume(const ProgressLine& line, int64_t step,
                               std::optional<WallTime> time) {
  if (step <= 0) return;
  const bool jumped = resume_ && resume_->step > kJump * step;
  if (lines_ == 2 && step == line.iteration) {
    resume_ = Resume{step, progress_.counted, time, line.elapsed.value_or(Duration())};
    return;
  }
  if (jumped) {
    first_counted_ = resume_->counted;
    if (first_time_) first_time_ = resume_->time;
    if (first_clock_) first_clock_ = resume_->clock;
  }
  resume_.reset();
}

// The first bar after a restart was an evaluation.
void ProgressMeter::ForgetTraining() {
  AddEvaluation(Main().source);
  main_ = kTracks;
  restarted_ = false;
}

// Hugging Face and Lightning draw tqdm's bars; their other lines identify them.
void ProgressMeter::NoteFormat(const ProgressLine& line) {
  if (line.format == "huggingface" || line.format == "lightning") bars_ = line.format;
  if (line.kind != LineKind::kTraining && line.kind != LineKind::kEnd) return;
  if (!line.iteration && progress_.format.empty()) progress_.format = line.format;
  if (!bars_.empty() && progress_.format == "tqdm") progress_.format = bars_;
}

bool ProgressMeter::IsEvaluation(const ProgressLine& line) const {
  if (line.kind == LineKind::kEvaluation || line.kind == LineKind::kOther) return true;
  if (line.iteration && IsKnownEvaluation(line.source)) return true;
  if (serves_ && !HasMain() && !line.loss && IsUnnamedBar(line.source, line.total)) return true;
  // Keras prints a heading before each epoch of a training, but not before an evaluation.
  return line.format == "keras" && heading_ && !new_heading_ && HasMain() && Main().total &&
         Main().iteration == Main().total &&
         (line.source != Main().source || line.iteration <= Main().iteration);
}

// A bar is evaluation if it began and ended while the training stood still, and the training then
// continued. It stays evaluation if it appears again after the training.
void ProgressMeter::NoteInner() {
  if (Main().advances < kInside) return;
  for (const Track& track : tracks_) {
    if (track.run > 0 && track.advances > 0 && track.source != Main().source && track.Complete() &&
        (!Main().total || *track.total < *Main().total)) {
      AddEvaluation(track.source);
    }
  }
}

bool ProgressMeter::IsKnownEvaluation(uint64_t source) const {
  const auto known = static_cast<std::ptrdiff_t>(std::min(evaluation_count_, kSources));
  return std::find(evaluations_.begin(), evaluations_.begin() + known, source) !=
         evaluations_.begin() + known;
}

void ProgressMeter::AddEvaluation(uint64_t source) {
  if (!IsKnownEvaluation(source)) evaluations_[evaluation_count_++ % kSources] = source;
}

// A bar may change its description from line to line. It is the same bar if its length is the same,
// and neither its count nor its clock fell. The line then counts as belonging to that bar, whatever
// its description.
ProgressLine ProgressMeter::Continued(ProgressLine line) const {
  if (!line.iteration || *line.iteration == 0 || !line.total || !line.elapsed || !HasMain() ||
      IsKnownEvaluation(line.source)) {
    return line;
  }
  const Track* bar = nullptr;
  const auto fits = [&](const Track& track) {
    return track.lines > 0 && track.total == line.total && track.elapsed &&
           track.iteration <= *line.iteration && *track.elapsed <= *line.elapsed;
  };
  const auto consider = [&](const Track& track) {
    if (fits(track) && (bar == nullptr || track.iteration > bar->iteration)) bar = &track;
  };
  if (line.kind == LineKind::kTraining) {
    for (const Track& track : tracks_) {
      if (track.source != line.source) continue;
      if (fits(track) && track.advances > 0 && track.IsNear(*line.iteration)) return line;
      consider(track);
    }
    consider(Main());
  }
  // A line described as evaluation may continue only the training's bar, and only in the middle of
  // it.
  if (last_track_ < kTracks &&
      (line.kind == LineKind::kTraining ||
       (last_track_ == main_ && !Main().Complete() && Main().IsNear(*line.iteration)))) {
    consider(tracks_[last_track_]);
  }
  if (bar == nullptr) return line;
  line.source = bar->source;
  line.kind = LineKind::kTraining;
  return line;
}

void ProgressMeter::AddIteration(const ProgressLine& line, int64_t iteration,
                                 std::optional<WallTime> time) {
  ++lines_;
  if (!HasMain()) {
    last_track_ = main_ = NewTrack(line, iteration);
    new_heading_ = false;
  } else if (BeginsEpoch(line, iteration)) {
    BeginEpoch(line, iteration);
  } else {
    const size_t track = FindTrack(line, iteration);
    const int64_t before = tracks_[track].iteration;
    if (time && track == main_ && !line.rate) KeepRateOfBar(line, iteration - before);
    last_track_ = track;
    Advance(tracks_[track], line, iteration);
    if (track != main_) return AddOther(track, line, time);
    progress_.counted += iteration - before;
    NoteResume(line, iteration - before, time);
    // A bar around others is drawn again while they advance.
    if (iteration == before) return AddTraining(line, time);
    NoteInner();
  }
  NoteAdvance();
  AddTraining(line, time);
}

void ProgressMeter::BeginEpoch(const ProgressLine& line, int64_t iteration) {
  const Track ended = Main();
  // The rest of the last epoch was done, although no line shows it.
  progress_.counted += std::max<int64_t>(ended.total.value_or(0) - ended.iteration, 0) + iteration;
  last_track_ = main_ = NewTrack(line, iteration);
  Main().step = ended.step;
  Main().advances = ended.advances;
  new_heading_ = false;
  if (ended.total != line.total) rate_count_ = 0;  // another stage, with its own speed
  meter_.Break(std::nullopt);
}

// Returns whether the count restarted because the epoch ended, not because the training was
// restarted.
bool ProgressMeter::BeginsEpoch(const ProgressLine& line, int64_t iteration) const {
  const Track& main = Main();
  if (line.source != main.source) return false;
  if (line.epoch && printed_epoch_ && *line.epoch > *printed_epoch_) {
    return !GoesOn(line, iteration);
  }
  if (line.epoch && printed_epoch_ && *line.epoch < *printed_epoch_) return false;
  if (iteration > main.iteration) return false;
  // Other processes may still be at the end of the last epoch.
  const int64_t half = main.total.value_or(main.iteration) / 2;
  const bool early = iteration <= std::max(half, main.step);
  if (new_heading_) return early || main.lines == 1;
  return early && iteration < main.iteration && main.Complete();
}

// Returns whether the count continued while the epoch grew. Then it counts over all epochs, or
// counts epochs itself ("Epoch 7" of a bar at 7 of 100).
bool ProgressMeter::GoesOn(const ProgressLine& line, int64_t iteration) const {
  const Track& main = Main();
  if (iteration < main.iteration || (iteration == main.iteration && main.Complete())) return false;
  if (line.elapsed && main.elapsed) return *line.elapsed >= *main.elapsed;
  // A line without a total can count on indefinitely.
  const auto advance = static_cast<double>(iteration - main.iteration);
  return !main.total || *line.epoch - *printed_epoch_ == advance ||
         *line.epoch != std::floor(*line.epoch) ||
         (main.lines > 1 && !main.Complete() && main.IsNear(iteration));
}

// Returns whether the track counts the same iterations: it comes from another process, or from the
// program in addition to its bar.
bool ProgressMeter::IsSameCount(const Track& other) const {
  const Track& main = Main();
  return (!main.total || !other.total || main.total == other.total) &&
         (main.IsNear(other.iteration) || other.IsNear(main.iteration));
}

// Returns the training's track, unless the iteration fell or another track fits much better,
// because a process that lags behind continues its own last epoch.
size_t ProgressMeter::FindTrack(const ProgressLine& line, int64_t iteration) {
  const Track& main = Main();
  // After a failure, only tracks with lines since then continue.
  const auto fits = [&](const Track& track) {
    return track.lines > 0 && track.source == line.source && track.iteration <= iteration &&
           (&track == &main || track.last_line >= failed_at_);
  };
  const bool older = line.epoch && printed_epoch_ && *line.epoch < *printed_epoch_;
  const bool fits_main = fits(main) && !older;
  if (fits_main && main.IsNear(iteration)) return main_;
  size_t best = kTracks;
  for (size_t i = 0; i < kTracks; ++i) {
    if (i == main_ ? !fits_main : !fits(tracks_[i])) continue;
    if (best == kTracks || tracks_[i].iteration > tracks_[best].iteration) best = i;
  }
  return best == kTracks ? NewTrack(line, iteration) : best;
}

// Replaces the track that has been silent longest.
size_t ProgressMeter::NewTrack(const ProgressLine& line, int64_t iteration) {
  size_t oldest = main_ == 0 ? 1 : 0;
  for (size_t i = 0; i < kTracks; ++i) {
    if (i != main_ && tracks_[i].last_line < tracks_[oldest].last_line) oldest = i;
  }
  // Keras names its trainings in the line above.
  const bool headed =
      line.format == "keras" && heading_ && (!HasMain() || heading_line_ >= Main().last_line);
  tracks_[oldest] = Track{.source = line.source,
                          .name = headed ? 1 : line.name,
                          .iteration = iteration,
                          .total = line.total,
                          .elapsed = line.elapsed,
                          .lines = 1,
                          .first_line = lines_,
                          .last_line = lines_,
                          .run_start = iteration,
                          .epochs = line.epochs,
                          .loss = line.loss.has_value()};
  return oldest;
}

void ProgressMeter::Advance(Track& track, const ProgressLine& line, int64_t iteration) const {
  const int64_t step = iteration - track.iteration;
  if (step > 0) {
    if (track.source == last_source_) ++track.advances;
    ++track.run;
    track.step = std::max(step, track.step - track.step / 8);
  }
  track.iteration = iteration;
  track.elapsed = line.elapsed;
  track.loss = track.loss || line.loss;
  ++track.lines;
  track.last_line = lines_;
}

// Returns whether the track is a bar of epochs around the training's.
bool ProgressMeter::IsAround(const Track& other) const {
  return other.source == around_ ||
         (other.epochs && other.total && other.total == around_of_ && other.total != Main().total);
}

// Returns whether the training was started again with a bar of another length. The training's bar
// then stands still, as it does during an evaluation. Unlike an evaluation, the other bar begins
// after a failure, or has the same name, or losses are printed while it advances.
bool ProgressMeter::IsRestart(const Track& other) const {
  const Track& main = Main();
  if (other.run < kRestart) return false;
  if (other.reports >= kReports || IsAfterFailure(other)) return true;
  return other.name != 0 && other.name == main.name && other.first_line > main.last_line &&
         main.total && main.iteration + kNear * std::max<int64_t>(main.step, 1) < *main.total;
}

bool ProgressMeter::IsAfterFailure(const Track& other) const {
  return failed_at_ >= 0 && other.first_line > failed_at_;
}

// Returns whether a bar that counts only inside a bar of epochs is inside one.
bool ProgressMeter::BeginsInner(const ProgressLine& line) const {
  return line.inner && HasMain() &&
         (line.source == Main().source || (Main().epochs && Main().advances < kInside));
}

// Returns whether nothing but a configuration's values was printed so far: those never grow.
bool ProgressMeter::IsOnlyWeak(const ProgressLine& line, int64_t iteration) {
  if (!line.weak || HasMain()) return false;
  const bool grows = weak_ && iteration > *weak_;
  weak_ = iteration;
  return !grows;
}

// Takes a training's loss that is printed without a count, between the lines of a bar.
void ProgressMeter::NoteReport(const ProgressLine& line) {
  if (!line.loss || last_track_ >= kTracks) return;
  Track& track = tracks_[last_track_];
  if (last_track_ == main_) restarted_ = false;
  if (track.run == 0 || track.iteration == track.reported) return;
  ++track.reports;
  track.reported = track.iteration;
}

// Returns whether the training's track has ended permanently, or never was the training's.
bool ProgressMeter::TakesOver(const Track& other) const {
  const Track& main = Main();
  if (other.source == main.source) return other.run >= kRestart;
  if (IsRestart(other)) return true;
  // A bar of epochs does not advance while the bar inside it does.
  if (IsAround(other)) return main.Complete() && other.run >= kInside;
  if (main.advances < kInside) return other.run >= kInside;
  // Hugging Face evaluates with a bar without a description, during the training or after it.
  // A bar without the losses that the training's had is an evaluation.
  if (main.Complete() && bars_ != "huggingface") {
    return other.advances > 0 && (other.loss || !main.loss);
  }
  // The other bar is evaluation inside the training, unless the training ended long ago.
  return !ended_ && other.run > kGivenUp * main.lines;
}

void ProgressMeter::TakeOver(size_t number) {
  const Track& main = Main();
  Track& other = tracks_[number];
  const bool restart = other.source != main.source && IsRestart(other);
  restarted_ = restart && IsAfterFailure(other) && other.name == 0;
  if (restart) {
    before_.reset();
  } else if (other.source != main.source) {
    if (main.advances < kInside && main.total && !IsSameCount(other)) {
      progress_.epoch = static_cast<double>(main.iteration);
      around_ = main.source;
      around_of_ = main.total;
    }
    // If two unnamed bars alternate, the shorter one is evaluation.
    if (before_ && before_->source == other.source && main.total && other.total &&
        *main.total < *other.total) {
      AddEvaluation(main.source);
    }
    before_ = main;
  }
  progress_.counted += other.iteration - other.run_start;
  main_ = number;
  printed_epoch_.reset();
  new_heading_ = false;
  meter_.Break(std::nullopt);
  NoteAdvance();
}

void ProgressMeter::AddOther(size_t number, const ProgressLine& line,
                             std::optional<WallTime> time) {
  if (TakesOver(tracks_[number])) {
    TakeOver(number);
    AddTraining(line, time);
    return;
  }
  const Track& other = tracks_[number];
  if (other.source == Main().source) return;
  if (IsSameCount(other)) {
    if (line.epoch && !printed_epoch_) progress_.epoch = line.epoch;
    return;
  }
  if (IsAround(other)) {
    if (!printed_epoch_)
      progress_.epoch = line.epoch.value_or(static_cast<double>(other.iteration));
  } else if (other.run > 0 && other.advances > 0) {
    progress_.evaluating = true;
    meter_.Break(time);
  } else if (other.run > 0 && !line.epoch && bars_ != "huggingface" && other.total &&
             other.total != Main().total) {
    // This is a bar of epochs. A bar of the same length would belong to another process.
    progress_.epoch = static_cast<double>(other.iteration);
  }
}

void ProgressMeter::NoteAdvance() {
  failed_at_ = -1;
  announced_ = false;
  for (Track& track : tracks_) {
    track.run = track.reports = 0;
    track.run_start = track.iteration;
  }
}

void ProgressMeter::AddTraining(const ProgressLine& line, std::optional<WallTime> time) {
  ended_ = false;
  progress_.format = line.format == "tqdm" && !bars_.empty() ? bars_ : line.format;
  progress_.iteration = line.iteration;
  progress_.total = line.total;
  progress_.evaluating = false;
  if (line.epoch) {
    progress_.epoch = line.epoch;
    printed_epoch_ = line.epoch;
  }
  if (time) {
    // Lines with the same time are one point: the work of the earlier ones was done before it.
    if (!first_time_) {
      first_time_ = time;
      meter_ = {};  // the bars' own clock is unrelated to it
      meter_.Pause(paused_);
    }
    if (time == first_time_) first_counted_ = progress_.counted;
    if (!progress_.first_training) progress_.first_training = time;
    progress_.last_training = time;
    meter_.Add(*time, progress_.counted);
  } else if (line.elapsed) {
    if (*line.elapsed < elapsed_) clock_base_ += elapsed_;
    elapsed_ = *line.elapsed;
    if (!first_clock_) first_clock_ = elapsed_;
    if (!first_time_) meter_.Add(WallTime(clock_base_ + elapsed_), progress_.counted);
  }
  if (line.rate) KeepRate(*line.rate);
}

// Keeps the rate by the clock of the training's bar, whose lines may all have one time.
void ProgressMeter::KeepRateOfBar(const ProgressLine& line, int64_t step) {
  if (step <= 0 || !line.elapsed || !Main().elapsed) return;
  const Duration time = *line.elapsed - *Main().elapsed;
  if (time < kLeastStretch) return;
  KeepRate(static_cast<double>(step) / std::chrono::duration_cast<Seconds>(time).count());
}

void ProgressMeter::KeepRate(double rate) {
  rates_[rate_count_++ % kRates] = {clock_base_ + elapsed_, rate};
}

// Uses the median, because a bar's own average is wrong for a while after an evaluation or a
// checkpoint.
std::optional<double> ProgressMeter::PrintedRate() const {
  std::vector<double> rates;
  for (size_t i = 0; i < std::min(rate_count_, kRates); ++i) {
    if (rates_[i].clock >= clock_base_ + elapsed_ - kRateWindow) rates.push_back(rates_[i].rate);
  }
  if (rates.empty()) return std::nullopt;
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
  std::nth_element(rates.begin(), middle, rates.end());
  return *middle;
}

}  // namespace synergy
