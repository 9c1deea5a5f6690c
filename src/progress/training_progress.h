#pragma once

// How far a training has come, by its log.

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/clock.h"

namespace synergy {

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

}  // namespace synergy
